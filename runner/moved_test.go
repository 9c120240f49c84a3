package runner

import (
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/slots"
	"ralph/state"
)

// movedFakes refuse what they do not see.
var movedFakes = map[string]func(*fake) int{
	"moved": func(f *fake) int {
		if code, asked := f.verdict(func(_, nonce string) string {
			if read1("a") == "" || !strings.Contains(f.prompt, "+write a") && !strings.Contains(f.prompt, "+[P] write a") {
				return says(nonce, "fail", 0, "the work is not here")
			}
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		put(planName+".prompt", f.prompt)
		return f.beside(0)
	},
}

// again starts the next run, in worktrees or without.
func (b *bench) again(isolate string) Ending {
	b.t.Helper()
	_ = b.w.Release()
	b.d.RunID, b.o.MaxIterations, b.o.Isolate, b.seen = "run-2", 5, isolate, nil
	b.lock()
	return b.run(b.t.Context())
}

func newMoved(t *testing.T, isolate string) *bench {
	t.Helper()
	b := newBeside(t, "moved", "a")
	b.o.QA, b.o.MaxIterations, b.o.Isolate = true, 1, isolate
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	return b
}

func TestReview_waitsInTheProject_worktreesFromNowOn_isReviewedInTheProject(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newMoved(t, slots.IsolateNone)
	wantEnd(t, b.again(slots.IsolateWorktree), "plan_complete", 0)
	if got := b.course(); got != "qa review_passed" {
		t.Errorf("course %s", got)
	}
	if b.read("a") == "" || strings.Contains(b.order(), "landed") {
		t.Errorf("the work was not left where it is: %s", b.order())
	}
}

func TestReview_waitsInAWorktree_worktreesNoMore_goesBackToItsDeveloperWithItsWork(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newMoved(t, slots.IsolateWorktree)
	ref := strings.TrimSpace(b.git("for-each-ref", "--format=%(refname)", "refs/ralph-work"))
	wantEnd(t, b.again(slots.IsolateNone), "plan_complete", 0)
	if got := b.course(); got != "developer continue, qa review_passed" {
		t.Errorf("course %s", got)
	}
	if prompt := b.read(planName + ".prompt"); ref == "" || !strings.Contains(prompt, "git show "+ref) {
		t.Errorf("the developer was not told of %q:\n%s", ref, prompt)
	}
	said := false
	for _, change := range payloads[state.TaskChange](b) {
		said = said || strings.Contains(change.Why, ref)
	}
	if !said || b.read("a") == "" {
		t.Errorf("said %t: %s", said, b.said())
	}
}
