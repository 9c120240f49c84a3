// Package statusblock reads the block in which an agent reports its status, at
// the end of its final message:
//
//	---RALPH_STATUS---
//	STATUS: IN_PROGRESS
//	EXIT_SIGNAL: false
//	---END_RALPH_STATUS---
package statusblock

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/logs/lazy"
	"ralph/logs/termtext"
)

// The values of Signal.Status.
const (
	Complete   = "COMPLETE"
	InProgress = "IN_PROGRESS"
	Blocked    = "BLOCKED"
	Error      = "ERROR"
)

// Testing is the WorkType of work on tests alone.
const Testing = "TESTING"

// Signal is the content of a status block. Fields that are missing or have a value
// outside of the template are empty.
type Signal struct {
	Status string `json:"status,omitempty"` // Complete, InProgress, Blocked or Error
	// Exit means that the agent considers all work done. Without an EXIT_SIGNAL, it
	// follows from the status COMPLETE.
	Exit           bool   `json:"exit,omitempty"`
	HasExit        bool   `json:"has_exit,omitempty"` // the block has an EXIT_SIGNAL
	TasksCompleted int    `json:"tasks_completed,omitempty"`
	FilesModified  int    `json:"files_modified,omitempty"`
	Tests          string `json:"tests,omitempty"`     // PASSING, FAILING or NOT_RUN
	WorkType       string `json:"work_type,omitempty"` // upper case
	Recommendation string `json:"recommendation,omitempty"`
	StoryID        string `json:"story_id,omitempty"`
	Task           string `json:"task,omitempty"` // the task that the agent says is done
	// Question is what a person has to decide, Options what there is to choose from,
	// parted by |.
	Question string `json:"question,omitempty"`
	Options  string `json:"options,omitempty"`
	// Learnings are what the agent says it learned.
	Learnings []string `json:"learnings,omitempty"`
}

const (
	blockStart = "---RALPH_STATUS---"
	blockEnd   = "---END_RALPH_STATUS---"
	yamlStart  = "RALPH_STATUS:"
	promise    = "<promise>COMPLETE</promise>"
)

// Parse reads the last status block of a final message, in any of its forms. It
// returns false if there is none. Colours do not matter. Blocks that only repeat the
// template do not count, nor do quotations ("> ..."). A block in a code fence counts
// only at the end of the message, and not after a line such as "As the prompt says:": else
// it is an example. The exception is
// JSON with an exit_signal of false, which can only keep the run going. A promise
// does not overrule an EXIT_SIGNAL: false.
func Parse(final string) (Signal, bool) {
	lines := strings.Split(strings.TrimSpace(termtext.Clean(final)), "\n")
	return scan(lines, false)
}

func scan(lines []string, fenced bool) (found Signal, ok bool) {
	refused := false // the latest block has an EXIT_SIGNAL: false
	for i := 0; i < len(lines); i++ {
		var s Signal
		var good bool
		next := i
		switch line := strings.TrimSpace(lines[i]); {
		case plain(line) == promise:
			if !refused {
				found, ok = Signal{Status: Complete, Exit: true, HasExit: true}, true
			}
		case fence(line) != "" && !fenced:
			next = fenceEnd(lines, i)
			s, good = parseFence(lines[i+1:min(next, len(lines))], blank(lines, next+1) && !quotes(lines[:i+1]))
		default:
			s, next, good = parseBlock(lines, i)
		}
		if good {
			found, ok, refused = s, true, s.HasExit && !s.Exit
		}
		i = max(i, next)
	}
	return found, ok
}

// SaysDone reports whether a final message without a status block says in words that all work is done, as in "All tasks are
// complete." It decides nothing where there is a plan.
func SaysDone(final string) bool {
	for line := range strings.Lines(strings.ToLower(termtext.Clean(final))) {
		if allDone().MatchString(line) && !unlessDone().MatchString(line) {
			return true
		}
	}
	return false
}

