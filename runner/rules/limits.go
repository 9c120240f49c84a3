package rules

import (
	"fmt"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/rules/pace"
	"ralph/state"
)

const (
	// MaxRetries bounds the transient failures that cost nothing; one more
	// counts as a failed iteration and feeds the breaker.
	MaxRetries = 10
	// limitPatience is the longest that a run waits for a reset. If it is further away, the run stops.
	limitPatience = 24 * time.Hour
	// BoundWithoutPlan is how many iterations a run may make that has neither a plan nor a limit of its own.
	BoundWithoutPlan = 10
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
		d := stopped(state.ExitLimited, "usage_limit", reason, "to continue: ralph resume, after "+
			until.Local().Format("Jan 2 15:04")+"; or name other agents in FALLBACK_AGENTS")
		d.Until = until
		return d
	}
	return Decision{Action: state.ActionWait, Reason: reason, Until: until}
}

// doubled is the first delay, doubled with every try, at most 10 minutes.
func doubled(first time.Duration, try int) time.Duration {
	return min(first<<min(try-1, 10), 10*time.Minute)
}

// pausing is a row that waits after a failed call before the run goes on: an outage of a few
// seconds must not use up what the breaker allows.
func pausing(r Rule[Conclusion]) Rule[Conclusion] {
	match := r.match
	r.Then += "; pauses"
	r.match = func(f Conclusion) (Decision, bool) {
		d, ok := match(f)
		return paused(f, d), ok
	}
	return r
}

func paused(f Conclusion, d Decision) Decision {
	goesOn := d.Action == state.ActionContinue || d.Action == state.ActionRetry
	failed := f.Result.Call.Made && f.Result.Failed() && f.Memory.Failures > 0
	if !goesOn || !failed || f.Policy.ErrorPause == 0 || f.nothingLeft() {
		return d
	}
	wait := min(max(doubled(f.Policy.ErrorPause, f.Memory.Failures), f.Policy.Delay), max(f.timeLeft(), 0))
	d.Until = f.Now.Add(wait)
	d.Reason = strings.TrimPrefix(fmt.Sprintf("%s; the call failed (%s), the next one in %s", d.Reason,
		f.Result.Call.Outcome.Class, wait.Round(time.Second)), "; ")
	return d
}

const whenCeilings = "`MAX_ITERATIONS`, `MAX_DURATION` or `MAX_COST_USD` is reached, or `UNTIL` has passed"

// timeLeft is how long the run may still work.
func (f Facts) timeLeft() time.Duration {
	return pace.Left(f.Policy.MaxDuration, f.Started, f.End, f.Now)
}

// over is true when the run has used up what it may use.
func (f Facts) over() bool {
	reason, _, _ := f.ceiling()
	return reason != ""
}

func ceilings(f Facts) (Decision, bool) {
	reason, exitReason, more := f.ceiling()
	return stopped(state.ExitCeiling, exitReason, reason, "to continue: ralph "+more), reason != ""
}

// ceiling is the limit of the run that is reached, and the command that continues; empty: none.
func (f Facts) ceiling() (reason, exitReason, more string) {
	p, ran := f.Policy, f.Now.Sub(f.Started)
	switch {
	case p.MaxIterations > 0 && f.Memory.Iterations >= p.MaxIterations:
		reason = "made " + termtext.Counted(f.Memory.Iterations, "iteration", "iterations") + ", as many as are allowed"
		exitReason, more = "max_iterations", fmt.Sprintf("resume %d   # %d more", f.Memory.Iterations+p.MaxIterations, p.MaxIterations)
	case !f.End.IsZero() && !f.Now.Before(f.End):
		reason, exitReason, more = "it is "+p.Until+", when the run is to end", "until", "resume"
	case p.MaxDuration > 0 && ran >= p.MaxDuration:
		reason = fmt.Sprintf("ran for %s of at most %s", ran.Round(time.Second), p.MaxDuration)
		exitReason, more = "max_duration", fmt.Sprintf("resume --max-duration %s", 2*p.MaxDuration)
	case p.MaxCost > 0 && f.Memory.Usage.CostUSD >= p.MaxCost:
		reason = fmt.Sprintf("the agent's estimate of the cost is %.2f of at most %.2f USD",
			f.Memory.Usage.CostUSD, p.MaxCost)
		if cut := f.Memory.Usage.CutOff(); cut != "" {
			reason += ", " + cut
		}
		exitReason, more = "max_cost", fmt.Sprintf("resume --max-cost %g", 2*p.MaxCost)
	}
	return reason, exitReason, more
}

// hourly is only a rule of Admit: only a call needs the budget of the hour.
func hourly(f Facts) (Decision, bool) {
	p := f.Policy
	var reason string
	switch {
	case f.Calls.Calls >= p.CallsPerHour:
		reason = fmt.Sprintf("%d of %d calls of this hour made", f.Calls.Calls, p.CallsPerHour)
	case p.TokensPerHour > 0 && f.Calls.Tokens >= p.TokensPerHour:
		reason = fmt.Sprintf("%s of %s tokens of this hour used", termtext.Thousands(f.Calls.Tokens),
			termtext.Thousands(p.TokensPerHour))
	default:
		return Decision{}, false
	}
	until := pace.NextHour(f.Calls.Hour)
	if until.Sub(f.Now) > f.timeLeft() {
		return stopped(state.ExitCeiling, "max_duration", reason+"; the run's time is over before the next hour",
			"to continue: ralph resume, after "+until.Local().Format("15:04")+
				"; or ralph, with a higher --calls or --max-duration"), true
	}
	return Decision{Action: state.ActionWait, Reason: reason, Until: until}, true
}
