package gate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ralph/runner/gate/report"
)

const (
	feedbackBudget = 16 << 10 // of Report.Feedback
	namesBudget    = 1 << 10  // of names whose messages have no room
	leastMessage   = 300      // a shorter piece of a message says nothing
	checksTold     = 6        // in full; the others by name
)

// Report is what one run of a Suite found.
type Report struct {
	Mode      Mode     `json:"mode"`
	Results   []Result `json:"results"`             // in the order in which they ran
	Untouched int      `json:"untouched,omitempty"` // checks left out, because nothing changed in their packages
	Baseline  bool     `json:"baseline,omitempty"`  // it became the baseline
}

// Blocking are the results that do not let anything count as done.
func (r Report) Blocking() []Result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(x Result) bool { return !x.Blocks })
}

// Blocked tells whether there is any.
func (r Report) Blocked() bool { return len(r.Blocking()) > 0 }

// Blamed tells whether something blocks that was not red before: what counts
// against the agent.
func (r Report) Blamed() bool {
	return slices.ContainsFunc(r.Results, func(x Result) bool { return x.Blocks && x.Verdict == VerdictFailed })
}

// KnownRed names the required checks that are as red as before the run.
func (r Report) KnownRed() []string {
	var names []string
	for _, x := range r.Results {
		if x.Verdict == VerdictKnown && x.Check.Required() {
			names = append(names, x.Name)
		}
	}
	return names
}

// Answer is the strongest on_failure of what blocks; empty when nothing does.
func (r Report) Answer() OnFailure {
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

// Findings is one line for people for each check that did more than simply pass
// or fail.
func (r Report) Findings() []string {
	var lines []string
	for _, x := range r.Results {
		if x.Reason != "" && !x.justFailed() && !strings.HasPrefix(x.Reason, notRun) {
			lines = append(lines, fmt.Sprintf("%s: %s", x.Name, x.Reason))
		}
	}
	if r.Untouched > 0 {
		lines = append(lines, fmt.Sprintf("%s left out: nothing changed in the packages", count(r.Untouched, "check", "checks")))
	}
	return lines
}

// justFailed is true for a required check about whose failure nothing is known but
// its output.
func (r Result) justFailed() bool {
	return r.Verdict == VerdictFailed && r.Check.Required() && !r.TimedOut && len(r.Blamed)+len(r.Known)+len(r.Flaky) == 0
}

// reason is the sentence behind a verdict.
func reason(r Result, f *Flakes) string {
	var parts []string
	switch {
	case len(r.Blamed) > 0:
		parts = append(parts, fmt.Sprintf("%s: %s", count(len(r.Blamed), "test fails", "tests fail"), some(names(r.Blamed))))
	case r.Verdict == VerdictFailed && r.TimedOut:
		parts = append(parts, "ended because it took too long")
	case r.Verdict == VerdictFailed:
		parts = append(parts, fmt.Sprintf("fails (exit code %d)", r.ExitCode))
	}
	switch {
	case len(r.Known) > 0:
		parts = append(parts, "red before the run: "+some(r.Known))
	case r.Verdict == VerdictKnown:
		parts = append(parts, "red before the run")
	}
	if len(r.Flaky) > 0 {
		flaky := slices.Clone(r.Flaky)
		for i, name := range flaky {
			if n := f.times(r.Name, name); n > 1 {
				flaky[i] = fmt.Sprintf("%s (%d times so far)", name, n)
			}
		}
		parts = append(parts, "flaky, failed in one of two runs: "+some(flaky))
	}
	if len(parts) > 0 && !r.Check.Required() && r.Verdict == VerdictFailed {
		parts = append(parts, "not required")
	}
	return strings.Join(parts, "; ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Feedback is the text for the next prompt, at most 16 KiB: for each check that
// blocks how to reproduce it, the failed tests with their messages first. Empty
// when nothing blocks.
func (r Report) Feedback() string {
	blocking := r.Blocking()
	told := blocking[:min(len(blocking), checksTold)]
	var texts []string
	left := feedbackBudget
	if more := blocking[len(told):]; len(more) > 0 {
		text := fmt.Sprintf("And %s: ", count(len(more), "more required check fails", "more required checks fail"))
		for i, x := range more {
			if i > 0 {
				text += ", "
			}
			text += x.Name
		}
		texts = append(texts, short(text, namesBudget))
		left -= namesBudget
	}
	for i, x := range told {
		text := x.feedback(left/(len(told)-i) - 2)
		left -= len(text) + 2
		texts = slices.Insert(texts, i, text)
	}
	return strings.Join(texts, "\n\n")
}

// feedback is the text about one result within a budget of bytes.
func (r Result) feedback(budget int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The required check %q fails", short(r.Name, 200))
	switch {
	case r.Verdict == VerdictKnown:
		b.WriteString(". It failed before your work too, but nothing is done until it passes")
	case len(r.Blamed) > 0:
		b.WriteString(": " + count(len(r.Blamed), "test", "tests"))
	case r.TimedOut:
		b.WriteString(": it took too long and was ended")
	}
	if r.First != nil && r.Verdict == VerdictFailed {
		b.WriteString(" (twice in a row)")
	}
	fmt.Fprintf(&b, ". Reproduce it with:\n\n    %s\n", short(r.Command, budget/3))
	if len(r.Known) > 0 && len(r.Blamed) > 0 {
		fmt.Fprintf(&b, "\nRed before your work, not caused by it: %s\n", short(some(r.Known), namesBudget))
	}
	tests := r.Blamed
	if r.Verdict == VerdictKnown {
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

// writeTests shares what is left of the budget among the messages; a short one
// leaves more to the others.
func writeTests(b *strings.Builder, tests []report.Test, budget int) {
	for i, t := range tests {
		room := budget - b.Len() - namesBudget/2
		share := room/(len(tests)-i) - len(t.Name) - 20
		if share < leastMessage {
			share = min(leastMessage, room-len(t.Name)-20)
		}
		if share < leastMessage && len(t.Message) > share {
			fmt.Fprintf(b, "\nAnd %d more: %s\n", len(tests)-i, short(strings.Join(names(tests[i:]), ", "), namesBudget/2-60))
			return
		}
		fmt.Fprintf(b, "\n%s\n%s\n", t.Name, cut(t.Message, share*2/3, share/3))
	}
}

// short keeps the beginning of a line.
func short(line string, most int) string {
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most-3], "") + "..."
}

// cut keeps the beginning and the end of a text, whole lines where it can, in
// at most head+tail bytes.
func cut(text string, head, tail int) string {
	const gap = "\n... (%d bytes left out) ...\n"
	if len(text) <= head+tail || head+tail <= 0 {
		return text[:min(len(text), max(head+tail, 0))]
	}
	head = max(head-len(gap)-6, 0)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	if i := strings.LastIndexByte(text[:head], '\n'); i > head/2 {
		head = i
	}
	from := len(text) - tail
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	if i := strings.IndexByte(text[from:], '\n'); i >= 0 && i < tail/2 {
		from += i + 1
	}
	return text[:head] + fmt.Sprintf(gap, from-head) + text[from:]
}

// FirstLine is the line that says best what failed: the first failed test with
// the line of its message that does, else a line of the output. Empty for a
// check that passed.
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
	return short(line, 200)
}
