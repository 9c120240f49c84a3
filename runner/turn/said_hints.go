package turn

// The files said_*.go compare what an agent says about its work with the plan and the
// files, and read hints from its words. They decide nothing.

import (
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/agent/statusblock"
	"ralph/state"
)

// The phrases that Words looks for, the longer ones first: if two overlap, only the
// first counts. All are in lower case.
var (
	completion = []string{"all tasks are complete", "all tasks complete", "all tasks are done", "project is complete",
		"project complete", "project ready", "completed", "complete", "finished", "done"}
	noWork = []string{"nothing to do", "nothing left to do", "nothing to change", "no changes needed",
		"no changes are needed", "no changes required",
		"no changes", "no work left", "already implemented", "already complete", "already done", "already exists"}
	saidStuck = []string{"unable to", "not able to", "cannot", "can't", "could not", "couldn't", "failed", "failing",
		"errors", "error", "blocked", "stuck"}
)

// Confidence in percent: how sure the final message sounds that everything is done.
const (
	sure      = 100 // if the status block says so
	notYet    = 20  // at most, if the block says otherwise
	perPhrase = 25  // for each phrase of completion or of nothing to do
	perDoubt  = 25  // less, for each phrase of being stuck
)

// hintsIn returns the hints in a final message. It ignores the status block and quotations.
func hintsIn(final string) state.Hints {
	text := prose(final)
	h := state.Hints{NoWork: found(text, noWork)}
	for _, phrase := range h.NoWork {
		text = strings.ReplaceAll(text, phrase, ";") // "already done" is not a word of completion
	}
	h.Completion, h.Stuck = found(text, completion), found(text, saidStuck)
	h.Confidence = (len(h.Completion)+len(h.NoWork))*perPhrase - len(h.Stuck)*perDoubt
	h.Confidence = min(max(h.Confidence, 0), sure)
	if signal, ok := statusblock.Parse(final); ok && signal.Exit {
		h.Confidence = sure
	} else if ok {
		h.Confidence = min(h.Confidence, notYet)
	}
	return h
}

// prose returns the message in lower case, with single spaces between words, without code,
// quotations and the lines of a status block.
func prose(final string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(termtext.Clean(final)) {
		line = strings.ToLower(strings.TrimSpace(line))
		switch {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, ">"), statusLine(line):
		default:
			b.WriteString(strings.Join(strings.Fields(withoutCode(line)), " ") + " ; ")
		}
	}
	return strings.ReplaceAll(b.String(), "’", "'")
}

// statusLine reports whether the line looks like one of a status block. A message seldom has
// such a line elsewhere.
func statusLine(line string) bool {
	line = strings.TrimLeft(line, "-*+#_` ")
	for _, key := range [...]string{"ralph_status", "end_ralph_status", "status", "exit_signal", "tasks_completed",
		"files_modified", "tests_status",
		"work_type", "recommendation", "story_id", "question:", "options:", "<promise>"} {
		if strings.HasPrefix(line, key) {
			return true
		}
	}
	return false
}

// withoutCode drops the code spans of a line.
func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	if len(parts)%2 == 0 {
		return line // an unpaired backquote
	}
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i] + " ")
	}
	return b.String()
}

// found returns the phrases that the text contains, in the order of the list.
func found(text string, phrases []string) []string {
	var hits []string
	for _, phrase := range phrases {
		if says(text, phrase) {
			hits = append(hits, phrase)
			text = strings.ReplaceAll(text, phrase, ";")
		}
	}
	return hits
}

// says reports whether the text contains the phrase in whole words and does not negate it.
func says(text, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(phrase)
		if !inWord(text, start-1) && !inWord(text, end) && !negated(text[:start]) && !subject(text[end:]) {
			return true
		}
		from = end
	}
}

func inWord(text string, i int) bool {
	return i >= 0 && i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= '0' && text[i] <= '9' ||
		text[i] == '_' || text[i] == '-')
}

// subject reports whether the phrase only names what the work was about: "error handling".
func subject(after string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
	switch strings.Trim(word, ".,:;!?()") {
	case "handling", "handler", "handlers", "message", "messages", "case", "cases", "path", "paths", "type", "types",
		"code", "codes", "page", "pages":
		return strings.HasPrefix(after, " ")
	}
	return false
}

// negated reports whether one of the last three words before a phrase reverses its meaning,
// or says what the work was about: "no errors", "not yet done", "0 tests failed",
// "returns an error".
func negated(before string) bool {
	before = before[strings.LastIndexAny(before, ".;:,!?(")+1:]
	words := strings.Fields(before)
	return slices.ContainsFunc(words[max(0, len(words)-3):], func(w string) bool {
		switch w {
		case "no", "not", "never", "none", "without", "zero", "0", "fixed", "repaired", "solved", "handles", "handle",
			"returns", "return", "throws", "raises", "reports", "when", "if", "once", "until", "cannot",
			"can't", "unable":
			return true
		}
		return strings.HasSuffix(w, "n't")
	})
}
