package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/agent/ending"
	"ralph/runner/gate/report"
)

const (
	feedbackBudget = 16 << 10 // bytes of Report.Feedback
	namesBudget    = 1 << 10  // bytes of names without messages
	maxNamed       = 5        // names in one line
	minMessage     = 300      // a shorter excerpt of a message is useless
	maxDetailed    = 6        // in full; the others only by name
)

// Duty is what a task owes to the checks in ModeAuto.
const Duty = "What passes must still pass. What failed before the run need not be fixed by this task, unless the test is " +
	"yours: your task names it, or you write or change it. What still fails at the end becomes an assignment of its own"

// Report has the results of one run of a Suite.
type Report struct {
	Mode     Mode     `json:"mode"`
	Results  []Result `json:"results"`            // in the order in which they ran
	Baseline bool     `json:"baseline,omitempty"` // it became the baseline
}

// Blocking returns the results that block.
func (r Report) Blocking() []Result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(x Result) bool { return !x.Blocks })
}

// Blocked reports whether any result blocks.
func (r Report) Blocked() bool {
	return len(r.Blocking()) > 0
}

// Passes reports whether a required check ran, and none that is required failed.
func (r Report) Passes() bool {
	ran := false
	for _, x := range r.Results {
		if x.Check.Required() && x.Verdict != VerdictSkipped {
			if ran = true; !x.Passed && x.Verdict != VerdictFlaky {
				return false
			}
		}
	}
	return ran
}

// AtEnd is the report in which what blocks the end of a run blocks like anything else.
func (r Report) AtEnd() Report {
	r.Results = slices.Clone(r.Results)
	for i := range r.Results {
		r.Results[i].Blocks = r.Results[i].Blocks || r.Results[i].BlocksEnd
	}
	return r
}

// Red reports whether a required check failed, whatever that blocks.
func (r Report) Red() bool {
	return slices.ContainsFunc(r.Results, func(x Result) bool {
		return x.Check.Required() && x.Verdict != VerdictSkipped && x.Verdict != VerdictFlaky && !x.Passed
	})
}

