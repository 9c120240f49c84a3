package output

import (
	"time"

	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/git"
	"ralph/runner/turn"
	"ralph/state"
)

// Analysis is .response_analysis: what is known of the latest agent call.
type Analysis struct {
	Loop      int                `json:"loop_number"`
	Timestamp time.Time          `json:"timestamp"`
	Outcome   ending.Class       `json:"outcome"`
	Reason    string             `json:"reason"`
	Evidence  string             `json:"evidence"`
	Signalled bool               `json:"has_status_block"`
	Signal    statusblock.Signal `json:"status_block"`
	Exit      bool               `json:"exit_signal"`
	Progress  bool               `json:"has_progress"`
	Files     int                `json:"files_modified"`
	Tools     int                `json:"tool_calls"`
	Failing   []string           `json:"failing_tools"`
	Denied    []state.Tool       `json:"permission_denials"`
	Usage     state.Usage        `json:"usage"`
	Seconds   float64            `json:"seconds"`
	Tasks     map[string]int     `json:"open_tasks"`
}

// AnalysisOf makes the Analysis of a turn.
func AnalysisOf(res turn.Result) Analysis {
	o := res.Call.Outcome
	return Analysis{
		Loop: res.Origin.Iteration, Timestamp: time.Now(), Outcome: o.Class, Reason: o.Reason, Evidence: o.Evidence,
		Signalled: res.Call.Signalled, Signal: res.Call.Signal, Exit: res.Claims(), Progress: res.Progress(),
		Files: res.Work.Change.Count,
		Tools: res.Call.ToolCalls, Failing: res.Call.Failing, Denied: res.Call.Denied,
		Usage: res.Call.Usage, Seconds: res.Duration.Seconds(),
		Tasks: map[string]int{"before": res.Work.Before.Remaining, "after": res.Proof.After.Remaining},
	}
}

// Signal remembers what a turn that counted signals, for the latest five.
func Signal(s *state.Signals, res turn.Result) {
	mark := func(list *[]int, hit bool) {
		if hit {
			*list = append(*list, res.Origin.Iteration)
		}
		*list = (*list)[max(0, len(*list)-5):]
	}
	mark(&s.TestOnlyLoops, res.TestOnly())
	mark(&s.DoneSignals, res.Call.Signalled && res.Call.Signal.Status == statusblock.Complete)
	mark(&s.CompletionIndicators, res.Claims())
}

// KeptOf describes the state of the workspace after the turn.
func KeptOf(res turn.Result, rule string) git.State {
	checks := map[string]bool{}
	for _, c := range res.Proof.Report.Results {
		checks[c.Name] = c.Passed
	}
	return git.State{
		Run: res.Origin.Run, Iteration: res.Origin.Iteration, Outcome: string(res.Call.Outcome.Class), Rule: rule,
		Task: res.Task.ID,
		Plan: res.PlanName, Checks: checks, CostUSD: res.Call.Usage.CostUSD, Files: res.Work.Change.Count,
	}
}

// EndOf is the event that ends an iteration, without the decision.
func EndOf(res turn.Result) state.IterationEnd {
	return state.IterationEnd{
		Title: res.Task.Title, Outcome: string(res.Call.Outcome.Class), Detail: res.Call.Outcome.Reason,
		Failed: res.Failed(),
		Files:  res.Work.Change.Count, Seconds: time.Since(res.Started).Seconds(), Usage: res.Call.Usage,
		Done: res.Proof.After.Done, Total: res.Proof.After.Total, TaskDone: res.Proof.After.IsDone(res.Task.ID),
		Cut: string(res.Cut), Says: res.Call.Signal.Status, Merge: res.Proof.Merge,
		RedBefore: res.Proof.Report.RedBefore(),
	}
}
