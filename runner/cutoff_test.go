package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/state"
)

// cutOffFakes are reviewers that do not come to an end.
var cutOffFakes = map[string]func(*fake) int{
	"half-a-panel": func(f *fake) int { // the judge never answers
		if code, asked := f.verdict(func(who, nonce string) string {
			if who == "UX Designer" {
				time.Sleep(time.Minute) // sleep: the agent hangs
			}
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		return f.developed()
	},
}

// runUntil runs until something happens, and ends the run as Ctrl-C does.
func (b *bench) runUntil(happens func(state.Event) bool) Ending {
	ctx, end := context.WithCancel(b.t.Context())
	defer end()
	show := b.d.Show
	b.d.Show = func(e state.Event) {
		if show(e); happens(e) {
			end()
		}
	}
	return b.run(ctx)
}

func TestReview_cutOff_whatItHasCostCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t, "half-a-panel", "[ ] one")
	b.repository()
	b.o.Judges, b.o.QA = []string{"UX Designer"}, true
	calls := 0
	b.runUntil(func(e state.Event) bool {
		if _, begins := e.Data.(state.SessionStart); begins {
			calls++
		}
		return calls == 3 // developer, QA, judge
	})
	s := b.status()
	if s.Usage.CostUSD != 0.5 || s.CallsThisHour != 3 || s.TokensThisHour != 2*120 {
		t.Errorf("%v USD, %d calls, %d tokens", s.Usage.CostUSD, s.CallsThisHour, s.TokensThisHour)
	}
	if plan := b.read(planName); !strings.Contains(plan, "[ ] one") {
		t.Errorf("half a review lets the task pass: %s", plan)
	}
}

func TestReview_inSlots_abortOnceItsWorkHasLanded_theTaskIsDone(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBeside(t, "beside-both-pass", "a")
	b.o.QA, b.o.Isolate = true, "worktree"
	b.runUntil(func(e state.Event) bool {
		commit, ok := e.Data.(state.Commit)
		return ok && commit.Landed != ""
	})
	if plan := b.read(planName); !strings.Contains(plan, "[x] [P] write a") {
		t.Errorf("it has landed (%s), but the plan says\n%s", b.order(), plan)
	}
	if got, want := b.course(), "developer continue, qa review_passed"; got != want {
		t.Errorf("course %s", got)
	}
}
