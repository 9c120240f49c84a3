package runner

import (
	"os/exec"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/turn"
	"ralph/state"
)

// gitScripts are what agents do with git in their calls, by name. The last one is for all later calls.
var gitScripts = map[string][]string{
	"resetter":   {"git commit -qam one", "git reset -q --hard HEAD~1; echo more >> plan.txt", "true"},
	"detacher":   {"git switch -q --detach; git add -A; git commit -qm one", "git add -A; git commit -qm more"},
	"strayer":    {"git add -A; git stash -q; git switch -q --detach HEAD~1; git stash pop -q; git commit -qam one"},
	"merger-off": {"git merge -q side", "true"},
	"merger-on":  {"git merge -q side", "git merge --abort"},
	"amender":    {"git add -A; git commit -qm one", "git add -A; git commit -q --amend -m both"},
	"brancher":   {"git switch -qc topic; git add -A; git commit -qm one; git switch -q -; git merge -q topic; git branch -d topic"},
}

var gitFakes = func() map[string]func(*fake) int {
	all := map[string]func(*fake) int{}
	for name, scripts := range gitScripts {
		all[name] = func(f *fake) int {
			f.work()
			cmd := exec.Command("sh", "-c", scripts[min(f.call, len(scripts))-1])
			cmd.Env = append(cmd.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@e", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@e")
			_ = cmd.Run() // a conflict is an error, too
			return f.result("ok"+block(!open1(planName), ""), nil)
		}
	}
	return all
}()

func TestRun_agentAndItsGit(t *testing.T) {
	world.Long(t, "whole runs with several calls")
	for agent, want := range map[string]struct {
		rule  string
		exit  int
		shows string // part of the reason, or of an item to review
	}{
		"resetter":   {"review", state.ExitReview, "are on no branch any more"},
		"detacher":   {"review", state.ExitReview, "HEAD was detached"},
		"strayer":    {"integrity", state.ExitHalted, ""},
		"merger-off": {"stagnation", state.ExitHalted, "a merge is in progress: finish it, or abort it with git merge --abort; conflicts are not resolved in lines"},
		"merger-on":  {"complete", state.ExitComplete, ""},
		"amender":    {"complete", state.ExitComplete, ""},
		"brancher":   {"complete", state.ExitComplete, ""},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, agent, "[ ] one", "[ ] two")
			b.write("lines", "1\n")
			b.write(".gitignore", planName+"\n.ralph/\n")
			b.inGit()
			b.git("switch", "-q", "-c", "side")
			b.write("lines", "of the side\n")
			b.git("commit", "-q", "-a", "-m", "side")
			b.git("switch", "-q", "-")
			b.write("lines", "mine\n")
			b.write("work.txt", "call 0")
			b.git("add", "-A")
			b.git("commit", "-q", "-m", "lines")
			b.o.AntiCheat, b.o.MaxPerTask, b.o.AutoCommit = turn.AnswerRevert, 3, true
			branch := b.git("branch", "--show-current")
			r := b.run(t.Context())
			wantEnd(t, r, want.rule, want.exit)
			items := []string{r.Decision.Reason}
			for _, i := range r.Decision.Review {
				items = append(items, i.Text)
			}
			if got := strings.Join(items, "\n"); !strings.Contains(got, want.shows) {
				t.Errorf("shows %q", got)
			}
			if b.calls() > 3 {
				t.Errorf("%d calls", b.calls())
			}
			if now := b.git("branch", "--show-current"); agent != "strayer" && now != branch {
				t.Errorf("on %q, not %q", now, branch)
			}
			if agent == "strayer" && (b.calls() != 1 || b.git("rev-list", "--count", "HEAD") != "2\n" || !strings.Contains(b.read(planName), "- [ ] one")) {
				t.Errorf("after %d calls: %s", b.calls(), b.git("log", "--oneline")+b.read(planName))
			}
		})
	}
}
