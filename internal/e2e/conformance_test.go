//go:build e2e && linux

package e2e

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/mockllm"
	"ralph/internal/world"
)

// each runs a test once for each of these CLIs, as many at a time as -parallel says.
func each(t *testing.T, all []agentCLI, test func(t *testing.T, a agentCLI)) {
	t.Helper()
	t.Parallel()
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
}

// askAgainAtOnce is what a server says to the CLIs that cannot be told to give
// up at the first failure: opencode and qwen would take over a minute for it.
func askAgainAtOnce() map[string]string { return map[string]string{"retry-after-ms": "20"} }

// run starts ralph with a CLI of the table.
func (w *project) run(a agentCLI, args ...string) *world.Process {
	w.Helper()
	return w.ralph(append([]string{"run", "--agent", a.name}, args...)...)
}

func TestAgents_planOfTwo_isWorkedOffWithFreshSessionsOrOneResumed(t *testing.T) {
	for _, c := range []struct {
		flag     string
		sessions int
	}{{"--no-continue", 2}, {"--continue", 1}} {
		t.Run(c.flag, func(t *testing.T) {
			each(t, others(), func(t *testing.T, a agentCLI) {
				w := newProject(t, a, 2, mockllm.Plan(2))
				w.finished(w.run(a, c.flag).Wait(2*time.Minute), 2)
				if got := w.outcomes(); !slices.Equal(got, []string{"completed-turn", "completed-turn"}) {
					t.Errorf("outcomes %q", got)
				}
				if got := w.sessions(); len(got) != c.sessions {
					t.Errorf("sessions %q, want %d", got, c.sessions)
				}
				// Every answer of the mock reports as much, and each is counted once.
				turns := w.mock.Turns(scenario)
				s := w.status()
				if len(turns) != 6 || s.Usage.Input != 6*1200 || s.Usage.CacheRead != 6*900 || s.Usage.Output < 6*40 {
					t.Errorf("%d answers, usage %+v", len(turns), s.Usage)
				}
				fresh := slices.DeleteFunc(turns, func(r mockllm.Request) bool { return !r.Fresh })
				if len(fresh) != 2 || !strings.Contains(fresh[0].Prompt, "Do the next task of the plan.") || !strings.Contains(fresh[1].Prompt, "task 2") {
					t.Fatalf("prompts %+v", fresh)
				}
				if resumed := fresh[1].Messages >= fresh[0].Messages+6; resumed != (c.sessions == 1) {
					t.Errorf("conversations of %d and %d messages", fresh[0].Messages, fresh[1].Messages)
				}
			})
		})
	}
}

func TestAgents_usageLimit_isSeenAndCostsNothing(t *testing.T) {
	// amp has no windows: it is paid by use.
	all := slices.DeleteFunc(others(), func(a agentCLI) bool { return a.name == "amp" })
	each(t, all, func(t *testing.T, a agentCLI) {
		limit := mockllm.Step{Limit: &mockllm.Limit{Window: "five_hour", For: time.Hour, Header: askAgainAtOnce()}}
		w := newProject(t, a, 1, mockllm.After(mockllm.Plan(1), limit))
		exit := w.run(a, "--on-limit", "stop").Wait(2 * time.Minute)
		s := w.status()
		if exit != 7 || s.ExitReason != "usage_limit" || s.Outcome != "usage-limit" || s.LoopCount != 0 {
			t.Errorf("exit %d, status %+v", exit, s)
		}
		if a.name == "gemini" {
			return // a quota of the day, whose end the API does not tell
		}
		if left := time.Until(s.WakeAt); left < 58*time.Minute || left > 62*time.Minute {
			t.Errorf("the limit ends at %v, in %v, want in an hour", s.WakeAt, left)
		}
	})
}

func TestAgents_serviceFailsToTheEndOfACall_isRetriedWithoutCostingAnIteration(t *testing.T) {
	limited := mockllm.APIError{Status: 429, Type: "rate_limit_error", Message: "Number of requests has exceeded your per-minute rate limit", Header: askAgainAtOnce()}
	overloaded := mockllm.APIError{Status: 503, Type: "overloaded_error", Message: "The model is overloaded. Please try again later.", Header: askAgainAtOnce()}
	each(t, others(), func(t *testing.T, a agentCLI) {
		w := newProject(t, a, 1, mockllm.After(mockllm.Plan(1),
			mockllm.Step{Error: &limited, Times: a.tries}, mockllm.Step{Error: &overloaded, Times: a.tries}))
		w.finished(w.run(a).Wait(2*time.Minute), 1)
		if got := w.outcomes(); !slices.Equal(got, []string{"rate-limited", "overloaded", "completed-turn"}) {
			t.Errorf("outcomes %q", got)
		}
		if s := w.status(); s.LoopCount != 1 {
			t.Errorf("%d iterations, want 1", s.LoopCount)
		}
	})
}

