package summary

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// IterationRow is one iteration as a row of a list.
type IterationRow struct {
	Number   int
	At       string // when it ended; empty: it has not
	Duration string
	Title    string // of its task; empty: none
	Text     string // what was unusual, and how many files changed
	Mark     string
	Tone     Tone
	Cost     string
	Checks   string // a mark each: "✓✓✗"
	Found    int    // how much there is to look at: findings, reviewers who object
}

// Row formats the iteration with this index. Call it only for visible rows: a run may
// have thousands.
func Row(m *view.Model, i int, now time.Time) IterationRow {
	it := &m.Run.Iterations[i]
	v := IterationRow{Number: it.Number, Duration: view.Span(view.Seconds(it.Seconds)), Cost: view.Dollars(it.CostUSD),
		Title: termtext.Line(it.Task), Checks: checkMarks(it), Found: found(it)}
	calls := termtext.Count(it.Tools, "tool call")
	switch {
	case it.Running():
		doing := "running"
		if runningCheck(m.Status, now) != "" {
			doing = "checking"
		}
		v.Duration, v.Mark, v.Tone, v.Text = view.Span(now.Sub(it.StartedAt)), "●", Busy, view.Join(", ", doing, calls)
	case it.Ended.IsZero():
		v.Duration, v.Mark, v.Tone, v.Text = "?", "?", Warn, view.Join(", ", "cut off", calls)
	default:
		v.At = view.Clock(it.Ended, now)
		v.Text = lineOf(": ", lineOf(", ", resultOf(it)...), it.Failed)
		v.Mark, v.Tone = iterationMark(it)
	}
	return v
}

// outcomeOf is what was unusual about the agent's call.
func outcomeOf(it *view.Iteration) string {
	switch {
	case it.Cut != "":
		return view.CutWord(it.Cut)
	case it.Outcome == view.CompletedTurn && view.Trouble(it.Says) != "":
		return view.Trouble(it.Says)
	}
	return cmp.Or(outcomeWords[it.Outcome], strings.ReplaceAll(view.Unless(view.CompletedTurn, it.Outcome), "-", " "))
}

// verdictsOf is what reviewers said; empty: none looked.
func verdictsOf(it *view.Iteration) string {
	all := termtext.Each(it.Verdicts, state.Verdict.Short)
	return view.Prefix("review: ", strings.Join(all, ", "))
}

func iterationMark(it *view.Iteration) (string, Tone) {
	troubled := view.Trouble(it.Says) != ""
	switch {
	case it.Undone, view.Succeeds(it.Rule) && (troubled || found(it) > 0):
		return "!", Warn
	case view.Succeeds(it.Rule):
		return "✓", Good
	case it.Action == state.ActionStop:
		return "■", Bad
	case it.Cut != "":
		return "»", Calm
	case it.Action == state.ActionWait:
		return "○", Warn
	case it.Rule == state.RuleReviewPassed && found(it) == 0 && !troubled:
		return "✓", Good
	case it.Outcome != view.CompletedTurn || it.Rule != state.RuleContinue || troubled:
		return "!", Warn
	case found(it) > 0 || slices.Contains(slices.Collect(maps.Values(it.Checks)), false):
		return "!", Warn
	case it.Files == 0:
		return "·", Calm
	}
	return "✓", Good
}

// outcomeWords are the classes of agent calls in words. One that is not here reads well
// without its hyphens.
var outcomeWords = map[string]string{
	"usage-limit":       "usage limit reached",
	"spend-limit":       "spending limit reached",
	"rate-limited":      "too many requests",
	"overloaded":        "provider overloaded",
	"server-error":      "provider error",
	"network":           "no connection",
	"auth":              "not logged in",
	"disabled-by-admin": "switched off by an administrator",
	"bad-model":         "model not available",
	"bad-flag":          "command line refused",
	"context-too-long":  "context too long",
	"max-turns":         "agent's own limit of turns",
	"max-budget":        "agent's own limit of cost",
	"refusal":           "model refused",
	"permission-denied": "tools denied",
	"question-asked":    "asked a question",
	"empty-output":      "empty answer",
	"no-final-record":   "ended without a result",
	"hang-silent":       "never answered",
	"hang-after-result": "did not exit",
	"timeout-with-work": "time was up",
	"timeout-idle":      "silent for too long",
	"repeating":         "repeated itself",
	"killed-by-signal":  "agent killed",
	"crash":             "agent crashed",
	"stale-session":     "session gone",
}

// resultOf says what an iteration came to: the outcome, why the run did not simply
// continue, and what changed.
func resultOf(it *view.Iteration) []string {
	files := "no change"
	if it.Files > 0 {
		files = termtext.Count(it.Files, "file")
	}
	outcome, why, done := outcomeOf(it), "", ""
	switch {
	case it.Undone:
		done = "undone"
	case it.TaskDone:
		done = "done"
	}
	if it.Rule != state.RuleContinue && (it.Reason != "" || it.Failed == "") {
		why = cmp.Or(it.Reason, strings.ReplaceAll(it.Rule, "_", " "))
	}
	if said := verdictsOf(it); said != "" { // they say it all
		return []string{done, outcome, said}
	}
	return []string{done, outcome, why, files}
}

// checkMarks are the results of an iteration's checks, by name.
func checkMarks(it *view.Iteration) (marks string) {
	for _, name := range slices.Sorted(maps.Keys(it.Checks)) {
		marks += map[bool]string{true: "✓", false: "✗"}[it.Checks[name]]
	}
	return marks
}

// found is how much of an iteration a person should look at.
func found(it *view.Iteration) int {
	n := it.Found
	for _, v := range it.Verdicts {
		if it.Found == 0 && !v.Passes() {
			n++ // a reviewer who says why is counted already
		}
	}
	return n
}
