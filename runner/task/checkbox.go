package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// parseCheckbox reads a Markdown list of boxes.
//
// A box is a list item (-, *, +, 1. or 1)) at any indent whose text starts with [ ] (open,
// exactly one space), [x] or [X] (done), followed by a title. [], [-] and [~] are not
// boxes. Boxes in fenced code and in HTML comments do not count. A fence or comment
// without an end hides nothing: a typo must not make open tasks disappear.
func parseCheckbox(data []byte, optionalSections []string) (List, []mark, error) {
	s := scanner{text: string(data), fenceEnds: closingFences(string(data)), optional: map[string]bool{},
		choice: frontMatter(string(data))}
	for _, name := range optionalSections {
		s.optional[headingKey(name)] = true
	}
	number := 0
	for start := 0; start < len(s.text); {
		number++
		next := len(s.text)
		if i := strings.IndexByte(s.text[start:], '\n'); i >= 0 {
			next = start + i + 1
		}
		end := start + len(strings.TrimRight(s.text[start:next], "\r\n"))
		s.line(number, start, end)
		start = next
	}
	for i, d := range s.details {
		s.tasks[i].Description = strings.Join(d.description, "\n")
		for _, c := range d.criteria {
			s.tasks[i].Criteria = append(s.tasks[i].Criteria, strings.Join(c, "\n"))
		}
	}
	nameTasks(s.tasks)
	return List{Tasks: s.tasks, Choice: s.choice, Odd: s.odd}, s.marks, nil
}

// scanner collects the tasks of a Markdown file line by line.
type scanner struct {
	text      string
	fenceEnds fenceEnds
	optional  map[string]bool // headingKey of each optional section

	tasks   []Task
	marks   []mark    // of each task
	details []details // of each task

	items     []item   // the list items that may contain the current line
	paragraph []string // lines that a setext underline turns into a heading
	inComment bool
	fence     fence
	choice    Choice
	odd       []int
	section   string
	// optionalLevel is the level of the heading of the current optional section; 0: none.
	optionalLevel int
}

// details are the lines below a box.
type details struct {
	description []string
	criteria    [][]string
}

// item is a list item. scanner.items has the outermost first.
type item struct {
	indent int // column of its marker
	task   int // index of its box, or of the box that contains it; -1: none
	box    bool
	depth  int // number of boxes around it, including itself
}

func (s *scanner) line(number, start, end int) {
	text := s.text[start:end]
	if s.inComment {
		i := strings.Index(text, "-->")
		if i < 0 {
			return
		}
		s.inComment = false
		text = strings.Repeat(" ", i+3) + text[i+3:]
	}
	if s.fence.length > 0 {
		if s.fence.closedBy(text) {
			s.fence = fence{}
			return
		}
		if strings.TrimSpace(text) == "" || indentOf(text) >= s.fence.floor {
			s.describe(text, false)
			return
		}
		s.fence = fence{} // the list item around it ended
	}
	if s.openFence(text, start) {
		return
	}
	if c, ok := choiceIn(text); ok {
		defer s.choose(c, number, indentOf(text))
	}
	text = s.hideComments(text, start)
	if strings.TrimSpace(text) == "" {
		s.paragraph = nil
		return
	}
	if level, title, ok := atxHeading(text); ok {
		s.heading(level, title)
		return
	}
	if level := setextLevel(text); level > 0 && len(s.paragraph) > 0 {
		s.heading(level, strings.Join(s.paragraph, " "))
		return
	}
	known := len(s.tasks)
	s.close(indentOf(text))
	body, ok := s.openItems(text)
	if ok {
		s.paragraph = nil
		s.item(number, start, text, body)
	}
	if len(s.tasks) == known && almostBox().MatchString(text) {
		s.odd = append(s.odd, number)
	}
	if ok {
		return
	}
	s.describe(text, false)
	if len(s.items) == 0 {
		s.paragraph = append(s.paragraph, strings.TrimSpace(text))
	}
}

