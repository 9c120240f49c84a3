package sample

import (
	"time"

	"ralph/state"
	"ralph/state/view"
)

// States returns a run for every visible state, by its name.
func States(now time.Time) map[string]func() (view.Snapshot, []state.Event) {
	change := func(f func(*view.Snapshot)) func() (view.Snapshot, []state.Event) {
		return func() (view.Snapshot, []state.Event) {
			s, all := Run(now)
			f(&s)
			return s.Settled(), all
		}
	}
	all := map[string]func() (view.Snapshot, []state.Event){
		"running": change(func(*view.Snapshot) {}),
		"parallel": change(func(s *view.Snapshot) {
			s.Status.Slots = []state.SlotStatus{
				{Slot: 1, Iteration: 7, TaskID: "T7", Title: "Add cursor pagination to GET /orders",
					Since: now.Add(-3 * time.Minute), LastTool: "Bash go test ./api/..."},
				{Slot: 2, Iteration: 8, TaskID: "T8", Title: "Validate the currency of a refund",
					Since: now.Add(-95 * time.Second), LastTool: "Edit api/refund.go"},
				{Slot: 3, Iteration: 9, TaskID: "T9", Title: "Log the order id in every handler",
					Since: now.Add(-260 * time.Second), Phase: "landing"},
			}
		}),
		"checking": func() (view.Snapshot, []state.Event) { return Checking(now) },
		"waiting": change(func(s *view.Snapshot) {
			s.Status.Status, s.Status.Rule = state.StatusWaiting, "usage_limit"
			s.Status.Limit = &state.Limit{Name: "five_hour", Rejected: true, Utilization: 1,
				ResetsAt: now.Add(time.Hour)}
			s.Status.WakeAt = now.Add(time.Hour + 72*time.Second)
			s.Status.Reason = "You've hit your session limit"
		}),
		"paused": change(func(s *view.Snapshot) {
			s.Status.Status, s.Status.Rule = state.StatusPaused, "continue"
			s.Status.Reason, s.Status.LoopCount = "paused by ralph pause", 7
		}),
		"crashed": change(func(s *view.Snapshot) {
			s.Alive, s.Status.LastError = false, "the agent crashed (exit 70): panic: out of memory"
			s.Status.Timestamp = now.Add(-340 * time.Second)
		}),
		"none": func() (view.Snapshot, []state.Event) {
			s := view.Snapshot{At: now, Dir: "/home/dev/shop-api", Breaker: state.Breaker{State: state.BreakerClosed}}
			return s.Settled(), nil
		},
	}
	for name, end := range endings(now) {
		all[name] = end.run(now)
	}
	return all
}

// ending is how a run ends, and what status.json says then.
type ending struct {
	status, reason string
	decision       state.Decision
	exit           int
	next           string
	breaker        state.Breaker
}

func endings(now time.Time) map[string]ending {
	const same = "the same error in 5 iterations: undefined: cursorFrom"
	stop := func(rule, why string) state.Decision {
		return state.Decision{Action: state.ActionStop, Rule: rule, Reason: why}
	}
	return map[string]ending{
		"completed": {status: state.StatusCompleted, reason: "plan_complete",
			decision: stop("complete", "all 10 tasks are done and the checks pass")},
		"halted": {status: state.StatusHalted, reason: "same_error", exit: 3, decision: stop("same_error", same),
			next: "look at .ralph/live.log and the plan, then: ralph reset --circuit && ralph resume",
			breaker: state.Breaker{State: state.BreakerOpen, SameError: 5, TotalOpens: 1,
				LastChange: now.Add(-time.Minute), Reason: same}},
		"stopped": {status: state.StatusStopped, reason: "max_iterations", exit: 4,
			decision: stop("ceilings", "7 of 7 iterations are used"),
			next:     "to continue: ralph, with a higher --max-iterations"},
		"failed": {status: state.StatusFailed, reason: "agent_unusable", exit: 6,
			decision: stop("agent_unusable", "claude is not logged in"),
			next:     "log in with: claude /login; then: ralph resume"},
	}
}

func (end ending) run(now time.Time) func() (view.Snapshot, []state.Event) {
	return func() (view.Snapshot, []state.Event) {
		s, all := Run(now)
		st, d := &s.Status, end.decision
		s.Alive = false
		if end.exit == 0 {
			st.Task.Done = 10
		}
		if end.breaker.State != "" {
			s.Breaker = end.breaker
		}
		st.Status, st.ExitReason, st.Rule, st.Reason = end.status, end.reason, d.Rule, d.Reason
		st.ExitCode, st.Next, st.LoopCount, st.Phase = end.exit, end.next, 7, "ended"
		all = append(all,
			state.NewEvent(state.Origin{Run: st.RunID, Iteration: 7, Task: "#7"}, now.Add(-2*time.Second),
				state.IterationEnd{
					Decision: d, Title: st.Task.Title, Outcome: "completed-turn", Files: 3, Seconds: 250,
					Done: st.Task.Done, Total: 10, TaskDone: end.exit == 0,
				}),
			state.NewEvent(state.Origin{Run: st.RunID}, now.Add(-time.Second), state.RunEnd{
				Decision: d, Exit: end.exit, Seconds: 4319, Next: end.next,
				Usage: state.Usage{InputTokens: 1_180_000, OutputTokens: 84_300, CostUSD: 3.41},
			}))
		return s.Settled(), all
	}
}
