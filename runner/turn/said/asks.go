package said

import (
	"regexp"
	"strings"
	"sync"

	"ralph/logs/termtext"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/state"
)

// Bounds of a question that stands in a final message.
const (
	maxQuestion = 2000 // bytes
	maxContext  = 4000
	maxOptions  = 12
)

// Asks returns what a turn asks a person: what it called a tool for, else the question of
// a status block that says BLOCKED, else, of a message that ends with a question, its last
// paragraph, unless that only asks whether to go on.
func Asks(final string, byTool []state.Ask, class ending.Class) []state.Ask {
	if len(byTool) > 0 {
		return byTool
	}
	if s, ok := statusblock.Parse(final); ok {
		text := s.Question
		if text == "" && strings.HasSuffix(strings.TrimRight(s.Recommendation, " \"')*_`"), "?") {
			text = s.Recommendation
		}
		if s.Status != statusblock.Blocked || !worthAsking(text) {
			return nil
		}
		a := state.Ask{Text: bounded(text, maxQuestion)}
		for option := range strings.SplitSeq(s.Options, "|") {
			if option = termtext.Line(option); option != "" && len(a.Options) < maxOptions {
				a.Options = append(a.Options, option)
			}
		}
		return []state.Ask{a}
	}
	if text := lastParagraph(final); class == ending.QuestionAsked && worthAsking(text) && !onlyLeave(text) {
		return []state.Ask{{Text: bounded(text, maxQuestion)}}
	}
	return nil
}

// worthAsking refuses what is no question but a form left empty, such as "none" or "-".
func worthAsking(text string) bool {
	switch strings.ToLower(strings.Trim(text, " .-<>[]\"'`")) {
	case "", "none", "n/a", "no", "nothing":
		return false
	}
	return true
}

// leave matches a question whether to go on, and nothing else.
var leave = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(shall|should|may|can|could|do you want|would you like|want) (i|we|me)( to)?( now)? ` +
		`(go on|go ahead|continue|proceed|carry on|keep going|move on|start|begin)\b[^?]{0,80}\?\W*$`)
})

// onlyLeave is true if an agent only asks whether it may go on. The plan has answered that, and a
// run must not wait for a person who is asleep.
func onlyLeave(text string) bool { return strings.Count(text, "?") == 1 && leave().MatchString(text) }

// Context is the end of a final message, without its status block: why the agent asks.
func Context(final string) string {
	var kept []string
	for line := range strings.Lines(termtext.Clean(final)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "```") && !statusLine(strings.ToLower(strings.TrimSpace(line))) {
			kept = append(kept, strings.TrimRight(line, " \r\n"))
		}
	}
	text := strings.TrimSpace(strings.Join(kept, "\n"))
	if len(text) > maxContext {
		text = "[...]\n" + strings.ToValidUTF8(text[len(text)-maxContext:], "")
	}
	return text
}

func lastParagraph(final string) string {
	text := strings.TrimSpace(termtext.Clean(final))
	return strings.TrimSpace(text[strings.LastIndex(text, "\n\n")+1:])
}

func bounded(text string, most int) string {
	text = strings.TrimSpace(termtext.Clean(text))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " [...]"
	}
	return text
}
