// Package boxes reads plans that are Markdown lists of boxes: the plain list, and the task
// lists of Kiro, Spec Kit and OpenSpec.
package boxes

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/task"
)

// dialect says how a format writes its boxes.
type dialect struct {
	marks string                // what may be in a box
	state []task.State          // of each mark, in the same order
	write map[task.State]string // the marks that ralph writes
	star  bool                  // "[ ]* title" is optional
	loose bool                  // a box with any other mark, or without one, is open
	id    func(title string) string
	phase func(heading string) bool // a heading of level 2 begins a phase; nil if there are none
}

func plain() dialect {
	return dialect{
		marks: " xX", state: []task.State{task.Open, task.Done, task.Done},
		write: map[task.State]string{task.Open: " ", task.Done: "x"},
		id:    leadingID,
	}
}

// Checkbox reads a Markdown list of boxes.
//
// A box is a list item (-, *, +, 1. or 1)) at any indent whose text starts with [ ] (open,
// exactly one space), [x] or [X] (done), followed by a title. [] is no box. A task with another mark
// is blocked, and the mark is a fault. Boxes in fenced code and in HTML comments do not count. A fence or comment
// without an end hides nothing: a typo must not make open tasks disappear.
func Checkbox(in task.Input) (task.Parsed, error) {
	p := parse(in, plain())
	for i, t := range p.Tasks {
		words := strings.Fields(t.Title)
		p.Tasks[i].Parallel = slices.Contains(words[:min(2, len(words))], "[P]") // at the beginning, or after a number
	}
	p.unknownMarks(plainMarks)
	return p.Parsed, nil
}

func parse(in task.Input, d dialect) *list {
	text := string(in.Files[0].Data)
	s := scanner{dialect: d, text: text, fenceEnds: closingFences(text), optional: map[string]bool{},
		details: map[int]*details{},
		choice:  frontMatter(text)}
	// A box takes at least eight bytes, so this cannot be too large.
	likely := min(strings.Count(text, "] "), len(text)/8)
	s.tasks, s.spots = make([]task.Task, 0, likely), make([]task.Spot, 0, likely)
	for _, name := range in.OptionalSections {
		s.optional[HeadingKey(name)] = true
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
		s.extend(number, task.Range{Start: start, End: end}, next)
		start = next
	}
	if len(s.tasks) == 0 {
		s.tasks, s.spots = nil, nil
	}
	for i, d := range s.details {
		s.tasks[i].Description = strings.Join(d.description, "\n")
		d.endCriterion(&s.tasks[i])
	}
	return &list{own: nameTasks(s.tasks, d.id), Parsed: task.Parsed{List: task.List{Tasks: s.tasks, Choice: s.choice,
		Odd: s.odd}, Spots: s.spots, First: task.Range{Start: len(text), End: len(text)}}}
}

// HasBox reports whether a text has any box.
func HasBox(data []byte) bool {
	return len(parse(task.Input{Files: []task.File{{Data: data}}}, plain()).Tasks) > 0
}

// scanner collects the tasks of a Markdown file line by line.
type scanner struct {
	dialect
	text      string
	fenceEnds fenceEnds
	optional  map[string]bool // HeadingKey of each optional section

	tasks   []task.Task
	spots   []task.Spot      // of each task
	details map[int]*details // of tasks, by index

	items     []item   // the list items that may contain the current line
	paragraph []string // lines that a setext underline turns into a heading
	inComment bool
	fence     mdFence
	choice    task.Choice
	odd       []int
	section   string
	phases    int // begun so far
	// optionalLevel is the level of the heading of the current optional section; 0: none.
	optionalLevel int
}

// details are the lines below a box, without the first line of each criterion.
type details struct {
	description []string
	criterion   []string // more of the last one
}