func TestAgents_badKey_endsWith6(t *testing.T) {
	each(t, others(), func(t *testing.T, a agentCLI) {
		w := newProject(t, a, 1, mockllm.Builtin()["401"])
		exit := w.run(a).Wait(2 * time.Minute)
		if s := w.status(); exit != 6 || s.ExitReason != "agent_unusable" || s.Outcome != "auth" || s.LoopCount != 0 {
			t.Errorf("exit %d, status %+v", exit, s)
		}
	})
}

func TestAgents_deniedCommand_haltsAndNamesIt(t *testing.T) {
	all := slices.DeleteFunc(others(), func(a agentCLI) bool { return !a.denials })
	each(t, all, func(t *testing.T, a agentCLI) {
		w := newProject(t, a, 1, mockllm.Builtin()["denied"])
		w.forbid()
		w.Env = append(w.Env, a.forbidEnv...)
		for name, v := range a.forbidFiles {
			w.Write("../"+name, text(v))
		}
		exit := w.run(a).Wait(2 * time.Minute)
		s := w.status()
		if exit != 3 || s.Status != "halted" || s.ExitReason != "permission_denied" || s.LoopCount != 2 {
			t.Errorf("exit %d, status %+v", exit, s)
		}
		if !strings.Contains(s.Reason, "curl -s http://127.0.0.1:9/") || !strings.Contains(s.Reason, a.entry) {
			t.Errorf("the reason lacks the command or the entry %q: %q", a.entry, s.Reason)
		}
	})
}

func TestAgents_terminatedWhileACommandRuns_endsAndLeavesNothing(t *testing.T) {
	each(t, others(), func(t *testing.T, a agentCLI) {
		w := newProject(t, a, 1, mockllm.Builtin()["long-tool"])
		p := w.run(a)
		w.Until("the agent's command runs", func() bool { return w.sleeps() == 2 })
		w.signalled(p, syscall.SIGTERM, 143)
	})
}

// What a command prints is not a word of the CLI, however much it looks like one.
func TestAgents_limitWordsInAToolResult_causeNoWait(t *testing.T) {
	const words = `cat <<'EOF'
You've hit your 5-hour limit · resets 4:49am (UTC)
You’ve hit your usage limit. Visit example.invalid or try again at 4:59 AM.
API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"usage limit reached"}}
{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Claude AI usage limit reached|9999999999"}
{"type":"turn.failed","error":{"message":"Quota exceeded. Check your plan and billing details."}}
Error: 401 Invalid API key · Please run /login
EOF
exit 1`
	each(t, agents()[:3], func(t *testing.T, a agentCLI) {
		tool := mockllm.Step{Text: "You've hit your weekly limit, says the log.", Tools: []mockllm.Tool{{Name: "bash", Command: words}}}
		w := newProject(t, a, 1, mockllm.Scenario{Runs: [][]mockllm.Step{slices.Insert(mockllm.Work(1, true), 0, tool)}})
		w.finished(w.run(a).Wait(2*time.Minute), 1)
		if got := w.outcomes(); !slices.Equal(got, []string{"completed-turn"}) {
			t.Errorf("outcomes %q", got)
		}
		if !slices.ContainsFunc(w.events(), func(e event) bool {
			return e.Kind == "tool_result" && strings.Contains(e.Data.Text, "5-hour limit")
		}) {
			t.Error("the words were not in a tool result")
		}
	})
}

// The endpoint of a proxy that is down may answer with 200 and a page. opencode takes
// that for an empty answer, and asks again at once, for ever.
func TestOpencode_endpointIsUnreadable_isAServerErrorAfterAFewRequests(t *testing.T) {
	t.Parallel()
	unreadable := mockllm.Step{Error: &mockllm.APIError{Status: 200, Type: "none", Message: "It works!"}, Times: 5}
	slow := unreadable // ralph ends the call before this arrives, however busy the machine is
	slow.Times, slow.Delay = 1, 10*time.Second
	w := newProject(t, opencode(), 1, mockllm.After(mockllm.Plan(1), unreadable, slow))
	w.finished(w.run(opencode()).Wait(2*time.Minute), 1)
	if got := w.outcomes(); !slices.Equal(got, []string{"server-error", "completed-turn"}) || w.status().LoopCount != 1 {
		t.Errorf("outcomes %q, %d iterations", got, w.status().LoopCount)
	}
}
