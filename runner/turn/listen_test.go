package turn

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ralph/state"
)

// heard is a listener, and what it hands on and keeps.
func heard() (l *listener, shown, kept *[]state.Payload) {
	shown, kept = &[]state.Payload{}, &[]state.Payload{}
	show := func(p state.Payload) { *shown = append(*shown, p) }
	hide := func(p state.Payload) state.Payload {
		return redactPayload(p, func(s string) string { return strings.ReplaceAll(s, "KEY", "***") })
	}
	return &listener{hide: hide, show: show, keep: func(p state.Payload) { *kept = append(*kept, p) }, raw: "3.raw",
		spent: spent{show: show}, began: time.Now()}, shown, kept
}

func TestListener_usageWithEachMessage_isHandedOnOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, shown, kept := heard()
		told := func(want ...state.Payload) {
			t.Helper()
			if synctest.Wait(); !slices.Equal(*shown, want) {
				t.Fatalf("shown: %+v", *shown)
			}
		}
		use := func(n int64) state.Usage { return state.Usage{OutputTokens: n} }
		for n := range int64(100) {
			l.take(use(n))
		}
		told(use(0))
		time.Sleep(tellEvery)
		told(use(0), use(99)) // nothing more came, and still nothing is lost
		l.take(use(100))
		l.take(use(101))
		done := state.FinalMessage{Text: "done", Session: "s"}
		l.take(state.Text{Text: "KEY"})
		l.spent.tell()
		told(use(0), use(99), state.Text{Text: "***"}, use(101))
		time.Sleep(time.Hour)
		told(use(0), use(99), state.Text{Text: "***"}, use(101))
		l.take(done)
		if len(*kept) != 104 {
			t.Errorf("%d are kept", len(*kept))
		}
	})
}

func TestListener_flood_isHandedOnInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, shown, kept := heard()
		text := strings.Repeat("x", 1<<10)
		count := func(want func(state.Payload) bool) (n int) {
			for _, p := range *shown {
				if want(p) {
					n++
				}
			}
			return n
		}
		answers := func(p state.Payload) bool { r, ok := p.(state.ToolResult); return ok && !r.Error }
		for range 20_000 {
			l.take(state.Tool{Name: "Bash"})
			l.take(state.ToolResult{Text: text})
		}
		first := count(answers)
		if size := first * len(text); size > shownAtOnce || size < shownAtOnce/2 {
			t.Errorf("%d answers are shown", first)
		}
		if n := count(func(p state.Payload) bool { _, ok := p.(state.Tool); return ok }); n != 20_000 || len(*kept) != 40_000 {
			t.Errorf("%d calls are shown, %d payloads are kept", n, len(*kept))
		}
		l.take(state.ToolResult{Text: "KEY", Error: true})
		l.take(state.Text{Text: "KEY", Source: state.FromCLI})
		if last := (*shown)[len(*shown)-2:]; last[0].(state.ToolResult).Text != "***" || last[1].(state.Text).Text != "***" {
			t.Errorf("the last ones are %+v", last)
		}
		if n := count(func(p state.Payload) bool { d, ok := p.(state.Text); return ok && strings.Contains(d.Text, "3.raw") }); n != 1 {
			t.Errorf("%d notices", n)
		}
		time.Sleep(time.Minute)
		for range 20_000 {
			l.take(state.ToolResult{Text: text})
		}
		if more := count(answers) - first; more*len(text) < shownSecond*30 || more*len(text) > shownSecond*60 {
			t.Errorf("%d answers are shown after a minute", more)
		}
	})
}
