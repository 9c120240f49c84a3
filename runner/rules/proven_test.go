package rules

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/gate"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Whatever else is so, a run with something to look at does not end as proven.
func TestTables_somethingToLookAt_neverEndsWith0(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	classes := []ending.Class{ending.CompletedTurn, ending.TimeoutWithWork, ending.TimeoutIdle, ending.UsageLimit, ending.Auth, ending.Unknown, ending.Repeating}
	zero, nine := 0, 0
	property := func(rt *rapid.T) {
		yes := func(name string) bool { return rapid.Bool().Draw(rt, name) }
		small := func(name string) int { return rapid.IntRange(0, 4).Draw(rt, name) }
		f := Facts{Policy: Policy{CompletionClaims: 1 + small("claims wanted"), MaxIterations: small("iterations"), MaxRetries: small("retries")}, Now: now, Started: now}
		f.Memory.Claims, f.Memory.Iterations = small("claims"), small("made")
		if yes("contradicts") {
			f.Memory.Contradiction = "it says that it is blocked"
		}
		if yes("plan") {
			f.Plan = turn.Plan{Known: true, Total: 2, Remaining: rapid.IntRange(0, 1).Draw(rt, "remaining"), List: task.List{Tasks: []task.Task{{ID: "a"}, {ID: "b"}}}}
			f.Plan.Done, f.HadPlan = 2-f.Plan.Remaining, true
		}
		if yes("interrupted") {
			f.Interrupt = &Interrupt{Exit: state.ExitInterrupted, Why: "ralph stop", Lenient: yes("lenient")}
		}
		if yes("review") {
			f.Review = []state.ReviewItem{{Text: "something to look at"}}
		}
		report := gate.Report{}
		if yes("red") {
			report.Results = []gate.Result{{Name: "test", Blocks: true, Verdict: gate.VerdictFailed}}
		}
		c := Conclusion{Facts: f, Attempts: small("attempts")}
		c.Result.Call.Outcome = agent.Outcome{Class: rapid.SampledFrom(classes).Draw(rt, "class")}
		c.Result.Proof.Report = report
		for _, d := range []Decision{Admit(Admission{Facts: f, Report: report}), Conclude(c)} {
			switch {
			case d.Action == state.ActionStop && d.Exit == state.ExitComplete && len(f.Review) > 0:
				rt.Fatalf("rule %s: %s", d.Rule, d.Reason)
			case d.Action == state.ActionStop && d.Exit == state.ExitComplete:
				zero++
			case d.Action == state.ActionStop && d.Exit == state.ExitReview:
				nine++
			}
		}
	}
	rapid.Check(t, property)
	for n := 0; n < 50 && !t.Failed() && (zero == 0 || nine == 0); n++ { // a short run draws few facts
		rapid.Check(t, property)
	}
	if zero == 0 || nine == 0 {
		t.Errorf("%d ends as proven, %d for review: the facts are too few to say anything", zero, nine)
	}
}
