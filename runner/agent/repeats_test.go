package agent

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ralph/state"
)

// Among the recordings, one call is in circles: the mock API answers it with the same
// command for ever. The others that do so are bounded by their CLI after a few calls.
func TestRecordings_onlyTheEndlessOneRepeatsItself(t *testing.T) {
	all, err := allRecordings()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, g := range goldens(t) {
		r, ok := all[g.name]
		if !ok {
			t.Fatalf("%s: no recording", g.name)
		}
		s, _ := Find(g.agent)
		watch, why, steps, at := StuckWatch{}, "", 0, 0
		d := s.NewDecoder(func(p state.Payload) {
			why = watch.See(p)
			if _, answer := p.(state.ToolResult); answer {
				if steps++; why != "" && at == 0 {
					at = steps
				}
			}
		})
		_, _ = d.Write([]byte(r.Output))
		d.Close()
		if (why != "") != (g.name == "codex-endless-10s") {
			t.Errorf("%s: %q after %d of %d calls", g.name, why, at, steps)
		}
		if why != "" {
			found++
			t.Logf("%s: at call %d of %d: %s", g.name, at, steps, why)
		}
	}
	if found != 1 {
		t.Errorf("%d recordings are in circles", found)
	}
}

// What a text is without times must not depend on how fast they are found.
func TestTimeless_anyText_isWithoutTimes(t *testing.T) {
	slow := regexp.MustCompile(`(?i)\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d)?([.,]\d+)?(z|[+-]\d\d:?\d\d)?|` +
		`\b\d{1,2}:\d\d(:\d\d)?([.,]\d+)?\b|` +
		`\b\d+([.,]\d+)*\s?(ns|µs|us|ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)\b`)
	part := rapid.SampledFrom([]string{"1", "23", "2026", "2026-11-20", "T", "t", " ", "10:20", ":30", ".5", ",7", "Z", "+01:00", "s", "ms", "µs", "M",
		"minutes", "Sec", "x", "_", "-", ":", ".", "\n", "é", "ſ"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(rt, "parts"), "")
		if got, want := timeless(text), slow.ReplaceAllString(text, "T"); got != want {
			rt.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}
