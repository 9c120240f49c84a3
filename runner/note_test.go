package runner

import (
	"strings"
	"testing"

	"ralph/runner/rules"
	"ralph/state"
	"ralph/state/note"
)

func TestRun_noteOfAPerson_goesIntoOnePrompt(t *testing.T) {
	b := newBench(t, "noted")
	b.planOf(kiroPlan, "- [ ] 1. first\n- [ ] 2. second\n")
	b.inGit()
	s := note.In(b.d.State.Reader)
	if _, err := s.Add("use UTC everywhere"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "plan_complete", rules.ExitComplete)
	if got := b.read("prompt-1"); !strings.Contains(got, "## Notes from a person") || !strings.Contains(got, "\nuse UTC everywhere\n") {
		t.Errorf("%q", got)
	}
	if got := b.read("prompt-2"); strings.Contains(got, "UTC") {
		t.Errorf("the second prompt has it, too: %q", got)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Iteration != 1 || all[0].Task != "1. first" || all[0].Run == "" {
		t.Errorf("%+v %v", all, err)
	}
	told := payloads[state.Feedback](b)
	if len(told) != 1 || told[0].Items[0] != "A person's note n1: use UTC everywhere" {
		t.Errorf("%+v", told)
	}
}
