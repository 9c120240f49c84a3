package rules

import (
	"fmt"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/runner/rules/hours"
	"ralph/state"
)

const (
	// maxRetries bounds the transient failures that cost nothing; one more
	// counts as a failed iteration and feeds the breaker.
	maxRetries = 10
	// LimitMargin is added to a reset time: vendors' clocks are not ours.
	LimitMargin = 5 * time.Second
	// limitPause is the shortest time between two calls that meet a limit.
	limitPause = time.Minute
	// limitPatience is the longest that a run waits for a reset. If it is further away, the run stops.
	limitPatience = 24 * time.Hour
	// limitUnknown is the first wait when no reset time was given.
	limitUnknown = 15 * time.Minute
)

// waitForLimit waits until LimitedUntil, or stops when that is too far away or
// the user does not want to wait.
func waitForLimit(f Facts, reason string) Decision {
	until := f.LimitedUntil
	far := true
	switch left := until.Sub(f.Now); {
	case left > limitPatience:
		reason += fmt.Sprintf("; it lasts for more than a day, until %s", until.Local().Format("Mon Jan 2 15:04"))
	case left > f.timeLeft():
		reason += fmt.Sprintf("; it lasts until %s, after the end of the run's time", until.Local().Format("15:04"))
	default:
		far = false
	}
	if f.Policy.OnLimit == "stop" || far {
		return Decision{Action: ActionStop, Reason: reason, Until: until, Exit: ExitLimited,
			ExitReason: "usage_limit", Status: state.StatusStopped,
			Next: fmt.Sprintf("to continue: ralph resume, after %s; or name other agents in FALLBACK_AGENTS", until.Local().Format("Jan 2 15:04"))}
	}
	return Decision{Action: ActionWait, Reason: reason, Until: until}
}

// LimitEnd is when to try again: the reset plus a margin, and never less than
// a minute after a try that was refused again. Without a reset time the waits
// grow from a quarter of an hour to an hour.
func LimitEnd(o agent.Outcome, limits int, now time.Time) time.Time {
	if o.ResetsAt.IsZero() {
		return now.Add(min(limitUnknown*time.Duration(max(limits, 1)), time.Hour))
	}
	until := o.ResetsAt.Add(LimitMargin)
	least := now.Add(LimitMargin)
	if limits > 1 {
		least = now.Add(min(limitPause<<min(limits-2, 5), 30*time.Minute))
	}
	if until.Before(least) {
		return least
	}
	return until
}

// doubled is the first delay, doubled with every try, at most 10 minutes.
func doubled(first time.Duration, try int) time.Duration {
	return min(first<<min(try-1, 10), 10*time.Minute)
}

// afterError waits after a failed call: an outage of a few seconds must not use up
// what the breaker allows.
func afterError(f Conclusion, d Decision) Decision {
	goesOn := d.Action == ActionContinue || d.Action == ActionRetry
	if !goesOn || !d.Until.IsZero() || !f.Result.Call.Made || !f.Result.Failed() || f.Memory.Failures == 0 || f.Policy.ErrorPause == 0 ||
		f.Plan.Total > 0 && f.Plan.Remaining == 0 {
		return d
	}
	wait := min(max(doubled(f.Policy.ErrorPause, f.Memory.Failures), f.Policy.Delay), max(f.timeLeft(), 0))
	d.Until = f.Now.Add(wait)
	d.Reason = strings.TrimPrefix(fmt.Sprintf("%s; the call failed (%s), the next one in %s", d.Reason, f.Result.Call.Outcome.Class, wait.Round(time.Second)), "; ")
	return d
}

const whenCeilings = "`MAX_ITERATIONS`, `MAX_DURATION` or `MAX_COST_USD` is reached, or `UNTIL` has passed"

// timeLeft is how long the run may still work.
func (f Facts) timeLeft() time.Duration { return f.Window.Left(f.Policy.MaxDuration, f.Started, f.Now) }

func ceilings(f Facts) (Decision, bool) {
	p, ran := f.Policy, f.Window.Ran(f.Started, f.Now)
	var reason, exitReason, more string
	switch {
	case p.MaxIterations > 0 && f.Memory.Iterations >= p.MaxIterations:
		reason, exitReason = "made "+termtext.Counted(f.Memory.Iterations, "iteration", "iterations")+", as many as are allowed", "max_iterations"
		more = fmt.Sprintf("resume %d", f.Memory.Iterations+p.MaxIterations)
	case !f.Window.End.IsZero() && !f.Now.Before(f.Window.End):
		reason, exitReason, more = "it is "+p.Until+", when the run is to end", "until", "resume"
	case p.MaxDuration > 0 && ran >= p.MaxDuration:
		reason, exitReason = fmt.Sprintf("ran for %s of at most %s", ran.Round(time.Second), p.MaxDuration), "max_duration"
		more = fmt.Sprintf("resume --max-duration %s", 2*p.MaxDuration)
	case p.MaxCost > 0 && f.Memory.Usage.CostUSD >= p.MaxCost:
		reason, exitReason = fmt.Sprintf("the agent's estimate of the cost is %.2f of at most %.2f USD", f.Memory.Usage.CostUSD, p.MaxCost), "max_cost"
		more = fmt.Sprintf("resume --max-cost %g", 2*p.MaxCost)
	default:
		return Decision{}, false
	}
	next := strings.TrimSpace("to continue: ralph " + more)
	return Decision{Action: ActionStop, Reason: reason, Exit: ExitCeiling, ExitReason: exitReason, Status: state.StatusStopped,
		Next: next}, true
}

// hourly is only a rule of Admit: only a call needs the budget of the hour.
func hourly(f Facts) (Decision, bool) {
	p := f.Policy
	var reason string
	switch {
	case f.Calls.Calls >= p.CallsPerHour:
		reason = fmt.Sprintf("%d of %d calls of this hour made", f.Calls.Calls, p.CallsPerHour)
	case p.TokensPerHour > 0 && f.Calls.Tokens >= p.TokensPerHour:
		reason = fmt.Sprintf("%s of %s tokens of this hour used", termtext.Thousands(f.Calls.Tokens), termtext.Thousands(p.TokensPerHour))
	default:
		return Decision{}, false
	}
	until := hours.NextHour(f.Calls.Hour)
	if until.Sub(f.Now) > f.timeLeft() {
		return Decision{Action: ActionStop, Reason: reason + "; the run's time is over before the next hour", Exit: ExitCeiling, ExitReason: "max_duration",
			Status: state.StatusStopped, Next: fmt.Sprintf("to continue: ralph resume, after %s; or ralph, with a higher --calls or --max-duration", until.Local().Format("15:04"))}, true
	}
	return Decision{Action: ActionWait, Reason: reason, Until: until}, true
}