// endCriterion adds the collected lines to the last criterion.
func (d *details) endCriterion(t *task.Task) {
	if len(d.criterion) > 0 {
		last := &t.Criteria[len(t.Criteria)-1]
		*last += "\n" + strings.Join(d.criterion, "\n")
		d.criterion = nil
	}
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
	if s.fence.Length > 0 {
		if s.fence.ClosedBy(text) {
			s.fence = mdFence{}
			return
		}
		if strings.TrimSpace(text) == "" || Indent(text) >= s.fence.Floor {
			s.describe(text, false)
			return
		}
		s.fence = mdFence{} // the list item around it ended
	}
	if s.openFence(text, start) {
		return
	}
	if c, worker, ok := choiceIn(text); ok {
		defer s.choose(c, worker, number, Indent(text))
	}
	text = s.hideComments(text, start)
	if strings.TrimSpace(text) == "" {
		s.paragraph = nil
		return
	}
	if level, title, ok := ATXHeading(text); ok {
		s.heading(level, title)
		return
	}
	if level := SetextLevel(text); level > 0 && len(s.paragraph) > 0 {
		s.heading(level, strings.Join(s.paragraph, " "))
		return
	}
	known := len(s.tasks)
	s.close(Indent(text))
	body, ok := s.openItems(text)
	if ok {
		s.paragraph = nil
		s.item(number, start, text, body)
	}
	if len(s.tasks) == known && strings.Contains(text, "[") && almostBox().MatchString(text) {
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

// almostBox matches what somebody may mean as a box: -[ ] x, - [] x, - [ x] y, - [~] z, - [?] z.
var almostBox = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s*\[(?:[ xX~-]{0,3}|[!?>/*+])\](?:[^(:\[]|$)`)
})

// openFence starts fenced code if text opens a fence that is closed later.
func (s *scanner) openFence(text string, start int) bool {
	rest := skipMarkers(text)
	f, ok := fenceIn(text[rest:])
	if !ok || !s.fenceEnds.After(start, f) {
		return false
	}
	s.close(Indent(text))
	s.openItems(text)
	if n := len(s.items); n > 0 {
		f.Floor = s.items[n-1].indent + 1
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
	if s.dialect.phase != nil && level <= 2 && s.dialect.phase(title) {
		s.phases++
	}
	s.section = CleanHeading(title)
	if s.optionalLevel > 0 && level > s.optionalLevel {
		return
	}
	s.optionalLevel = 0
	if s.optional[HeadingKey(title)] {
		s.optionalLevel = level
	}
}

// close ends the list items that do not contain a line of this indent.
func (s *scanner) close(indent int) {
	for len(s.items) > 0 && indent <= s.items[len(s.items)-1].indent {
		s.items = s.items[:len(s.items)-1]
	}
}

// openItems opens an item for each list marker at the start of text, and returns where
// the text of the innermost starts.
func (s *scanner) openItems(text string) (body int, ok bool) {
	for range maxMarkers {
		marker := body + Blank(text[body:])
		n := MarkerLen(text[marker:])
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
		body += Blank(text[body:])
	}
	return body, ok
}

// item adds the list item in text, which starts at body: a box, or a plain item,
// which is a criterion of the box above it.
func (s *scanner) item(number, start int, text string, body int) {
	b, ok := s.box(text[body:])
	if !ok {
		s.describe(text[body:], true)
		return
	}
	it := &s.items[len(s.items)-1]
	s.tasks = append(s.tasks, task.Task{
		Title: b.title, State: b.state, Word: b.word, Line: number, Depth: it.depth,
		Section: s.section, Phase: s.phases, Optional: b.optional || s.optionalLevel > 0,
	})
	at := start + body + 1
	mark := task.Range{Start: at, End: at + b.mark}
	word := mark
	if s.loose { // with the brackets: there may be nothing between them
		word.Start, word.End = word.Start-1, word.End+1
	}
	spot := task.Spot{States: []task.Place{{Range: mark, Words: s.write}}, Word: word, Item: task.Range{Start: start}}
	if shown := strings.TrimRight(text, " \t"); strings.HasPrefix(s.text[start:], shown) { // it has no comment
		spot.Title = task.Range{Start: start + body + b.title0, End: start + len(shown)}
	}
	s.spots = append(s.spots, spot)
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
	t, d := &s.tasks[in.task], s.details[in.task]
	if d == nil && !criterion { // most boxes have none
		d = &details{}
		s.details[in.task] = d
	}
	switch {
	case criterion:
		if d != nil {
			d.endCriterion(t)
		}
		t.Criteria = append(t.Criteria, text)
	case !in.box && len(t.Criteria) > 0:
		d.criterion = append(d.criterion, text)
	default:
		d.description = append(d.description, text)
	}
}

// extend makes a line part of the boxes that contain it.
func (s *scanner) extend(number int, line task.Range, next int) {
	text := s.text[line.Start:line.End]
	if strings.TrimSpace(text) == "" {
		return
	}
	indent := Indent(text)
	for _, it := range s.items {
		if it.box && (indent > it.indent || s.tasks[it.task].Line == number) {
			s.spots[it.task].Item.End = next
		}
	}
}
