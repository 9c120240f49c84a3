package turn

import (
	"slices"
	"strings"

	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/task"
	"ralph/state"
)

// Limits of a question in a final message.
const (
	maxQuestion = 2000 // bytes
	maxContext  = 4000
	maxOptions  = 12
)

// askedIn returns what a turn asks a person: the questions that it asked with a tool, else the question of
// a status block that says BLOCKED or of the text before it, else the last paragraph of a message that ends with a question,
// unless that only asks whether to continue.
func askedIn(final string, byTool []state.Ask, class ending.Class) []state.Ask {
	if len(byTool) > 0 {
		return byTool
	}
	if s, ok := statusblock.Parse(final); ok {
		text := s.Question
		if text == "" && strings.HasSuffix(strings.TrimRight(s.Recommendation, " \"')*_`"), "?") {
			text = s.Recommendation
		}
		if text == "" && s.Status == statusblock.Blocked {
			text = questionIn(AskContext(final))
		}
		if s.Status != statusblock.Blocked || !worthAsking(text) {
			return nil
		}
		a := state.Ask{Text: truncate(text, maxQuestion)}
		for option := range strings.SplitSeq(s.Options, "|") {
			if option = termtext.Line(option); option != "" && len(a.Options) < maxOptions {
				a.Options = append(a.Options, option)
			}
		}
		return []state.Ask{a}
	}
	if text := lastParagraph(final); class == ending.QuestionAsked && worthAsking(text) && !onlyPermission(text) {
		return []state.Ask{{Text: truncate(text, maxQuestion)}}
	}
	return nil
}

// questionIn returns the last paragraph with a line that asks something, unless that only asks whether to continue.
func questionIn(text string) string {
	for _, paragraph := range slices.Backward(strings.Split(text, "\n\n")) {
		for line := range strings.Lines(paragraph) {
			line = strings.TrimRight(line, " \r\n\"')*_`")
			if (strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？")) && !onlyPermission(paragraph) {
				return paragraph
			}
		}
	}
	return ""
}

// worthAsking is false for an empty field such as "none" or "-".
func worthAsking(text string) bool {
	return !slices.Contains([]string{"", "none", "n/a", "no", "nothing"}, strings.ToLower(strings.Trim(text, " .-<>[]\"'`")))
}

// permission matches a question that only asks whether to continue.
var permission = lazy.Regexp(`(?i)\b(shall|should|may|can|could|do you want|would you like|want) (i|` +
	`we|me)( to)?( now)? (go on|go ahead|continue|proceed|carry on|keep going|move on|start|` +
	`begin)\b[^?]{0,80}\?\W*$`)

// onlyPermission is true if an agent only asks whether it may continue. The plan has answered that, and a
// run must not wait for a person who is asleep.
func onlyPermission(text string) bool {
	return strings.Count(text, "?") == 1 && permission().MatchString(text)
}

// AskContext returns the end of a final message, without its status block: it shows why the agent asks.
func AskContext(final string) string {
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

func truncate(text string, most int) string {
	text = strings.TrimSpace(termtext.Clean(text))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " [...]"
	}
	return text
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

// ClaimsDone reports whether a final message says that this task is done: in its status block, by
// "TASK: id" or by a story_id with the status COMPLETE. That counts like a mark in the
// plan, which still has to be proved.
func ClaimsDone(final string, t task.Task) bool {
	signal, ok := statusblock.Parse(final)
	if !ok || t.ID == "" || signal.Status == statusblock.Blocked || signal.Status == statusblock.Error {
		return false
	}
	return saidPlain(signal.Task) == saidPlain(t.ID) || signal.Status == statusblock.Complete &&
		saidPlain(signal.StoryID) == saidPlain(t.ID)
}

// confirms reports whether the final message of a turn that has to check an earlier tick says that the task is done. The
// turn has no other work, so that all is complete is enough.
func confirms(final string, t task.Task) bool {
	signal, ok := statusblock.Parse(final)
	return ok && (signal.Status == statusblock.Complete || signal.Exit && signal.Status != statusblock.Blocked && signal.Status != statusblock.Error) &&
		signal.Task+signal.StoryID == "" ||
		ClaimsDone(final, t)
}

var (
	zeros      = lazy.Regexp(`\b0+(\d)`)
	separators = lazy.Regexp(`[^\p{L}\p{N}.]+`)
)

// saidPlain removes what people and agents spell differently: "US-001" and
// "[us 1]" become the same.
func saidPlain(name string) string {
	name = strings.TrimSpace(separators().ReplaceAllString(strings.ToLower(name), " "))
	return zeros().ReplaceAllString(strings.TrimRight(name, "."), "$1")
}

// refusedCalls splits refused tool calls into those that were denied and compound commands of
// which the list allows every part. It leaves out questions to the user.
func refusedCalls(calls []state.Tool, allowed []string) (denied, advised []state.Tool) {
	for _, c := range calls {
		switch {
		case agent.AsksUser(c.Name):
		case agent.CompoundAllowed(c.Name, c.Arg, allowed):
			advised = append(advised, c)
		default:
			denied = append(denied, c)
		}
	}
	return denied, advised
}
