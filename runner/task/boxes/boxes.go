// Package boxes reads plans that are Markdown lists of boxes: the plain list, and the task
// lists of Kiro, Spec Kit and OpenSpec.
package boxes

import (
	"slices"
	"strings"

	"ralph/logs/lazy"
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
	s := scanner{dialect: d, text: text, optional: map[string]bool{}, details: map[int]*details{}}
	// A box takes at least eight bytes, so this cannot be too large.
	likely := min(strings.Count(text, "] "), len(text)/8)
	s.tasks, s.spots = make([]task.Task, 0, likely), make([]task.Spot, 0, likely)
	for _, name := range in.OptionalSections {
		s.optional[HeadingKey(name)] = true
	}
	for l := range MarkdownLines(text) {
		s.line(l)
		s.extend(l)
	}
	if len(s.tasks) == 0 {
		s.tasks, s.spots = nil, nil
	}
	for i, d := range s.details {
		s.tasks[i].Description = strings.Join(d.description, "\n")
		d.endCriterion(&s.tasks[i])
	}
	return &list{own: nameTasks(s.tasks, d.id), Parsed: task.Parsed{List: task.List{Tasks: s.tasks, Choice: s.choice,
		Odd: s.odd, Warnings: ignoredChoice(text)}, Spots: s.spots, First: task.Range{Start: len(text), End: len(text)}}}
}

// HasBox reports whether a text has any box.
func HasBox(data []byte) bool {
	return len(parse(task.Input{Files: []task.File{{Data: data}}}, plain()).Tasks) > 0
}

// scanner collects the tasks of a Markdown file line by line.
type scanner struct {
	dialect
	text     string
	optional map[string]bool // HeadingKey of each optional section

	tasks   []task.Task
	spots   []task.Spot      // of each task
	details map[int]*details // of tasks, by index

	items   []item // the list items that may contain the current line
	inFence bool
	choice  task.Choice
	odd     []int
	section string
	phases  int // begun so far
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

func (s *scanner) line(l MarkdownLine) {
	text, number := l.Text, l.Number
	if l.Code {
		if !l.fence {
			s.describe(text, false)
		} else if s.inFence = !s.inFence; s.inFence {
			s.close(Indent(text))
			s.openItems(text)
		}
		return
	}
	s.inFence = false
	raw := s.text[l.Start:l.End]
	if c, ok := choiceIn(raw); ok {
		defer s.choose(c, number, Indent(raw))
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if level, title, ok := ATXHeading(text); ok {
		s.heading(level, title)
		return
	}
	known := len(s.tasks)
	s.close(Indent(text))
	body, ok := s.openItems(text)
	if ok {
		s.item(number, l.Start, text, body)
	}
	if len(s.tasks) == known && strings.Contains(text, "[") && almostBox().MatchString(text) {
		s.odd = append(s.odd, number)
	}
	if !ok {
		s.describe(text, false)
	}
}

// almostBox matches what somebody may mean as a box: -[ ] x, - [] x, - [ x] y, - [~] z, - [?] z.
var almostBox = lazy.Regexp(`^\s*(?:[-*+]|\d+[.)])\s*\[(?:[ xX~-]{0,3}|[!?>/*+])\](?:[^(:\[]|$)`)

func (s *scanner) heading(level int, title string) {
	s.items = nil
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
func (s *scanner) extend(l MarkdownLine) {
	text := s.text[l.Start:l.End]
	if strings.TrimSpace(text) == "" {
		return
	}
	next := len(s.text)
	if i := strings.IndexByte(s.text[l.End:], '\n'); i >= 0 {
		next = l.End + i + 1
	}
	indent := Indent(text)
	for _, it := range s.items {
		if it.box && (indent > it.indent || s.tasks[it.task].Line == l.Number) {
			s.spots[it.task].Item.End = next
		}
	}
}
