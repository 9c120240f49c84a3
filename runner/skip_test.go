package runner

import (
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/turn"
	"ralph/state"
)

// A skip that comes before the agent is called still ends the iteration.
func TestRun_skipBeforeTheCall_endsTheIteration(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.inGit()
	asked := false
	show := b.d.Show
	b.d.Show = func(e state.Event) {
		show(e)
		if e.Kind == state.KindIterationStart && !asked {
			asked = true
			b.ask(state.RequestSkip)
		}
	}
	b.o.MaxIterations = 1
	b.run(t.Context())
	var kinds, titles []string
	for _, e := range b.seen {
		switch d := e.Data.(type) {
		case state.IterationStart:
			kinds, titles = append(kinds, "start"), append(titles, d.Title)
		case state.IterationEnd:
			kinds = append(kinds, "end")
		}
	}
	if got := strings.Join(kinds, " "); got != "start end start end" || strings.Join(titles, " ") != "one two" {
		t.Errorf("%s of %q", got, titles)
	}
	if b.calls() != 1 {
		t.Errorf("%d calls", b.calls())
	}
}

// A skip that comes after the turn must not cost its kept state.
func TestRun_skipAfterTheTurn_stateIsKept(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "ticker", "[ ] one", "[ ] two")
	b.inGit()
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 1
	asked := false
	show := b.d.Show
	b.d.Show = func(e state.Event) {
		show(e)
		if e.Kind == state.KindTask && !asked {
			asked = true
			b.ask(state.RequestSkip)
		}
	}
	b.run(t.Context())
	if refs := b.git("for-each-ref", "--format=%(refname)", "refs/ralph"); !asked || !strings.Contains(refs, "run-1/1\n") {
		t.Errorf("asked %v, kept:\n%s", asked, refs)
	}
}

// The agent that takes over works on the task that begins, not on the one before.
func TestRun_agentOfTheNextTask_itsEventNamesThatTask(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for an agent")
	}
	t.Parallel()
	b := newBench(t, "shared", "[ ] T1: one", "[ ] T2: two <!-- ralph: agent=codex -->")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	for _, e := range b.seen {
		if d, ok := e.Data.(state.AgentChange); ok && (d.Name != "codex" || e.Task != "T2" || e.Iteration != 2) {
			t.Errorf("%s takes over for task %q in iteration %d", d.Name, e.Task, e.Iteration)
		}
	}
	if len(payloads[state.AgentChange](b)) != 1 {
		t.Errorf("said %s", b.said())
	}
}
