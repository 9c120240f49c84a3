package rules

// This file decides what follows from the verdicts on a task.

import (
	"fmt"
	"strings"

	"ralph/runner/gate"
	"ralph/runner/roles"
	"ralph/state"
)

// ReviewFacts are what the table looks at.
type ReviewFacts struct {
	roles.Outcome
	Refused  int    // refusals of this task in a row, before this one
	Attempts int    // turns of its developer
	Next     string // phase that comes after; empty: none
}

// ReviewRow is a row of the table.
type ReviewRow struct {
	Name, When, Then string
	match            func(ReviewFacts, Policy) bool
	// conclude turns d, which continues with the summary and the feedback of the reviewers, into
	// what the row decides.
	conclude func(f ReviewFacts, d Decision) Decision
}

// ReviewRules is the table. Ordered: the first match wins.
func ReviewRules() []ReviewRow {
	return []ReviewRow{
		{state.RuleReviewBlocked,
			"a required reviewer refused for the `MAX_RETRIES`th time, " +
				"or after `MAX_ITERATIONS_PER_TASK` iterations of the developer",
			"put the task aside with the reasons, and continue", func(f ReviewFacts, p Policy) bool {
				return !f.Passed && (p.MaxRetries > 0 && f.Refused+1 >= p.MaxRetries || p.MaxPerTask > 0 &&
					f.Attempts >= p.MaxPerTask)
			}, givenUp},
		{state.RuleReviewRefused, "a required reviewer says fail or concerns, or its score is too low",
			"the same task again, with the reasons in the next prompt",
			func(f ReviewFacts, _ Policy) bool { return !f.Passed },
			func(_ ReviewFacts, d Decision) Decision {
				d.Action = state.ActionRetry
				return d
			}},
		{state.RuleReviewMissing, "a required reviewer gave no answer that can be read, twice",
			"continue as if it had passed; the run ends with 9, not with 0",
			func(f ReviewFacts, _ Policy) bool { return len(f.Missing) > 0 }, passed},
		{state.RuleReviewPassed, "otherwise", "the next phase; after the last one the task is done",
			func(ReviewFacts, Policy) bool { return true }, passed},
	}
}

func givenUp(f ReviewFacts, d Decision) Decision {
	d.PutAside, d.Feedback = true, nil
	d.Reason = fmt.Sprintf("refused %d times: %s", f.Refused+1, strings.Join(f.Refusals(), "; "))
	if f.Refused == 0 {
		d.Reason = "refused: " + strings.Join(f.Refusals(), "; ")
	}
	return d
}

func passed(f ReviewFacts, d Decision) Decision {
	if f.Next == "" {
		d.Feedback = nil // the next task is another one
	}
	return d
}

// ConcludeReview says what follows.
func ConcludeReview(f ReviewFacts, p Policy) Decision {
	d := Decision{Action: state.ActionContinue, Reason: f.Summary(), Feedback: f.Feedback()}
	for _, r := range ReviewRules() {
		if r.match(f, p) {
			d = r.conclude(f, d)
			d.Rule = r.Name
			return d
		}
	}
	panic("the last rule always matches")
}

// ReviewChecks are what the checks said, a line each.
func ReviewChecks(report gate.Report) []string {
	var lines []string
	for _, r := range report.Results {
		line := fmt.Sprintf("%s: passed (%s)", r.Name, r.Command)
		switch {
		case r.Verdict == gate.VerdictSkipped:
			line = fmt.Sprintf("%s: skipped: %s", r.Name, r.Reason)
		case !r.Passed:
			line = fmt.Sprintf("%s: failed: %s", r.Name, r.FirstLine())
		}
		lines = append(lines, line)
	}
	return lines
}
