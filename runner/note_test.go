package runner

import (
	"strings"
	"testing"

	"ralph/state"
)

func TestRun_noteOfAPerson_goesIntoOnePrompt(t *testing.T) {
	b := newBench(t, "noted")
	b.planOf(kiroPlan, "- [ ] 1. first\n- [ ] 2. second\n")
	b.inGit()
	s := state.Notes(b.d.State.Reader)
	if _, err := s.Add("use UTC everywhere"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "plan_complete", state.ExitComplete)
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

func TestRun_noteInATurnThatAPersonEnds_goesIntoTheNextPrompt(t *testing.T) {
	for _, how := range []state.Request{state.RequestAbort, state.RequestSkip} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "prompted", "[ ] one", "[ ] two")
			b.o.MaxIterations = 1
			if _, err := state.Notes(b.d.State.Reader).Add("use UTC everywhere"); err != nil {
				t.Fatal(err)
			}
			b.sendWhen(how, "the call", func() bool { return len(glob(b.dir+"/.ralph/prompt-1")) == 1 })
			b.run(t.Context())
			b.o.MaxIterations, b.d.Resumed = 2, true
			b.sendWhen(state.RequestAbort, "the next call", func() bool { return len(glob(b.dir+"/.ralph/prompt-2")) == 1 })
			b.run(t.Context())
			if got := b.read(".ralph/prompt-2"); !strings.Contains(got, "\nuse UTC everywhere\n") {
				t.Errorf("the note is lost: %q", got)
			}
		})
	}
}
