package report

import (
	"fmt"
	"strings"
	"testing"

	"ralph/state"
)

// strangers returns a report of so many tasks that strangers have named.
func strangers(tasks int) *Report {
	n := newNight()
	n.after(0, state.RunStart{Agent: "claude", Model: "opus", Total: tasks})
	for i := range tasks {
		n.iteration, n.task = i+1, fmt.Sprintf("%d ask @torvalds, closes #99, fixes GH-7 and https://github.com/o/r/issues/8 <b>", i)
		n.call(state.IterationEnd{Decision: state.Decision{Action: "continue", Rule: "continue"}, Outcome: "completed-turn", TaskDone: true, Done: i + 1})
	}
	return n.f.Build(Source{Project: "/home/dev/shop-api", Now: n.at, Questions: []string{"Q1 which one? @ann #5"}})
}

func TestPull_textsOfOthers_notifyNobodyAndCloseNothing(t *testing.T) {
	title, body := strangers(2).Pull(60_000)
	for _, no := range []string{"@torvalds", "@ann", "#99", "#5", "GH-7", "://", "<b>", "What to type", "Where the time went"} {
		if strings.Contains(body, no) {
			t.Errorf("it has %q:\n%s", no, body)
		}
	}
	for _, want := range []string{"@<!-- -->torvalds", "| task | result |", "## Done", "## Questions", "by task"} {
		if !strings.Contains(body, want) {
			t.Errorf("it lacks %q:\n%s", want, body)
		}
	}
	if title, _ := (&Report{Tasks: []Task{{Title: "Mend the sum (gh:o/r#12)"}}}).Pull(60_000); title != "Mend the sum" {
		t.Error(title)
	}
	if !strings.HasSuffix(title, " and 1 more task") || len(title) > 100 {
		t.Error(title)
	}
}

func TestPull_longPlan_staysBelowTheLimit(t *testing.T) {
	r := strangers(400)
	_, whole := r.Pull(10_000_000)
	_, short := r.Pull(len(whole) * 2 / 3)
	if len(short) > len(whole)*2/3 || strings.Contains(short, "## Done") || !strings.Contains(short, "## Questions") {
		t.Errorf("%d of %d bytes", len(short), len(whole))
	}
	if _, cut := r.Pull(5_000); len(cut) > 5_000 || !strings.HasSuffix(cut, "\n(the rest: ralph report)\n") {
		t.Errorf("%d bytes: %q", len(cut), cut[len(cut)-200:])
	}
}

func TestPull_secrets_areHidden(t *testing.T) {
	r := strangers(1)
	r.Why = "the login ghp_" + strings.Repeat("a1B2", 9)
	if _, body := r.Pull(60_000); strings.Contains(body, "a1B2a1B2a1B2") {
		t.Error(body)
	}
}
