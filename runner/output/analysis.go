package output

import (
	"time"

	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
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
	Hints     state.Hints        `json:"hints"`
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
		Signalled: res.Call.Signalled, Signal: res.Call.Signal, Exit: res.Claims(), Progress: res.Progress(), Files: res.Work.Change.Count,
		Tools: res.Call.ToolCalls, Failing: res.Call.Failing, Hints: res.Call.Hints, Denied: res.Call.Denied,
		Usage: res.Call.Usage, Seconds: res.Duration.Seconds(),
		Tasks: map[string]int{"before": res.Work.Before.Remaining, "after": res.Proof.After.Remaining},
	}
}
