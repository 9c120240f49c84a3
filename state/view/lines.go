package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/state"
)

// Role is the kind of a line. Screens mark and colour lines by it.
type Role uint8

// The roles.
const (
	RoleText    Role = iota // the agent's words
	RoleTool                // a tool call
	RoleAnswer              // a tool's result
	RoleError               // a failure
	RoleHeading             // start and end of a run, start of an iteration
	RoleNote                // from ralph
	RoleResult              // the agent's final message
	RoleGood                // a success
	RoleWarning             // about the work: a flaky check, an old failure
	RoleTold                // feedback in the agent's next prompt
)

// String returns the name of the role: "text", "tool", ...
func (r Role) String() string {
	return [...]string{"text", "tool", "answer", "error", "heading", "note", "result", "good", "warning", "told"}[r]
}

// Line is one line of a log: clean text without tabs and line ends.
type Line struct {
	At    time.Time `json:"at,omitzero"` // time of the event; zero except on the first line of a text
	Text  string    `json:"text"`
	Role  Role      `json:"role"`
	First bool      `json:"first,omitempty"` // first line of a text
	Sub   bool      `json:"sub,omitempty"`   // from a sub-agent
}

// LineOptions says how events become lines.
type LineOptions struct {
	// Dir is the project: paths in it are shown relative to it. Empty: paths stay
	// as they are.
	Dir string
	// Whole shows texts in full, except answers of tools.
	Whole bool
}

// Bounds of what is shown.
const (
	MaxLine    = 4096     // runes of one line
	maxText    = 400      // lines of one text
	maxAnswer  = 8        // lines of a tool's answer
	maxHunk    = 12       // lines of an edit
	maxFailure = 30       // lines of a failure
	maxSpoken  = 64 << 10 // bytes
	lineAnswer = 100      // runes for each of these lines, on average
)

// entry is one text of an event.
type entry struct {
	role Role
	text string
	most int // lines that are shown; 1: white space is folded into one line
}

// Lines formats an event for a log. Some events have no lines.
func Lines(e state.Event, o LineOptions) []Line {
	var all []Line
	for _, told := range entries(e, o) {
		lines := told.lines(o)
		if len(lines) > 0 {
			lines[0].At, lines[0].First = e.Time, true
		}
		all = append(all, lines...)
	}
	if ofSubAgent(e) {
		for i := range all {
			all[i].Sub = true
		}
	}
	return all
}

func ofSubAgent(e state.Event) bool {
	switch d := e.Data.(type) {
	case state.Tool:
		return d.Parent != ""
	case state.ToolResult:
		return d.Tool.Parent != ""
	}
	return false
}

var statusBlock = lazy.Regexp(`(?s)---RALPH_STATUS---.*?---END_RALPH_STATUS---`)

// statusLine says in one line what a person wants to know of a status block.
func statusLine(block string) string {
	var all []string
	for line := range strings.Lines(block) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ":"); key {
		case "STATUS", "TESTS_STATUS", "EXIT_SIGNAL", "RECOMMENDATION", "QUESTION":
			all = append(all, strings.ToLower(strings.ReplaceAll(key, "_", " "))+strings.TrimRight(" "+strings.TrimSpace(value), " "))
		}
	}
	return strings.Join(all, " · ")
}

// lines splits the text. Beyond the limit it says how many lines are missing.
func (t entry) lines(o LineOptions) []Line {
	text, most, width := t.text, t.most, MaxLine
	if t.role == RoleText || t.role == RoleResult {
		text = statusBlock().ReplaceAllStringFunc(text, statusLine)
	}
	if o.Whole {
		width = len(text)
	}
	if most == 1 {
		text = termtext.Line(clip(text, width))
	} else {
		text = strings.Trim(expand(text), "\n")
		text = strings.TrimRight(text, "\n ")
		if o.Whole { // with its tabs expanded it is longer
			width = len(text)
		}
	}
	if text == "" {
		return nil
	}
	total := 1 + strings.Count(text, "\n")
	room := most * lineAnswer // one line can be as long as a book
	if o.Whole && t.role != RoleAnswer {
		most, room = total, len(text)
	} else if most == maxText || most == 1 {
		room = most * width
	}
	var all []Line
	for part := range strings.SplitSeq(text, "\n") {
		if len(all) == most || room <= 0 {
			more := Line{Text: fmt.Sprintf("… %s more", termtext.Count(total-len(all), "line")), Role: t.role}
			return append(all, more)
		}
		all = append(all, Line{Text: clip(part, min(width, max(room, lineAnswer))), Role: t.role})
		room -= len(part)
	}
	return all
}

// expand cleans text and expands tabs, which have no fixed width.
func expand(text string) string {
	return strings.ReplaceAll(termtext.Clean(text), "\t", "    ")
}

// RawLines splits raw output of an agent into lines.
func RawLines(text string) []Line {
	var all []Line
	for part := range strings.SplitSeq(expand(text), "\n") {
		all = append(all, Line{Text: clip(part, MaxLine)})
	}
	return all
}

// Log formats the events of a run in order. It does not repeat a message or a reason.
type Log struct {
	LineOptions
	spoken   []byte         // the texts of the call, as much as a final message can be
	called   string         // id of the tool call that was shown last
	decision state.Decision // the latest
	open     map[int]bool   // iterations that have begun and not ended
	told     []string       // why the call failed
}

// Lines formats the next event.
func (l *Log) Lines(e state.Event) []Line {
	all := l.below(e, l.once(e, l.lines(e)))
	if of := l.iterationPrefix(e); of != "" {
		for i := range all {
			all[i].Text = of + all[i].Text
		}
	}
	return all
}

