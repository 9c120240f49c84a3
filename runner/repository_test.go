package runner

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/turn"
	"ralph/state"
)

// Fakes that harm the repository, or what the user has in it.
var repositoryFakes = map[string]func(*fake) int{
	"repo-remover": func(f *fake) int {
		_ = os.RemoveAll(".git")
		f.tickAll()
		put("work.txt", "x")
		return f.result("ok"+block(true, ""), nil)
	},
	"limited-remover": func(f *fake) int { // a usage limit must not hide it
		_ = os.RemoveAll(".git")
		f.tickAll()
		return limit(f, time.Now().Add(time.Second))
	},
	"discarder": func(f *fake) int {
		if err := exec.Command("git", "checkout", "-q", "--", "mine.txt").Run(); err != nil {
			panic(err)
		}
		put("work.txt", "x")
		f.tickAll()
		return f.result("ok"+block(true, ""), nil)
	},
}

func TestRun_repositoryRemovedByTheAgent_haltsAndProvesNothing(t *testing.T) {
	for _, agent := range []string{"repo-remover", "limited-remover"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, agent, "[ ] one")
			b.inGit()
			r := b.run(t.Context())
			wantEnd(t, r, "integrity", state.ExitHalted)
			if !strings.Contains(r.Decision.Reason, "is gone") || strings.Contains(b.read(planName), "[x]") {
				t.Errorf("reason %q, plan %s", r.Decision.Reason, b.read(planName))
			}
		})
	}
}

func TestRun_repositoryRemovedByACheck_halts(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.inGit()
	b.check("test ! -f work.txt || rm -rf .git")
	wantEnd(t, b.run(t.Context()), "integrity", state.ExitHalted)
}

func TestRun_uncommittedWorkThrownAway_needsAReview(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "discarder", "[ ] one")
	b.write("mine.txt", "committed")
	b.inGit()
	b.write("mine.txt", "mine")
	b.check("true")
	b.o.AntiCheat = turn.AnswerWarn
	r := b.run(t.Context())
	wantEnd(t, r, "review", state.ExitReview)
	if len(r.Decision.Review) != 1 || !strings.Contains(r.Decision.Review[0].Text, "restore --source ") {
		t.Errorf("review %+v", r.Decision.Review)
	}
}