var (
	allDone = lazy.Regexp(`\b(all|every|everything|the project|project)\b.{0,40}\b(done|complete|completed|finished|ready)\b` +
		`|\bnothing ((is )?left to do|(is )?more to do|remains( to be done)?\W*$)`)
	unlessDone = lazy.Regexp(`\b(no|not|none|never|cannot|\w+n['’]t|unable|fail\w*|blocked|yet|still|so far|could|will|would|should|must` +
		`|until|unless|except|but|once|when|if|before|after|almost|nearly)\b`)
)

// fence returns the mark of a code fence that the line opens, such as "```"; "" if it
// opens none. Models also open one behind a list mark or at the end of a sentence.
func fence(line string) string {
	i := strings.Index(line, "```")
	if strings.HasPrefix(line, "~~~") {
		i = 0
	}
	if i < 0 {
		return ""
	}
	rest := strings.TrimLeft(line[i:], line[i:i+1])
	if i > 0 && strings.Contains(rest, "`") {
		return "" // a code span
	}
	return line[i : len(line)-len(rest)]
}

// quotes reports whether the lines up to the opening of a fence announce a quotation or
// an example: the rest of the last line, or the text line before it.
func quotes(lines []string) bool {
	last, _, _ := strings.Cut(lines[len(lines)-1], "```")
	for i := len(lines) - 2; strings.TrimSpace(last) == "" && i >= 0; i-- {
		last = lines[i]
	}
	if last = plain(last); !strings.HasSuffix(last, ":") {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(last), notLetter), func(word string) bool {
		return slices.Contains([]string{"prompt", "instructions", "example", "format", "template", "says", "will", "would",
			"once", "later"}, word)
	})
}

func notLetter(r rune) bool { return r < 'a' || r > 'z' }

// fenceEnd returns the index of the line that closes the fence opened at i.
func fenceEnd(lines []string, i int) int {
	mark := fence(strings.TrimSpace(lines[i]))
	for j := i + 1; j < len(lines); j++ {
		if l := strings.TrimSpace(lines[j]); strings.HasPrefix(l, mark) && strings.Trim(l, mark[:1]) == "" {
			return j
		}
	}
	return len(lines)
}

// parseFence reads the content of a code fence. last is true if only blank lines
// follow the fence.
func parseFence(lines []string, last bool) (Signal, bool) {
	if s, explicit, ok := parseJSON(strings.Join(lines, "\n")); ok && (last || explicit && !s.Exit) {
		return s, true
	}
	if !last {
		return Signal{}, false
	}
	return scan(lines, true)
}

func blank(lines []string, from int) bool {
	isText := func(l string) bool { return strings.TrimSpace(l) != "" }
	return from >= len(lines) || !slices.ContainsFunc(lines[from:], isText)
}

// parseBlock reads the block that starts at line i, if there is one. next is the
// index of its last line.
func parseBlock(lines []string, i int) (s Signal, next int, ok bool) {
	head := plain(lines[i])
	dashed := strings.EqualFold(head, blockStart)
	if !dashed && !strings.EqualFold(strings.TrimLeft(head, "# "), yamlStart) {
		return s, i, false
	}
	exitKey, learning := false, false
	for next = i + 1; next < len(lines); next++ {
		line := plain(lines[next])
		if strings.EqualFold(line, blockEnd) {
			break
		}
		if strings.EqualFold(line, blockStart) || fence(line) != "" {
			next--
			break
		}
		if line == "" {
			if dashed {
				continue
			}
			break
		}
		if item, listed := strings.CutPrefix(strings.TrimSpace(lines[next]), "- "); learning && listed && !known(item) {
			s.learn(item)
			continue
		}
		key, value, pair := strings.Cut(line, ":")
		if !pair && !dashed {
			next--
			break
		}
		name := strings.ToUpper(strings.TrimSpace(strings.Trim(key, "*_` ")))
		exitKey, learning = s.set(name, plain(value)) || exitKey, isLearnings(name)
	}
	if !exitKey {
		s.Exit = s.Status == Complete
	}
	return s, min(next, len(lines)-1), s.Status != "" || s.HasExit
}

// set stores one key. It reports whether the key is EXIT_SIGNAL, even with an
// invalid value.
func (s *Signal) set(name, value string) bool {
	for _, k := range Keys() {
		if name == k.Name || slices.Contains(k.Also, name) {
			k.set(s, value)
			return k.Name == exitSignal
		}
	}
	return false
}