// once leaves out why a call failed where that was told before: agents report it up to three times, and then ralph does.
func (l *Log) once(e state.Event, all []Line) (kept []Line) {
	detail := ""
	switch d := e.Data.(type) {
	case state.IterationStart:
		l.told = nil
	case state.IterationEnd:
		detail = termtext.Line(d.Detail)
	}
	reports := e.Kind == state.KindError || e.Kind == state.KindResult
	for _, line := range all {
		text := strings.TrimPrefix(line.Text, "result: ")
		if reports && line.Role == RoleError && line.First {
			if slices.Contains(l.told, text) {
				continue
			}
			l.told = append(l.told, text)
		} else {
			for _, told := range slices.Backward(l.told) {
				line.Text = strings.Replace(line.Text, ": "+told, "", 1)
			}
		}
		if kept = append(kept, line); detail != "" {
			l.told, detail = append(l.told, detail), ""
		}
	}
	return kept
}

// below puts a line that names the call above an answer that does not follow its call: tools
// that run side by side answer in any order.
func (l *Log) below(e state.Event, lines []Line) []Line {
	if len(lines) == 0 {
		return nil
	}
	called := l.called
	l.called = ""
	switch d := e.Data.(type) {
	case state.Tool:
		l.called = d.ID
	case state.ToolResult:
		if d.Tool.Name != "" && d.Tool.ID != called {
			call := Line{At: e.Time, Text: termtext.Line("answer to " + toolText(d.Tool, l.Dir)), Role: RoleTool,
				First: true, Sub: lines[0].Sub}
			lines[0].At, lines = time.Time{}, append([]Line{call}, lines...)
		}
	}
	return lines
}

func (l *Log) lines(e state.Event) []Line {
	switch d := e.Data.(type) {
	case state.Text:
		l.spoken = append(append(l.spoken, d.Text...), '\n')
		l.spoken = l.spoken[max(len(l.spoken)-maxSpoken, 0):]
	case state.FinalMessage:
		text, spoken := strings.TrimSpace(d.Text), strings.TrimSpace(string(l.spoken))
		l.spoken = nil
		if !d.Error && text != "" && strings.HasSuffix(spoken, text) {
			return []Line{{At: e.Time, Text: "final message, as above", Role: RoleResult, First: true}}
		}
	case state.IterationStart:
		l.spoken = nil
	case state.Decision:
		l.decision = d
	case state.RunEnd:
		if d.Rule == l.decision.Rule && d.Reason == l.decision.Reason {
			d.Decision = state.Decision{}
			e.Data = d
		}
	case state.IterationEnd:
		l.decision = d.Decision
	}
	return Lines(e, l.LineOptions)
}

// Render formats the next event for live.log. The text is clean and ends with a newline; it
// is empty for events without lines.
func (l *Log) Render(e state.Event) string {
	var b strings.Builder
	for _, l := range l.Marked(e) {
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// Marked formats the next event for live.log and the console: a mark at the beginning of
// each line shows its role without colors.
func (l *Log) Marked(e state.Event) []Line {
	all := l.Lines(e)
	switch d := e.Data.(type) {
	case state.SessionStart:
		return nil
	case state.FinalMessage:
		if !d.Error {
			return nil // the final message repeats the last text
		}
	}
	for i := range all {
		all[i].Text = strings.TrimRight(mark(e.Kind, all[i], i)+all[i].Text, " ")
	}
	if e.Kind == state.KindIterationStart {
		all = append([]Line{{}}, all...)
	}
	return all
}

// iterationPrefix says which iteration a line is about; empty: only one is under way, or the line names it.
func (l *Log) iterationPrefix(e state.Event) string {
	switch e.Data.(type) {
	case state.RunStart:
		l.open = nil
	case state.IterationStart:
		l.opens(e.Iteration)
		return ""
	case state.Text, state.Tool: // it may have begun before the log that is shown
		l.opens(e.Iteration)
	case state.IterationEnd:
		delete(l.open, e.Iteration)
		return ""
	}
	if e.Iteration == 0 || len(l.open) < 2 {
		return ""
	}
	return fmt.Sprintf("[%d] ", e.Iteration)
}

func (l *Log) opens(n int) {
	if l.open == nil {
		l.open = map[int]bool{}
	}
	l.open[n] = true
}

// mark returns the prefix of a line. number is its index in the event.
func mark(k state.Kind, l Line, number int) string {
	switch {
	case l.Role == RoleText: // the agent's words must not look like a line of ralph's
		return "| "
	case l.Role == RoleError && (k == state.KindToolResult || k == state.KindError || k == state.KindResult):
		return "| ! "
	case number == 0 && (k == state.KindIterationStart || k == state.KindIterationEnd):
		return "--- "
	case l.Role == RoleHeading:
		return "=== "
	case l.Role == RoleTool:
		return "> "
	case l.Role == RoleError && (k != state.KindCheck || number == 0):
		return "! "
	case l.Role == RoleAnswer || !l.First:
		return "  "
	}
	return "= "
}

// slotPath begins a path in a worktree of a run's turns (runner/slots).
var slotPath = lazy.Regexp(`/[^\s"'` + "`" + `]*?/slots/[^/\s]+-[0-9a-f]{8}/\d+/[^/;\n]+/`)

// Within makes the paths in text relative to dir, the project; also those in worktrees of turns side by side.
func Within(dir, text string) string {
	if dir == "" || dir == string(filepath.Separator) {
		return text
	}
	text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
	if strings.Contains(text, "/slots/") {
		text = slotPath().ReplaceAllString(text, "")
	}
	return text
}
