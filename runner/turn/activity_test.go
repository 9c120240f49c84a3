package turn

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ralph/state"
)

func TestMore_openToolCall_getsThreeTimesTheSilence(t *testing.T) {
	tool, result := state.Tool{ID: "t1", Name: "Bash"}, state.ToolResult{Tool: state.Tool{ID: "t1"}}
	for name, test := range map[string]struct {
		seen   []state.Payload
		silent time.Duration
		want   time.Duration
	}{
		"no tool":                 {nil, 10 * time.Minute, 0},
		"an open tool call":       {[]state.Payload{tool}, 10 * time.Minute, 20 * time.Minute},
		"for half an hour":        {[]state.Payload{tool}, 30 * time.Minute, 0},
		"answered":                {[]state.Payload{tool, result}, 10 * time.Minute, 0},
		"another one is open":     {[]state.Payload{tool, state.Tool{ID: "t2"}, result}, 10 * time.Minute, 20 * time.Minute},
		"answers have no id":      {[]state.Payload{tool, state.ToolResult{}}, 10 * time.Minute, 0},
		"answers are not shown":   {[]state.Payload{tool, state.Text{Text: "then"}}, 10 * time.Minute, 0},
		"a tool after some words": {[]state.Payload{state.Text{Text: "first"}, tool, state.Usage{}}, 10 * time.Minute, 20 * time.Minute},
	} {
		w := activity{Dir: filepath.Join(t.TempDir(), "none"), Idle: 10 * time.Minute}
		for _, p := range test.seen {
			w.See(p)
		}
		if got := max(w.More(test.silent), 0); got != test.want {
			t.Errorf("%s: %s more, want %s", name, got, test.want)
		}
	}
}

// What the CLI announces is waited for, and then the usual silence.
func TestMore_announcedRetry_isWaitedFor(t *testing.T) {
	cli := func(text string) state.Payload { return state.Text{Text: text, Source: state.FromCLI} }
	words := state.Text{Text: "Retrying in 120s"}
	for name, test := range map[string]struct {
		plain bool
		seen  []state.Payload
		want  time.Duration // about
	}{
		"a record":           {false, []state.Payload{state.Retry{Text: "retry 1 of 10 in 2m0s: 529"}}, 3 * time.Minute},
		"a line of the CLI":  {false, []state.Payload{cli("Retrying in 120s (attempt 2/10)")}, 3 * time.Minute},
		"an error line":      {false, []state.Payload{state.AgentError{Text: "Retrying in 2 minutes: error 429"}}, 3 * time.Minute},
		"the second":         {false, []state.Payload{cli("Retrying in 60s"), cli("Retrying in 120s")}, 3 * time.Minute},
		"the model's words":  {false, []state.Payload{words}, 0},
		"of a plain agent":   {true, []state.Payload{words}, 3 * time.Minute},
		"words follow":       {false, []state.Payload{cli("Retrying in 120s"), state.Text{Text: "Now it works"}}, 0},
		"a line that quotes": {false, []state.Payload{cli("the last one said: Retrying in 120s")}, 0},
		"no time is named":   {false, []state.Payload{state.Retry{Text: "Reconnecting... 1/5"}}, 0},
	} {
		w := activity{Dir: filepath.Join(t.TempDir(), "none"), Idle: time.Minute, Plain: test.plain}
		for _, p := range test.seen {
			w.See(p)
		}
		if got := max(w.More(time.Minute), 0); got > test.want || got < test.want-time.Second {
			t.Errorf("%s: %s more, want %s", name, got, test.want)
		}
	}
}

func TestMore_filesChange_countAsActivity(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		ago  time.Duration
		want time.Duration // about
	}{
		"a file":                    {"a/b.go", 4 * time.Minute, 6 * time.Minute},
		"long ago":                  {"a/b.go", 11 * time.Minute, 0},
		"ralph's own":               {".ralph/status.json", 0, 0},
		"git's own":                 {"a/.git/index", 0, 0},
		"what npm installs":         {"node_modules/x/y.js", 0, 0},
		"of a clock that is ahead":  {"a/b.go", -time.Hour, 10 * time.Minute},
		"at the top of the project": {"b.go", time.Minute, 9 * time.Minute},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, test.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		for d := filepath.Dir(path); len(d) >= len(dir); d = filepath.Dir(d) {
			if err := os.Chtimes(d, old, old); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Now().Add(-test.ago)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		w := activity{Dir: dir, Idle: 10 * time.Minute}
		if got := max(w.More(10*time.Minute), 0); got > test.want || got < test.want-time.Minute {
			t.Errorf("%s: %s more, want %s", name, got, test.want)
		}
	}
}
