package runner

import (
	"context"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/state"
)

var limitedFakes = map[string]func(*fake) int{
	"limited-reviewer": func(f *fake) int {
		if nonceIn.MatchString(f.prompt) {
			return limit(f, time.Now().Add(5*time.Hour))
		}
		return f.developed()
	},
}

// The developer's agent is free, but it is not the one that is asked.
func TestReview_reviewersAgentIsLimited_waitsForIt(t *testing.T) {
	b := newBench(t, "limited-reviewer", "[ ] one")
	b.repository()
	b.o.QA, b.o.QAAgent, b.o.OnLimit = true, "codex", "stop"
	ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	wantEnd(t, b.run(ctx), "usage_limit", state.ExitLimited)
	if n := b.calls(); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
	b.d.RunID = "run-2"
	wantEnd(t, b.run(ctx), "usage_limit", state.ExitLimited)
	if n := b.calls(); n != 2 {
		t.Errorf("%d calls after the second run, want 2: the limit is known", n)
	}
}

func TestReview_onlyTheDevelopersAgentIsLimited_theReviewerIsAsked(t *testing.T) {
	b := newBench(t, "strict-once", "[ ] one")
	b.repository()
	b.o.QA, b.o.QAAgent, b.o.OnLimit, b.o.MaxIterations = true, "codex", "stop", 1
	b.run(t.Context())
	s := b.status()
	s.LimitedUntil = map[string]time.Time{"claude": time.Now().Add(5 * time.Hour)}
	if err := b.w.SaveStatus(s); err != nil {
		t.Fatal(err)
	}
	b.d.RunID, b.o.MaxIterations = "run-2", 2
	wantEnd(t, b.run(t.Context()), "usage_limit", state.ExitLimited)
	if got, want := b.course(), "developer ceilings, qa review_refused"; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
}

// A review costs no attempt: only the developer can use them up.
func TestReview_onlyTheDevelopersIterationsCountForTheTask(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	b := newBench(t, "strict-once", "[ ] one")
	b.repository()
	b.o.QA, b.o.Judges, b.o.MaxPerTask = true, []string{"security"}, 2
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if n := b.status().LoopCount; n != 5 {
		t.Errorf("%d iterations, want 5: two of the developer, three reviews", n)
	}
}
