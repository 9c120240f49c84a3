package runner

import (
	"os"
	"strings"
	"testing"
	"time"

	"ralph/runner/crew"
	"ralph/runner/hooks"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Reviewers speak to the developer of a task. When another task comes between, its prompt has none of it.
func TestPromptInput_refusal_isToldToNoOtherTask(t *testing.T) {
	b := newBench(t, "strict", "[ ] one", "[ ] two")
	r := New(b.o, b.d)
	one, two := task.Task{ID: "1", Title: "one"}, task.Task{ID: "2", Title: "two"}
	l := r.ledger
	l.Notes.NextPrompt = state.NextPrompt{Task: one.ID, Review: []string{"an open door"}}
	l.Tasks.Remember(one.ID, l.Notes.Review)
	told := func(of task.Task) string {
		return strings.Join(r.promptInput(&crew.Job{Task: of, Record: l.Tasks.Of(of.ID)}, "", turn.Plan{}).Feedback, "\n")
	}
	if got := told(two); got != "" {
		t.Errorf("told another task: %s", got)
	}
	if got := told(one); strings.Count(got, "an open door") != 1 {
		t.Errorf("told the refused task: %s", got)
	}
	l.Notes.Begin(turn.Result{Task: two}) // another task came between
	if got := told(one); strings.Count(got, "an open door") != 1 {
		t.Errorf("told the refused task later: %s", got)
	}
}

// Side by side, another task has other files: what is wrong in the files of the last one is not told to it, not even by the
// run after a kill. What hooks say is.
func TestPromptInput_inWorktrees_feedbackIsToldToItsTaskOnly(t *testing.T) {
	b := newBench(t, "strict", "[ ] one", "[ ] two")
	b.inGit()
	b.o.Parallel = 2
	r := New(b.o, b.d)
	one, two := task.Task{ID: "1", Title: "one"}, task.Task{ID: "2", Title: "two"}
	l := r.ledger
	red := "the check test fails" + strings.Repeat(" again", 1000)
	l.Tasks.Remember(one.ID, []string{red})
	l.Notes.NextPrompt = state.NextPrompt{Task: one.ID, Refused: "one is open", Feedback: []string{red, "a hook says hello"}}
	told := func(of task.Task) string {
		in := r.promptInput(&crew.Job{Task: of, Record: l.Tasks.Of(of.ID)}, "", turn.Plan{})
		return in.Refused + "|" + strings.Join(in.Feedback, "|")
	}
	if got := told(two); got != "|a hook says hello" {
		t.Errorf("told another task: %.200s", got)
	}
	if got, want := told(one), "one is open|"+red+"|a hook says hello"; got != want {
		t.Errorf("told its own task: %.200s", got)
	}
}

// The prompts of a run without reviewers, hooks and lessons, as they were before there were any;
// only the rule about questions is newer.
const plainPrompts = "testdata/plain-prompts.golden"

func TestPrompts_ofARunThatUsesNoneOfIt_areTheSameToTheByte(t *testing.T) {
	want, err := os.ReadFile(plainPrompts)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, "memory", "[ ] one", "[ ] two")
	b.o.Learn = true // as by default
	b.check("true")
	b.run(t.Context())
	got := strings.ReplaceAll(b.read("prompt-1")+"\n=====\n"+b.read("prompt-2"), b.dir, "DIR")
	if got != string(want) {
		t.Errorf("the prompts have changed:\n%s", got)
	}
}

// Points without hooks, and the question whether anybody reviews, are asked in each iteration.
func TestPoints_withoutHooksAndReviewers_costNothingNextToAnIteration(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	r := New(b.o, b.d)
	began := time.Now()
	end, err := r.Run(t.Context())
	if err != nil || end.Iterations != 3 {
		t.Fatalf("%+v, %v", end, err)
	}
	iteration := time.Since(began) / time.Duration(end.Iterations)
	const rounds = 1000
	one := task.Task{ID: "1", Title: "one"}
	began = time.Now()
	for range rounds {
		for _, p := range hooks.Points() {
			if v := r.runHooks(t.Context(), p.Point, state.Origin{}, one, hooks.Facts{}); v.Ran {
				t.Fatal(p.Point)
			}
		}
		if r.panel.Plan(one, state.Reviewing{}).Next("") != "" {
			t.Fatal("somebody reviews")
		}
	}
	each := time.Since(began) / rounds
	t.Logf("%v of %v: %.4f %%", each, iteration, 100*float64(each)/float64(iteration))
	if each > iteration/200 {
		t.Errorf("the points of an iteration cost %v of its %v", each, iteration)
	}
}
