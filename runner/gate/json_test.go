package gate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The report of a turn crosses a process boundary.
func TestReport_throughJSON_staysTheSame(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: tapTests}, Check{Name: "gone", Dir: "missing", Command: "true"})
	s.tap(t, "ok 1 - a\nok 2 - b\n")
	s.take(t)
	s.tap(t, "ok 1 - a\nnot ok 2 - b\n")
	type data struct {
		Report   Report
		Baseline *Baseline
		Memory   Memory
	}
	want := data{s.must(t), s.Baseline, s.Memory}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got data
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after JSON (-want +got):\n%s", diff)
	}
	if !got.Report.Blocked() || got.Report.Feedback() != want.Report.Feedback() {
		t.Errorf("the report says something else: %q", got.Report.Feedback())
	}
}
