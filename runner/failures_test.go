package runner

import (
	"strings"
	"testing"
	"time"

	"ralph/runner/git"
	"ralph/runner/hooks"
	"ralph/state"
)

// A hook that fails costs, at each point of a run, what its row says and no more.
func TestHooks_failureAtEachPoint_costsWhatItsRowSays(t *testing.T) {
	// agents reach the points that a run without trouble does not; exit is how they end.
	agents := map[hooks.Point]struct {
		name string
		exit int
	}{hooks.OnError: {"crasher", 3}, hooks.OnLimit: {"limited-long", 7}, hooks.OnHalt: {"idler", 3}, hooks.PreCommit: {"leaver", 0}, hooks.OnQuestion: {"asker", 9}}
	for _, p := range hooks.Usable() {
		for _, answer := range hooks.Answers() {
			hook := hooks.Hook{Point: p.Point, Command: "echo broken >&2; exit 3", OnFailure: answer, Timeout: 10 * time.Second}
			if hook.Validate() != nil {
				continue // there is no task to skip
			}
			t.Run(string(p.Point)+"/"+string(answer), func(t *testing.T) {
				t.Parallel()
				agent, special := agents[p.Point]
				if !special {
					agent.name = "worker"
				}
				b := newBench(t, agent.name, "[ ] one")
				b.o.OnLimit, b.o.QuestionWait = "stop", 0
				if p.Point == hooks.PreCommit {
					b.repository()
					b.o.CommitOptions = git.CommitOptions{AutoCommit: true, CommitPrefix: "[ralph]"}
				}
				b.d.Hooks = []hooks.Hook{hook}
				r := b.run(t.Context())
				before := p.Point == hooks.PreTask || p.Point == hooks.PreIteration
				want := agent.exit
				switch {
				case answer == hooks.SkipTask && (before || p.Point == hooks.OnError):
					want = 8
				case answer == hooks.AbortLoop && p.Point != hooks.OnComplete && p.Point != hooks.OnLimit: // these have ended already
					want = 3
				}
				if r.Decision.Exit != want {
					t.Errorf("ended with %+v, want exit code %d", r.Decision, want)
				}
				ran := payloads[state.Hook](b)
				if len(ran) == 0 || !strings.Contains(ran[0].Failed, "exit code 3: broken") || ran[0].Then != string(answer) {
					t.Errorf("events: %+v", ran)
				}
				told := strings.Contains(b.told(), "A hook of the user failed")
				if told && answer != hooks.AskAgent || !told && answer == hooks.AskAgent && before {
					t.Errorf("told the agent: %v", told)
				}
				if n := len(payloads[state.Commit](b)); p.Point == hooks.PreCommit && (n > 0) != (answer == hooks.WarnContinue || answer == hooks.AskAgent) {
					t.Errorf("%d commits", n)
				}
			})
		}
	}
}
