package agent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/runner/agent/wire"
)

// The values of Signal.Status.
const (
	StatusComplete   = "COMPLETE"
	StatusInProgress = "IN_PROGRESS"
	StatusBlocked    = "BLOCKED"
)

// Signal is the status block of an agent's final message.
type Signal struct {
	Status string // StatusComplete, StatusInProgress, StatusBlocked or empty
	// Exit is true when the agent says that the whole work is done. Without an
	// EXIT_SIGNAL a status of COMPLETE says so.
	Exit           bool
	HasExit        bool // EXIT_SIGNAL was given
	TasksCompleted int
	FilesModified  int
	Tests          string // PASSING, FAILING, NOT_RUN or empty
	WorkType       string
	Recommendation string
	StoryID        string
}

const (
	blockStart = "---RALPH_STATUS---"
	blockEnd   = "---END_RALPH_STATUS---"
	yamlStart  = "RALPH_STATUS:"
	promise    = "<promise>COMPLETE</promise>"
)

// ParseSignal reads the last status block of a final message, in any of its
// forms; false when there is none. Blocks that only quote the template do not
// count, nor do quotations ("> …"). A block inside a code fence counts when it
// closes the message: agents like to fence their status, but what stands in
// the middle is an example. A promise never overrules an EXIT_SIGNAL: false.
func ParseSignal(final string) (Signal, bool) {
	var found, block Signal
	var ok, isBlock bool
	lines := strings.Split(strings.ReplaceAll(final, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		var s Signal
		var good, byPromise bool
		next := i
		switch {
		case isFence(line):
			next = fenceEnd(lines, i)
			s, good = parseFence(lines[i+1:min(next, len(lines))], blank(lines, next+1))
		case plain(line) == promise:
			s, good, byPromise = Signal{Status: StatusComplete, Exit: true, HasExit: true}, true, true
		default:
			s, next, good = parseBlock(lines, i)
		}
		i = max(i, next)
		if !good || byPromise && isBlock && block.HasExit && !block.Exit {
			continue
		}
		found, ok = s, true
		if !byPromise {
			block, isBlock = s, true
		}
	}
	return found, ok
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// fenceEnd is the index of the line that closes the fence opened at i.
func fenceEnd(lines []string, i int) int {
	mark := strings.TrimSpace(lines[i])[:3]
	for j := i + 1; j < len(lines); j++ {
		if l := strings.TrimSpace(lines[j]); strings.HasPrefix(l, mark) && strings.Trim(l, mark[:1]) == "" {
			return j
		}
	}
	return len(lines)
}

// parseFence reads the content of a code fence; last is true when nothing
// follows it.
func parseFence(lines []string, last bool) (Signal, bool) {
	if s, explicit, ok := parseJSON(strings.Join(lines, "\n")); ok && (explicit || last) {
		return s, true
	}
	if !last {
		return Signal{}, false
	}
	var found Signal
	var ok bool
	for i := 0; i < len(lines); i++ {
		s, next, good := parseBlock(lines, i)
		if good {
			found, ok = s, true
		}
		if strings.TrimSpace(lines[i]) == promise {
			found, ok = Signal{Status: StatusComplete, Exit: true, HasExit: true}, true
		}
		i = max(i, next)
	}
	return found, ok
}

func blank(lines []string, from int) bool {
	return from >= len(lines) || !slices.ContainsFunc(lines[from:], func(l string) bool { return strings.TrimSpace(l) != "" })
}

// parseBlock reads a block that begins at line i. next is its last line.
func parseBlock(lines []string, i int) (s Signal, next int, ok bool) {
	head := plain(lines[i])
	dashed := strings.EqualFold(head, blockStart)
	if !dashed && !strings.EqualFold(strings.TrimLeft(head, "# "), yamlStart) {
		return s, i, false
	}
	exitKey := false
	for next = i + 1; next < len(lines); next++ {
		line := plain(lines[next])
		if strings.EqualFold(line, blockEnd) {
			break
		}
		if strings.EqualFold(line, blockStart) || isFence(line) {
			next--
			break
		}
		if line == "" {
			if dashed {
				continue
			}
			break
		}
		key, value, pair := strings.Cut(line, ":")
		if !pair && !dashed {
			next--
			break
		}
		exitKey = s.set(strings.ToUpper(strings.TrimSpace(strings.Trim(key, "*_` "))), plain(value)) || exitKey
	}
	if !exitKey {
		s.Exit = s.Status == StatusComplete
	}
	return s, min(next, len(lines)-1), s.Status != "" || s.HasExit
}

// set stores one key and reports whether it was the exit signal, with a value or without.
func (s *Signal) set(key, value string) bool {
	switch key {
	case "STATUS":
		s.Status = choice(value, StatusComplete, StatusInProgress, StatusBlocked)
	case "EXIT_SIGNAL":
		v := choice(value, "TRUE", "FALSE")
		s.HasExit, s.Exit = v != "", v == "TRUE"
		return true
	case "TASKS_COMPLETED_THIS_LOOP", "TASKS_COMPLETED":
		s.TasksCompleted = number(value)
	case "FILES_MODIFIED":
		s.FilesModified = number(value)
	case "TESTS_STATUS":
		s.Tests = choice(value, "PASSING", "FAILING", "NOT_RUN")
	case "WORK_TYPE":
		if w, rest, _ := strings.Cut(value, " "); !alternatives(rest) {
			s.WorkType = strings.ToUpper(w)
		}
	case "RECOMMENDATION":
		s.Recommendation = value
	case "STORY_ID":
		s.StoryID = value
	}
	return false
}

// choice returns the one of the words that value is, empty for anything else:
// the template lists them all ("true | false").
func choice(value string, words ...string) string {
	first, rest, _ := strings.Cut(strings.ToUpper(value), " ")
	first = strings.Trim(first, ".,;!\"'*_`")
	if i := slices.Index(words, first); i >= 0 && !alternatives(rest) {
		return words[i]
	}
	return ""
}

func alternatives(rest string) bool {
	rest = strings.TrimSpace(rest)
	return strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "/") || strings.HasPrefix(strings.ToUpper(rest), "OR ")
}

func number(value string) int {
	first, _, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(first)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// plain strips the markdown around a line: list marks and emphasis.
func plain(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range [...]string{"- ", "* ", "+ "} {
		line = strings.TrimPrefix(line, mark)
	}
	line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "*`"))
	return strings.TrimSpace(strings.TrimPrefix(line, "** "))
}

// parseJSON reads the JSON form. explicit is true when it has an exit signal.
func parseJSON(text string) (s Signal, explicit, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return s, false, false
	}
	obj := wire.Members(gjson.Result{Type: gjson.JSON, Raw: text})
	for _, name := range [...]string{"RALPH_STATUS", "ralph_status"} {
		if inner := obj.Get(name); inner.IsObject() {
			obj = wire.Members(inner)
		}
	}
	s.set("STATUS", obj.Text("status"))
	if explicit = obj.Has("exit_signal"); explicit {
		s.set("EXIT_SIGNAL", obj.Text("exit_signal"))
	} else {
		s.Exit = s.Status == StatusComplete
	}
	s.StoryID, s.Recommendation = obj.Text("story_id"), obj.Text("recommendation")
	if files := obj.Get("files_modified"); files.IsArray() {
		s.FilesModified = len(files.Array())
	} else {
		s.FilesModified = number(files.String())
	}
	s.set("WORK_TYPE", obj.Text("work_type"))
	s.set("TASKS_COMPLETED", obj.Text("tasks_completed_this_loop"))
	s.set("TESTS_STATUS", obj.Text("tests_status"))
	return s, explicit, s.Status != "" || s.HasExit
}
