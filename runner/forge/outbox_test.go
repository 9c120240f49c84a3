package forge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestOutbox_latestOfAKeyIsSent_andWhatFailsIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told, sent []string
		b := &Outbox{Tell: func(line string) { told = append(told, line) }, Pause: 30 * time.Second}
		slow := make(chan struct{})
		b.Put("slow", func(context.Context) error { <-slow; return nil })
		synctest.Wait()
		down := 3
		for _, text := range []string{"a", "b", "c"} { // no turn waits for slow
			b.Put("comment", func(context.Context) error {
				if down--; down >= 0 {
					return errors.New("no network")
				}
				sent = append(sent, text)
				return nil
			})
		}
		close(slow)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if !slices.Equal(sent, []string{"c"}) || !slices.Equal(told, []string{"comment: no network"}) {
			t.Errorf("sent %q, told %q", sent, told)
		}
		b.Close(time.Minute)
	})
}

func TestOutbox_rateLimit_isWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		var sent []time.Duration
		b, began := &Outbox{Tell: func(line string) { told = append(told, line) }, Pause: time.Second}, time.Now()
		limit := &Error{Text: "gh: rate limit", Until: began.Add(20 * time.Minute)}
		for _, key := range []string{"one", "two"} {
			b.Put(key, func(context.Context) error {
				if time.Now().Before(limit.Until) {
					return limit
				}
				sent = append(sent, time.Since(began))
				return nil
			})
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if !slices.Equal(sent, []time.Duration{20 * time.Minute, 20 * time.Minute}) || len(told) != 1 {
			t.Errorf("sent %v, told %q", sent, told)
		}
		b.Put("three", func(context.Context) error { return &Error{Text: "gh: rate limit", Until: time.Now().Add(time.Hour)} })
		synctest.Wait()
		began = time.Now()
		b.Close(time.Minute)
		if took := time.Since(began); took != 0 || !strings.Contains(strings.Join(told, "\n"), "three: not sent before the run ended") {
			t.Errorf("%s, told %q", took, told)
		}
	})
}

func TestOutbox_end_sendsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries, told := 0, 0
		b := &Outbox{Tell: func(string) { told++ }, Pause: time.Hour}
		b.Put("early", func(context.Context) error {
			if tries++; tries == 1 {
				return ErrLater
			}
			return nil
		})
		synctest.Wait()
		b.Put("hangs", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		b.Close(time.Minute)
		if tries != 2 || told != 1 {
			t.Errorf("%d tries, %d told", tries, told)
		}
	})
}

func TestRef_readsWhatItWrites(t *testing.T) {
	for text, want := range map[string]Ref{
		"gh:":                      {Service: "gh"},
		"gh:#12":                   {Service: "gh", Issue: 12},
		"gh:o/r":                   {Service: "gh", Repo: "o/r"},
		"gh:o/r#12":                {Service: "gh", Repo: "o/r", Issue: 12},
		"gh:pr/34":                 {Service: "gh", Pull: 34},
		"gh:o/r/pr/34":             {Service: "gh", Repo: "o/r", Pull: 34},
		"gh:o/r/pr/34#PRRT_a-b=":   {Service: "gh", Repo: "o/r", Pull: 34, Thread: "PRRT_a-b="},
		"gh:git.example.org/o/r#1": {Service: "gh", Host: "git.example.org", Repo: "o/r", Issue: 1},
		"glab:g/sub/r/mr/3":        {Service: "glab", Repo: "g/sub/r", Pull: 3},
	} {
		if got, ok := ParseRef(text); !ok || got != want || got.String() != text {
			t.Errorf("%s: %+v, %s", text, got, got)
		}
	}
	for _, text := range []string{"", "gh", "x:o/r", "gh:o", "gh:o/r#0x", "gh:-o/r", "gh:o/-r#1", "gh:o/..#1", "gh:o/r#12;x", "gh:o r#1", "gh:o/r?x"} {
		if got, ok := ParseRef(text); ok {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
	for title, want := range map[string]string{
		"#1 a (gh:o/r#1)": "gh:o/r#1", "a (gh:o/r#1) b (see c)": "gh:o/r#1", "a (gh:x/y#2) (gh:o/r#1)": "gh:o/r#1",
		"a (gh:o/r)": "", "a (gh:#1)": "", "a gh:o/r#1": "", "a (gh:o/r#1": "",
	} {
		if got, ok := LinkIn(title); ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: %s", title, got)
		}
	}
}
