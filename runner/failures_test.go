package runner

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/runner/git"
	"ralph/runner/hooks"
	"ralph/state"
)

// A hook that fails, hangs, forks or floods costs, at each point of a run, what its row says and no more.
func TestHooks_failureAtEachPoint_costsWhatItsRowSays(t *testing.T) {
	type way struct {
		how    string // in bad
		answer hooks.OnFailure
	}
	ways := []way{{"hangs", hooks.WarnContinue}, {"forks", hooks.WarnContinue}, {"floods", hooks.WarnContinue}}
	for _, answer := range hooks.OnFailures() {
		ways = append(ways, way{"fails", answer})
	}
	for n, p := range hooks.Points() {
		for m, w := range ways {
			answer := w.answer
			hook := hooks.Hook{Point: p.Point, Command: bad[w.how], OnFailure: answer, Timeout: 10 * time.Second}
			if w.how == "hangs" {
				hook.Timeout = time.Second
			}
			if hook.Validate() != nil {
				continue // there is no task to skip
			}
			t.Run(string(p.Point)+"/"+w.how+"/"+string(answer), func(t *testing.T) {
				if testing.Short() && n%len(ways) != m {
					t.Skip("long: each way to fail at each point")
				}
				t.Parallel()
				b, end := atPoint(t, p.Point)
				b.d.Hooks = []hooks.Hook{hook}
				r := b.run(t.Context())
				before := p.Point == hooks.PreTask || p.Point == hooks.PreIteration
				want := end
				switch {
				case answer == hooks.SkipTask && (before || p.Point == hooks.OnError || p.Point == hooks.OnQuestion):
					want = 8
				case answer == hooks.AbortLoop && p.Point != hooks.OnComplete && p.Point != hooks.OnLimit: // these have ended already
					want = 3
				}
				if r.Decision.Exit != want {
					t.Errorf("ended with %+v, want exit code %d", r.Decision, want)
				}
				b.wantBounded(w.how, answer)
				told := strings.Contains(b.told(), "A hook of the user failed")
				if told && answer != hooks.AskAgent || !told && answer == hooks.AskAgent && before {
					t.Errorf("told the agent: %v", told)
				}
				if n := b.committed(); p.Point == hooks.PreCommit && (n > 0) != (answer == hooks.WarnContinue || answer == hooks.AskAgent) {
					t.Errorf("%d commits", n)
				}
			})
		}
	}
}

// wantBounded checks what a bad hook has cost besides.
func (b *bench) wantBounded(how string, answer hooks.OnFailure) {
	b.t.Helper()
	says := map[string]string{"fails": "exit code 3: broken", "hangs": "was ended after 1s", "forks": "exit code 3", "floods": "exit code 3"}
	ran := payloads[state.Hook](b)
	if len(ran) == 0 || !strings.Contains(ran[0].Failed, says[how]) || len(ran[0].Output) > 10<<10 || ran[0].Seconds > 8 || ran[0].Then != string(answer) {
		b.t.Errorf("events: %.500v", ran)
	}
	forked, _ := os.ReadFile(filepath.Join(b.dir, ".ralph/forked"))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(forked))); how == "forks" && (err != nil || syscall.Kill(pid, 0) == nil) {
		b.t.Errorf("process %q of the hook is left, %v", forked, err)
	}
}

// atPoint is a run that comes to a point, and the exit code that it ends with.
func atPoint(t *testing.T, p hooks.Point) (b *bench, end int) {
	t.Helper()
	// agents reach the points that a run without trouble does not; exit is how they end.
	agents := map[hooks.Point]struct {
		name string
		exit int
	}{hooks.OnError: {"crasher", 3}, hooks.OnLimit: {"limited-long", 7}, hooks.OnHalt: {"idler", 3}, hooks.PreCommit: {"leaver", 0}, hooks.OnQuestion: {"asker", 9}}
	agent, special := agents[p]
	if !special {
		agent.name = "worker"
	}
	b = newBench(t, agent.name, "[ ] one")
	b.o.OnLimit, b.o.QuestionWait = "stop", 0
	if p == hooks.PreCommit {
		b.repository()
		b.o.CommitOptions = git.CommitOptions{AutoCommit: true, CommitPrefix: "[ralph]"}
	}
	return b, agent.exit
}
