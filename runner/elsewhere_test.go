package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"ralph/runner/gate"
	"ralph/state"
)

func TestRun_checksElsewhere_decideLikeOthers(t *testing.T) {
	red := gate.Elsewhere("pull request: CI / test", "https://x.invalid/8", "FAIL: TestSum", "", false)
	green := gate.Elsewhere("pull request: CI / test", "https://x.invalid/8", "", "", true)
	late := gate.Elsewhere("pull request", "https://x.invalid/8", "", "still running: CI / test", false)
	for name, c := range map[string]struct {
		agent       string
		boxes       []string
		answers     []gate.Result // the last one again and again; an empty name: waits until it is cut off
		ask         state.Request // when it waits
		rule        string
		exit, calls int
		reason      string
	}{
		"pass":                   {"worker", []string{"[ ] one"}, []gate.Result{green}, "", "plan_complete", 0, 1, ""},
		"nothing was left":       {"worker", []string{"[x] one"}, []gate.Result{green}, "", "plan_complete", 0, 0, ""},
		"pass after a repair":    {"worker", []string{"[ ] one"}, []gate.Result{red, green}, "", "plan_complete", 0, 2, ""},
		"stay red":               {"worker", []string{"[ ] one"}, []gate.Result{red}, "", "review", 9, 5, "the check pull request: CI / test fails"},
		"stay red without work":  {"idler", []string{"[x] one"}, []gate.Result{red}, "", "review", 9, 1, "fails"},
		"are not over":           {"worker", []string{"[ ] one"}, []gate.Result{late}, "", "review", 9, 1, "check pull request did not run: still running: CI / test"},
		"pass without a plan":    {"claimer", nil, []gate.Result{green}, "", "complete", 0, 2, ""},
		"stop ends the run":      {"worker", []string{"[ ] one"}, []gate.Result{{}}, state.RequestStop, "interrupted", 130, 1, ""},
		"abort ends the run":     {"worker", []string{"[ ] one"}, []gate.Result{{}}, state.RequestAbort, "interrupted", 130, 1, ""},
		"skip ends the wait":     {"worker", []string{"[ ] one"}, []gate.Result{{}}, state.RequestSkip, "review", 9, 1, "did not run"},
		"the time of the run is": {"worker", []string{"[ ] one"}, []gate.Result{{}}, "", "review", 9, 1, "did not run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.agent, c.boxes...)
			b.o.MaxRetries = 4
			if c.answers[0].Name == "" && c.ask == "" {
				b.o.MaxDuration = 4 * time.Second
			}
			asked := 0
			b.d.Elsewhere = func(ctx context.Context, waits func(string)) []gate.Result {
				waits("of the pull request: CI / test")
				answer := c.answers[min(asked, len(c.answers)-1)]
				if asked++; answer.Name == "" {
					if c.ask != "" {
						b.ask(c.ask)
					}
					<-ctx.Done()
					answer = late
				}
				return []gate.Result{answer}
			}
			r := b.run(t.Context())
			wantEnd(t, r, c.rule, c.exit)
			if got := b.calls(); got != c.calls || !strings.Contains(r.Decision.Reason, c.reason) {
				t.Errorf("%d calls, %q (%s)", got, r.Decision.Reason, b.rules())
			}
			if c.exit == 0 && r.Decision.Unproven != "" {
				t.Error(r.Decision.Unproven)
			}
		})
	}
}

func TestRun_checksElsewhereFail_theAgentGetsTheLog(t *testing.T) {
	b := newBench(t, "memory", "[ ] one", "[ ] two")
	asked := 0
	b.d.Elsewhere = func(context.Context, func(string)) []gate.Result {
		asked++
		return []gate.Result{gate.Elsewhere("pull request: CI / test", "https://x.invalid/8", "FAIL: TestSum wants 4", "", asked > 1)}
	}
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	last := b.read("prompt-4")
	for _, want := range []string{`"pull request: CI / test" fails`, "https://x.invalid/8", "FAIL: TestSum wants 4"} {
		if !strings.Contains(last, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, last)
		}
	}
}
