package monitor

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ralph/state"
)

// role says what a line of the log is; it decides the marker and the style.
type role uint8

const (
	roleText role = iota
	roleTool
	roleAnswer // of a tool
	roleError
	roleBorder // between iterations and runs
	roleNote   // of ralph itself
	roleResult
	roleGood
	roleFinding // about the work: a flaky check, what was red before
	roleTold    // to the agent in its next prompt
)

// line is one line of the log: inert text without a newline. At is set on the
// first line of an entry only.
type line struct {
	at   time.Time
	text string
	role role
	sub  bool // of a sub-agent
}

const (
	maxLine    = 4096 // runes that are kept of one line
	maxEntry   = 400  // lines that are kept of one text
	maxAnswer  = 8    // lines that are shown of a tool's answer
	maxFailure = 30   // lines that are shown of a failure
)

// logger renders events for the log. It remembers what the agent has said, so
// that a final message that only repeats it is not shown twice.
type logger struct {
	dir  string // of the project; paths in it are shown without it
	said string
}

func (l *logger) lines(e state.Event) []line {
	if e.Tool != nil {
		tool := *e.Tool
		tool.Arg = within(l.dir, tool.Arg)
		e.Tool = &tool
	}
	switch text := strings.TrimSpace(e.Text); {
	case e.Kind == state.KindText:
		l.said = text
	case e.Kind == state.KindResult && !e.Error && text != "" && text == l.said:
		return entry(e, roleResult, "final message, as above", 1)
	}
	return logLines(e)
}

// within leaves the project's folder out of the paths in text.
func within(dir, text string) string {
	if dir == "" || dir == "/" {
		return text
	}
	return strings.ReplaceAll(text, dir+"/", "")
}

// logLines renders one event; none for those that the panels show.
func logLines(e state.Event) []line {
	switch e.Kind {
	case state.KindRunStart:
		return entry(e, roleBorder, led(" · ", "run "+e.Run, e.Text), 1)
	case state.KindIterationStart:
		return entry(e, roleBorder, join(" · ", fmt.Sprintf("iteration %d", e.Iteration), e.Text), 1)
	case state.KindSession:
		return entry(e, roleNote, join(" · ", prefixed("session ", e.Session), e.Model), 1)
	case state.KindText:
		return entry(e, roleText, e.Text, maxEntry)
	case state.KindTool:
		if e.Tool == nil {
			return entry(e, roleTool, e.Text, 1)
		}
		return entry(e, roleTool, join(" ", e.Tool.Name, e.Tool.Arg), 1)
	case state.KindToolResult:
		if e.Error {
			return entry(e, roleError, orElse(e.Text, "the tool failed"), maxFailure)
		}
		return entry(e, roleAnswer, e.Text, maxAnswer)
	case state.KindDenied:
		name := ""
		if e.Tool != nil {
			name = join(" ", e.Tool.Name, e.Tool.Arg)
		}
		return entry(e, roleError, join(": ", "denied", name, e.Text), maxFailure)
	case state.KindError:
		return entry(e, roleError, orElse(e.Text, strings.Join(e.Codes, " ")), maxFailure)
	case state.KindRetry:
		return entry(e, roleNote, join(": ", "retry", e.Text, strings.Join(e.Codes, " ")), 1)
	case state.KindLimit:
		if e.Limit == nil || !e.Limit.Rejected {
			return nil
		}
		return entry(e, roleError, join(": ", windowName(e.Limit.Kind)+" usage limit reached", e.Text), maxFailure)
	}
	return endLines(e)
}

// endLines renders the kinds that close something.
func endLines(e state.Event) []line {
	end := state.End{}
	if e.End != nil {
		end = *e.End
	}
	switch e.Kind {
	case state.KindResult:
		if e.Error {
			return entry(e, roleError, orElse(e.Text, strings.Join(e.Codes, " ")), maxFailure)
		}
		return entry(e, roleResult, e.Text, maxEntry)
	case state.KindGate:
		if e.Error {
			return entry(e, roleError, "check "+orElse(e.Text, "failed"), maxFailure)
		}
		return entry(e, roleGood, "check "+orElse(e.Text, "passed"), maxAnswer)
	case state.KindDecision:
		if lines := proofLines(e); lines != nil {
			return lines
		}
		text := led(": ", end.Rule, orElse(end.Reason, e.Text))
		if end.Action != end.Rule && strings.HasPrefix(text, end.Rule+": ") {
			text = join(", ", end.Action, text)
		}
		return entry(e, roleNote, text, 1)
	case state.KindIterationEnd:
		files, lasted := "", ""
		if end.Files > 0 {
			files = plural(end.Files, "file") + " changed"
		}
		if end.Duration > 0 {
			lasted = span(end.Duration)
		}
		return entry(e, roleNote, join(" · ", fmt.Sprintf("iteration %d ended", e.Iteration), end.Outcome, files, lasted), 1)
	case state.KindRunEnd:
		return entry(e, roleBorder, join(" · ", fmt.Sprintf("run ended, exit %d", end.Exit), join(": ", end.Rule, orElse(end.Reason, e.Text))), 1)
	}
	return nil
}

// led puts head before text, unless text begins with it.
func led(sep, head, text string) string {
	if head != "" && strings.HasPrefix(text, head) {
		return text
	}
	return join(sep, head, text)
}

func orElse(text, other string) string {
	if strings.TrimSpace(text) == "" {
		return other
	}
	return text
}

// entry splits text into lines, at most most of them, and says how many it
// left out. Text of one line has its spaces folded.
func entry(e state.Event, r role, text string, most int) []line {
	sub := e.Tool != nil && e.Tool.Parent != ""
	if most == 1 {
		text = oneLine(clip(text))
	} else {
		text = strings.TrimRight(clean(text), "\n ")
		text = strings.TrimLeft(text, "\n")
	}
	if text == "" {
		return nil
	}
	var all []line
	total := 1 + strings.Count(text, "\n")
	for part := range strings.SplitSeq(text, "\n") {
		if len(all) == most {
			all = append(all, line{text: fmt.Sprintf("… %s more", plural(total-most, "line")), role: r, sub: sub})
			break
		}
		all = append(all, line{text: clip(part), role: r, sub: sub})
	}
	all[0].at = e.Time
	return all
}

// clip cuts one line to what is kept of it.
func clip(s string) string {
	if len(s) <= maxLine || utf8.RuneCountInString(s) <= maxLine {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > maxLine {
			return fmt.Sprintf("%s… %s more", s[:i], plural(utf8.RuneCountInString(s[i:]), "character"))
		}
	}
	return s
}

// rawLines renders one line of an agent's own output.
func rawLines(text string) []line {
	var all []line
	for part := range strings.SplitSeq(clean(text), "\n") {
		all = append(all, line{text: clip(part)})
	}
	return all
}
