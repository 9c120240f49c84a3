package monitor

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

func TestRead_findsWhatWasTyped(t *testing.T) {
	s, events := sample.Run(sample.Noon)
	p := sample.New(t, view.Snapshot{Status: s.Status}, events)
	for typed, want := range map[string]string{
		"errors":          "iteration_end tool_result denied blocked",
		"err":             "iteration_end tool_result denied blocked",
		"findings":        "",
		"task #2":         "iteration_start usage iteration_end",
		"COVERED":         "",
		"cursor":          "iteration_start text text",
		"Old offset":      "",
		"old offset":      "text",
		"漢字 and":          "text",
		"go test ./...":   "tool tool_result check",
		"want 20 \"items": "",
	} {
		f, err := parseFilter(typed, sample.Noon)
		if err != nil {
			t.Errorf("%q: %v", typed, err)
			continue
		}
		all, err := f.Read(p.Reader())
		var got []string
		for _, e := range all {
			if f.Text == "" || strings.Contains(string(sample.Encode(t, e)), f.Text) {
				got = append(got, string(e.Kind))
			}
		}
		if text := strings.Join(got, " "); err != nil || !strings.HasPrefix(text, want) || want == "" && text != "" {
			t.Errorf("%q: %q, want %q, %v", typed, text, want, err)
		}
	}
}

func TestEvent_checkWithTheTestsAsTheyWere_isNoError(t *testing.T) {
	f, err := parseFilter("errors", sample.Noon)
	if err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]bool{"": true, state.CheckAgain: true, state.CheckOldTests: false} {
		if got := f.Event(state.NewEvent(state.Origin{}, sample.Noon, state.Check{Name: "test", Run: run})); got != want {
			t.Errorf("%q: %v", run, got)
		}
	}
}

func TestParse_times_areTheLatestBeforeNow(t *testing.T) {
	now := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	for typed, want := range map[string]string{"at 3:12": "2026-11-20 03:12", "at 23:30": "2026-11-19 23:30",
		"at 2026-11-18 01:02": "2026-11-18 01:02"} {
		f, err := parseFilter(typed, now)
		if got := f.At.Format("2006-01-02 15:04"); err != nil || got != want {
			t.Errorf("%q: %s, want %s, %v", typed, got, want, err)
		}
	}
	for _, typed := range []string{"", "at noon", "at 25:00"} {
		if _, err := parseFilter(typed, now); err == nil {
			t.Errorf("%q is accepted", typed)
		}
	}
}

func TestEvent_onlyWhatTheNameSays(t *testing.T) {
	f, _ := parseFilter("errors", time.Now())
	for _, c := range []struct {
		d    state.Payload
		want bool
	}{{state.Check{Passed: true}, false}, {state.Check{}, true}, {state.ToolResult{}, false}, {state.ToolResult{Error: true}, true},
		{state.Text{Text: "error"}, false}, {state.IterationEnd{Failed: true}, true}} {
		if got := f.Event(state.NewEvent(state.Origin{}, time.Now(), c.d)); got != c.want {
			t.Errorf("%T %+v: %t", c.d, c.d, got)
		}
	}
}

func TestAsk_80columns_fitsInTwoThirds(t *testing.T) {
	if len(askFor) > 80*2/3 {
		t.Errorf("%d cells are too many: %q", len(askFor), askFor)
	}
}