func isLearnings(name string) bool {
	return name == learnings || slices.Contains(alsoLearnings(), name)
}

// known reports whether an item of a list is a key of the block.
func known(item string) bool {
	key, _, pair := strings.Cut(strings.Trim(item, "*_` "), ":")
	return pair && key == strings.ToUpper(key) && !strings.Contains(key, " ")
}

// learn adds what the agent says it learned.
func (s *Signal) learn(text string) {
	switch strings.ToLower(strings.Trim(text, ".<>[]- ")) {
	case "", "none", "n/a", "nothing":
	default:
		if strings.HasPrefix(text, "<") {
			return // the template
		}
		s.Learnings = append(s.Learnings, text)
	}
}

// choice returns the first word of the value if it is one of words. A value with
// alternatives ("true | false") is the template; then it returns "".
func choice(value string, words ...string) string {
	first, rest, _ := strings.Cut(strings.ToUpper(value), " ")
	first = strings.Trim(first, ".,;!\"'*_`")
	if i := slices.Index(words, first); i >= 0 && !alternatives(rest) {
		return words[i]
	}
	return ""
}

func alternatives(rest string) bool {
	rest = strings.ToUpper(strings.TrimSpace(rest))
	return strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "OR ")
}

func number(value string) int {
	first, _, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(first)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// plain removes list marks and emphasis from a line.
func plain(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range [...]string{"- ", "* ", "+ "} {
		line = strings.TrimPrefix(line, mark)
	}
	line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "*`"))
	return strings.TrimSpace(strings.TrimPrefix(line, "** "))
}

// parseJSON reads the JSON form. explicit is true if it has an exit_signal.
func parseJSON(text string) (s Signal, explicit, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return s, false, false
	}
	obj := gjson.Parse(text)
	for _, name := range [...]string{"RALPH_STATUS", "ralph_status"} {
		if inner := obj.Get(name); inner.IsObject() {
			obj = inner
		}
	}
	obj.ForEach(func(key, value gjson.Result) bool {
		name := strings.ToUpper(key.Str)
		switch {
		case isLearnings(name):
			for _, l := range value.Array() {
				s.learn(l.String())
			}
		case name == "FILES_MODIFIED" && value.IsArray():
			s.FilesModified = len(value.Array())
		case name == "OPTIONS":
			options := termtext.Each(value.Array(), gjson.Result.String)
			s.Options = strings.Join(options, " | ")
		case name != "TASK": // other tools name the current task there
			explicit = s.set(name, value.String()) || explicit
		}
		return true
	})
	if !explicit {
		s.Exit = s.Status == Complete
	}
	return s, explicit, s.Status != "" || s.HasExit
}

// Learnings returns what a final message says was learned: its <learning> blocks, and the LEARNINGS of its status
// block. Code and quotations do not count: they are not the agent's own words.
func Learnings(final string) (found []string) {
	lines, own := strings.Split(termtext.Clean(final), "\n"), ""
	for i := 0; i < len(lines); i++ {
		if line := strings.TrimSpace(lines[i]); fence(line) != "" {
			i = fenceEnd(lines, i)
		} else if !strings.HasPrefix(line, ">") {
			own += lines[i] + "\n"
		}
	}
	for {
		_, rest, opened := strings.Cut(own, "<learning>")
		block, after, closed := strings.Cut(rest, "</learning>")
		if !opened || !closed {
			break
		}
		found, own = append(found, items(block)...), after
	}
	signal, _ := Parse(final)
	for _, l := range signal.Learnings {
		if !slices.Contains(found, l) {
			found = append(found, l)
		}
	}
	return found
}

// items returns the items of a list, or a text that is none as a whole.
func items(block string) (list []string) {
	for line := range strings.Lines(strings.TrimSpace(block)) {
		line = strings.TrimSpace(line)
		if len(line) > 1 && strings.ContainsRune("-*+", rune(line[0])) && line[1] == ' ' {
			list = append(list, line[2:])
		} else if line != "" {
			return []string{termtext.Unwrap(block)}
		}
	}
	return list
}