// RecordedCheck is the result of a check in a Record.
type RecordedCheck struct {
	Gate    string  `json:"gate"`
	Passed  bool    `json:"passed"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// Record has the results of all checks that ran, as a plan stores them.
type Record struct {
	Passed bool            `json:"passed"`
	Gates  []RecordedCheck `json:"gates"`
}

// Gates returns the results as a plan stores them.
func (r Report) Gates() Record {
	all := []RecordedCheck{}
	for _, x := range r.Results {
		if x.Verdict != VerdictSkipped {
			all = append(all, RecordedCheck{x.Name, x.Passed, x.Duration.Seconds(), logs.Redact(x.FirstLine())})
		}
	}
	return Record{!r.Blocked(), all}
}

// Cause returns a normalized text to compare failures by; empty: none blocks.
func (r Report) Cause() string {
	blocking := r.Blocking()
	if len(blocking) == 0 {
		return ""
	}
	x := blocking[0]
	if len(x.Blamed) > 0 {
		return x.Name + ": " + strings.Join(names(x.Blamed), ", ")
	}
	return ending.Normalize(x.Name + ": " + x.FirstLine())
}

// KnownRed returns the names of required checks whose failures are all in the baseline.
func (r Report) KnownRed() []string {
	return r.names(func(x Result) bool { return x.Verdict == VerdictKnown && x.Check.Required() })
}

func (r Report) names(of func(Result) bool) (names []string) {
	for _, x := range r.Results {
		if of(x) {
			names = append(names, x.Name)
		}
	}
	return names
}

// RedBefore returns the names of all checks that were red before the run, and of which nothing fails that counts against
// the task. New tests may be red in ModeAuto only if the check was red before.
func (r Report) RedBefore() []string {
	return r.names(func(x Result) bool { return x.Verdict == VerdictKnown || x.Verdict == VerdictNew && r.Mode == ModeAuto })
}

// RedElsewhere returns the names of the required checks that failed on other machines.
func (r Report) RedElsewhere() []string {
	return r.names(func(x Result) bool { return x.Elsewhere != "" && x.BlocksEnd })
}

// NewRed returns a line for each required check with failed tests that have never passed.
func (r Report) NewRed() []string {
	var lines []string
	for _, x := range r.Results {
		if len(x.New) > 0 && x.Check.Required() && r.Mode != ModeReport {
			lines = append(lines, fmt.Sprintf("check %s: never passed yet: %s", x.Name, termtext.Some(x.New, maxNamed)))
		}
	}
	return lines
}

// OnFailure returns the strongest on_failure of the blocking results; empty if none blocks.
func (r Report) OnFailure() OnFailure {
	answer := OnFailure("")
	for _, x := range r.Blocking() {
		switch on := x.Check.OnFailure; {
		case on == Stop, on == BlockTask && answer != Stop:
			answer = on
		case answer == "":
			answer = Retry
		}
	}
	return answer
}

// Findings returns a line for the user for each check that did more than simply pass or fail.
func (r Report) Findings() []string {
	var lines []string
	for _, x := range r.Results {
		if x.Reason != "" && !x.justFailed() && !strings.HasPrefix(x.Reason, notRun) {
			lines = append(lines, fmt.Sprintf("%s: %s", x.Name, x.Reason))
		}
	}
	return lines
}

// justFailed is true for a required check that failed, and only its output says why.
func (r Result) justFailed() bool {
	return r.Verdict == VerdictFailed && r.Check.Required() && !r.TimedOut && len(r.Blamed)+len(r.Known)+len(r.Flaky) == 0
}

// reason explains a verdict in one sentence.
func reason(r Result) string {
	var parts []string
	switch {
	case len(r.Blamed) > 0:
		parts = append(parts, fmt.Sprintf("%s: %s", termtext.Counted(len(r.Blamed), "test fails", "tests fail"),
			termtext.Some(names(r.Blamed), maxNamed)))
	case r.Verdict == VerdictFailed && r.TimedOut:
		parts = append(parts, "ended because it took too long")
	case r.Verdict == VerdictFailed:
		parts = append(parts, fmt.Sprintf("fails (exit code %d)", r.ExitCode))
	}
	switch {
	case len(r.Known) > 0:
		parts = append(parts, "red before the run: "+termtext.Some(r.Known, maxNamed))
	case r.Verdict == VerdictKnown:
		parts = append(parts, "red before the run")
	}
	if len(r.New) > 0 {
		parts = append(parts, "new and red: "+termtext.Some(r.New, maxNamed))
	}
	if len(r.Flaky) > 0 {
		parts = append(parts, "flaky, failed in one of two runs: "+termtext.Some(r.Flaky, maxNamed))
	}
	if len(parts) > 0 && !r.Check.Required() && r.Verdict == VerdictFailed {
		parts = append(parts, "not required")
	}
	return strings.Join(parts, "; ")
}

// Feedback returns the text for the next prompt, at most 16 KiB: for each blocking
// check how to reproduce it, and the failed tests with their messages. It is
// empty if nothing blocks.
func (r Report) Feedback() string {
	blocking := r.Blocking()
	told := blocking[:min(len(blocking), maxDetailed)]
	var texts []string
	for _, x := range told {
		texts = append(texts, x.feedback((feedbackBudget-namesBudget-len(Duty))/len(told)-2))
	}
	if more := blocking[len(told):]; len(more) > 0 {
		var names []string
		for _, x := range more {
			names = append(names, x.Name)
		}
		text := termtext.Counted(len(more), "more required check fails", "more required checks fail")
		texts = append(texts, short("And "+text+": "+strings.Join(names, ", "), namesBudget-5))
	}
	before := func(x Result) bool { return len(x.Known)+len(x.New) > 0 && !x.BlocksEnd }
	if r.Mode == ModeAuto && slices.ContainsFunc(told, before) {
		texts = append(texts, Duty+".")
	}
	return strings.Join(texts, "\n\n")
}

// feedback describes one result in at most budget bytes.
func (r Result) feedback(budget int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The required check %q fails", short(r.Name, 200))
	if r.Elsewhere != "" {
		fmt.Fprintf(&b, ". It runs on other machines, on the commits of the pull request. Every task is done, so this is your "+
			"assignment now: the run is not complete until it passes. See %s\n\nThe end of its log:\n\n", short(r.Elsewhere, budget/3))
		return b.String() + cut(r.Output, 0, budget-b.Len())
	}
	switch {
	case r.BlocksEnd:
		b.WriteString(". It failed before the run too, or its tests never passed. Every task is done, so this is your " +
			"assignment now: the run is not complete until it passes")
	case r.Verdict == VerdictKnown:
		b.WriteString(". It failed before your work too, but nothing is done until it passes")
	case len(r.Blamed) > 0:
		b.WriteString(": " + termtext.Counted(len(r.Blamed), "test", "tests"))
	case r.TimedOut:
		b.WriteString(": it took too long and was ended")
	}
	if r.First != nil && r.Verdict == VerdictFailed {
		b.WriteString(" (twice in a row)")
	}
	fmt.Fprintf(&b, ". Reproduce it with:\n\n    %s\n", short(r.Command, budget/3))
	if len(r.Own) > 0 {
		fmt.Fprintf(&b, "\nYour task's own tests, which it names or you wrote: %s\n", short(termtext.Some(r.Own, maxNamed), namesBudget))
	}
	if len(r.Known) > 0 && len(r.Blamed) > 0 {
		fmt.Fprintf(&b, "\nRed before your work, not caused by it: %s\n", short(termtext.Some(r.Known, maxNamed), namesBudget))
	}
	tests := r.Blamed
	if r.Verdict == VerdictKnown || r.BlocksEnd {
		tests = r.Tests.FailedTests()
	}
	if len(tests) == 0 {
		room := budget - b.Len() - len("\nIts output:\n\n")
		fmt.Fprintf(&b, "\nIts output:\n\n%s", cut(r.Output, room/4, room-room/4))
		return b.String()
	}
	writeTests(&b, tests, budget)
	return strings.TrimRight(b.String(), "\n")
}

// writeTests divides the rest of the budget among the messages. What a short message leaves goes to the others.
func writeTests(b *strings.Builder, tests []report.Test, budget int) {
	for i, t := range tests {
		room := budget - b.Len() - namesBudget/2
		share := room/(len(tests)-i) - len(t.Name) - 20
		if share < minMessage {
			share = min(minMessage, room-len(t.Name)-20)
		}
		if share < minMessage && len(t.Message) > share {
			fmt.Fprintf(b, "\nAnd %d more: %s\n", len(tests)-i, short(strings.Join(names(tests[i:]), ", "), namesBudget/2-60))
			return
		}
		fmt.Fprintf(b, "\n%s\n%s\n", t.Name, cut(t.Message, share*2/3, share/3))
	}
}

// short returns the beginning of a line.
func short(line string, most int) string {
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most-3], "") + "..."
}

// cut returns the beginning and the end of a text, in at most head+tail bytes.
func cut(text string, head, tail int) string {
	const gap = 60 // what Excerpt writes between the two
	if len(text) <= head+tail {
		return text
	}
	if head+tail <= gap {
		return ""
	}
	e := report.Excerpt{Head: max(head-gap, 0), Tail: tail}
	_, _ = e.Write([]byte(text))
	return e.String()
}

// FirstLine returns the most telling line: the first failed test with the first
// line of its message, else an error line of the output, else how the command
// ended. It is empty if the check passed or was skipped.
func (r Result) FirstLine() string {
	if r.Passed || r.Verdict == VerdictSkipped {
		return ""
	}
	line := report.ErrorLine(r.Output)
	if failed := append(slices.Clone(r.Blamed), r.Tests.FailedTests()...); len(failed) > 0 {
		line = failed[0].Name
		if text := report.MessageLine(failed[0].Message); text != "" {
			line += ": " + text
		}
	}
	line = cmp.Or(line, fmt.Sprintf("exit code %d and no output", r.ExitCode))
	return short(line, 200)
}