// almostBox matches what may be meant as a box: -[ ] x, - [] x, - [ x] y, - [~] z.
var almostBox = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s*\[[ xX~-]{0,3}\](?:[^(:\[]|$)`)
})

// openFence starts fenced code if text opens a fence that is closed later.
func (s *scanner) openFence(text string, start int) bool {
	rest := skipMarkers(text)
	f, ok := fenceIn(text[rest:])
	if !ok || !s.fenceEnds.after(start, f) {
		return false
	}
	s.close(indentOf(text))
	s.openItems(text)
	if n := len(s.items); n > 0 {
		f.floor = s.items[n-1].indent + 1
	}
	s.fence, s.paragraph = f, nil
	return true
}

// hideComments blanks the HTML comments in text, which starts at offset start.
func (s *scanner) hideComments(text string, start int) string {
	open := commentStart(text, 0)
	if open < 0 {
		return text
	}
	shown := []byte(text)
	for ; open >= 0; open = commentStart(text, open) {
		end := strings.Index(text[open+4:], "-->")
		if end < 0 {
			if s.closesLater(start+open+4, len(bytes.TrimSpace(shown[:open])) == 0) {
				s.inComment = true
				shown = shown[:open]
			}
			break
		}
		for end += open + 4 + 3; open < end; open++ {
			shown[open] = ' '
		}
	}
	return string(shown)
}

// closesLater reports whether the comment with text from offset at is closed on a later
// line. If it starts in the middle of a line and another comment starts before the next
// end, the line only mentions comments.
func (s *scanner) closesLater(at int, ownLine bool) bool {
	rest := s.text[at:]
	if !ownLine {
		rest, _, _ = strings.Cut(rest, "<!--")
	}
	return strings.Contains(rest, "-->")
}

func (s *scanner) heading(level int, title string) {
	s.items, s.paragraph = nil, nil
	s.section = cleanHeading(title)
	if s.optionalLevel > 0 && level > s.optionalLevel {
		return
	}
	s.optionalLevel = 0
	if s.optional[headingKey(title)] {
		s.optionalLevel = level
	}
}

// close ends the list items that do not contain a line of this indent.
func (s *scanner) close(indent int) {
	for len(s.items) > 0 && indent <= s.items[len(s.items)-1].indent {
		s.items = s.items[:len(s.items)-1]
	}
}

// maxMarkers bounds the list markers in one line.
const maxMarkers = 8

// openItems opens an item for each list marker at the start of text, and returns where
// the text of the innermost starts.
func (s *scanner) openItems(text string) (body int, ok bool) {
	for range maxMarkers {
		marker := body + blankPrefix(text[body:])
		n := markerLen(text[marker:])
		if n == 0 {
			break
		}
		it := item{indent: column(text[:marker]), task: -1}
		if len(s.items) > 0 {
			parent := s.items[len(s.items)-1]
			it.task, it.depth = parent.task, parent.depth
		}
		s.items = append(s.items, it)
		body, ok = marker+n, true
		body += blankPrefix(text[body:])
	}
	return body, ok
}

// item adds the list item in text, whose own words start at body: a box, or a plain item,
// which is a criterion of the box above it.
func (s *scanner) item(number, start int, text string, body int) {
	done, title, ok := box(text[body:])
	if !ok {
		s.describe(text[body:], true)
		return
	}
	it := &s.items[len(s.items)-1]
	s.tasks = append(s.tasks, Task{
		Title: title, Done: done, Line: number, Depth: it.depth,
		Section: s.section, Optional: s.optionalLevel > 0,
	})
	at := start + body + 1
	s.marks = append(s.marks, mark{at, at + 1, "x", " "})
	s.details = append(s.details, details{})
	it.task, it.box, it.depth = len(s.tasks)-1, true, it.depth+1
}

// describe adds a line to the box that contains it.
func (s *scanner) describe(text string, criterion bool) {
	if len(s.items) == 0 {
		return
	}
	in := s.items[len(s.items)-1]
	text = strings.TrimSpace(text)
	if in.task < 0 || text == "" {
		return
	}
	d := &s.details[in.task]
	switch {
	case criterion:
		d.criteria = append(d.criteria, []string{text})
	case !in.box && len(d.criteria) > 0:
		last := &d.criteria[len(d.criteria)-1]
		*last = append(*last, text)
	default:
		d.description = append(d.description, text)
	}
}

// box reads "[ ] title" or "[x] title".
func box(text string) (done bool, title string, ok bool) {
	if len(text) < 4 || text[0] != '[' || text[2] != ']' || strings.IndexByte(" xX", text[1]) < 0 {
		return false, "", false
	}
	if strings.IndexByte("([:", text[3]) >= 0 { // a link or a link target
		return false, "", false
	}
	title = strings.Join(strings.Fields(text[3:]), " ")
	return text[1] != ' ', title, title != ""
}

// idPattern matches a task number at the start of a title: "T3: ...",
// "**US-001** ...", "[T3] ...", "T-3 - ...", and bare ones of three digits.
var idPattern = sync.OnceValue(func() *regexp.Regexp {
	const id = `([A-Za-z]{1,12}[-_]?\d+(?:[.-]\d+)*)`
	return regexp.MustCompile("^(?:" + strings.Join([]string{
		`(?:\*\*|__)\[?` + id + `[\]:.]*(?:\*\*|__)`,
		"`" + id + "`",
		`[\[(]` + id + `[\])]`,
		`(?:\*\*|__)?` + id + `(?::|\s+[-–—])\s`,
		`([A-Z]{1,12}-?\d{3,})\s`,
	}, "|") + ")")
})

func leadingID(title string) string {
	for i, group := range idPattern().FindStringSubmatch(title) {
		if i > 0 && group != "" {
			return group
		}
	}
	return ""
}

// nameTasks sets the ID of every task. It does not use a leading number that several
// tasks share.
func nameTasks(tasks []Task) {
	uses := map[string]int{}
	for i := range tasks {
		tasks[i].ID = leadingID(tasks[i].Title)
		uses[tasks[i].ID]++
	}
	seen := map[string]int{}
	for i := range tasks {
		id := tasks[i].ID
		if id == "" || uses[id] > 1 {
			id = hashID(tasks[i].Title)
		}
		seen[id]++
		if seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id])
		}
		tasks[i].ID = id
	}
}

func hashID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}
