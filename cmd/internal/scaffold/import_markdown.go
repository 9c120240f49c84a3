package scaffold

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ralph/logs/termtext"
)

var patterns = sync.OnceValue(func() (p struct {
	story, tasks, criteria, label, nongoals, box, almost, mark *regexp.Regexp
}) {
	p.story = regexp.MustCompile(`^(?i:(?:user )?(?:story|task|feature|epic|milestone)\s*#?[\w.]*\s*[:–—-]\s*\S)|` +
		`^[A-Z]{1,6}-\d+(?:\.\d+)*\b|^[A-Z]{1,3}\d+[:.]`)
	p.tasks = regexp.MustCompile(`(?i)\b(?:tasks?|to-?dos?|user stories|stories|features|requirements|backlog|` +
		`milestones|plan|scope|roadmap|deliverables)\b`)
	p.label = regexp.MustCompile(`(?i)([.!?])\s+[*_]*(?:acceptance(?: criteria)?|criteria|definition of done|` +
		`done when)[*_]*:[*_]*$`)
	p.criteria = regexp.MustCompile(`(?i)\b(?:acceptance|criteria|definition of done|done when)\b`)
	p.nongoals = regexp.MustCompile(`(?i)\b(?:non-?goals?|out of scope|not in scope|later|future|won't)\b`)
	p.box = regexp.MustCompile(`^\[([ xX])\]\s+`)
	p.almost = regexp.MustCompile(`^(?:[-*+]|\d+[.)])?\[[ xX]?\]\s+\S|` +
		`^(?:[-*+]|\d+[.)])\s+\[(?:\]\s*|[ xX]\])[^\s(\[:]`)
	p.mark = regexp.MustCompile(`^(\[[^\s\pL\pN\])}]\])\s`)
	return p
})

// isAlmostBox reports whether a line looks like a task to a person but is not one.
func isAlmostBox(line string) bool { return patterns().almost.MatchString(line) }

// Reasons to skip a line.
const (
	aHeading   = "it is a heading, and not that of a task"
	outside    = "it is text outside a task"
	aTable     = "it is a table; write its tasks as a list"
	aQuotation = "it is a quotation, indented code or HTML"
	notToDo    = "it says what not to do"
	almostBox  = "it looks like a box but is not one; write: - [ ] what to do"
	markLost   = "a criterion has no mark; its text is taken"
)

// ImportMarkdown reads the tasks of a text: boxes, headings that are stories, and the list items below
// a heading such as "Tasks" or in a text without headings. What is below a task describes it.
func ImportMarkdown(data []byte) ([]Item, []Skipped, error) {
	blocks := split(strings.TrimPrefix(string(data), "\ufeff"))
	var headings []int
	for _, b := range blocks {
		if b.kind == heading {
			headings = append(headings, b.level)
		}
	}
	r := reader{plain: len(headings) == 0 || len(headings) == 1 && headings[0] == 1}
	for _, b := range blocks {
		r.block(b)
	}
	if len(r.bad) > 0 {
		return nil, nil, fmt.Errorf("%s; known: [ ], [x]", termtext.Some(r.bad, 5))
	}
	return r.items, r.skipped, nil
}

type reader struct {
	plain bool // no heading but a title: every list item is a task

	items   []Item
	skipped []Skipped
	bad     []string // boxes with an unknown mark, with their lines
	// current is the story whose heading came last, and level that heading's; nil: none.
	current *int
	level   int
	tasks   bool // the section lists tasks
	out     bool // the section says what not to do
}

func (r *reader) block(b block) {
	switch b.kind {
	case heading:
		r.heading(b)
	case listItem:
		r.listItem(b)
	case paragraph, importerTable:
		if r.current == nil || r.out {
			r.skip(b, map[kind]string{paragraph: outside, importerTable: aTable}[b.kind])
			return
		}
		if label := strings.Trim(b.text, "*_: "); len(label) < 40 && patterns().criteria.MatchString(label) {
			return // "**Acceptance criteria:**" above a list
		}
		item := &r.items[*r.current]
		item.Description = strings.TrimSpace(item.Description + "\n" + patterns().label.ReplaceAllString(b.text, "$1"))
	case almost:
		r.skip(b, almostBox)
	case quotation:
		r.skip(b, aQuotation)
	case hidden:
		r.skip(b, "it is code or a comment")
	case front:
		r.skip(b, "it is front matter")
	}
}

func (r *reader) heading(b block) {
	if r.current != nil && b.level > r.level && patterns().criteria.MatchString(b.text) {
		return // the list below has criteria of the story
	}
	if r.current != nil && b.level <= r.level {
		r.current = nil
	}
	if r.out = patterns().nongoals.MatchString(b.text); r.out {
		r.skip(b, notToDo)
		r.current, r.tasks = nil, false
		return
	}
	if b.level > 1 && patterns().story.MatchString(b.text) {
		r.items = append(r.items, Item{Title: b.text, Line: b.line})
		last := len(r.items) - 1
		r.current, r.level, r.tasks = &last, b.level, false
		return
	}
	r.skip(b, aHeading)
	r.tasks = b.level > 1 && patterns().tasks.MatchString(b.text) || b.level > 2 && r.tasks
}

func (r *reader) listItem(b block) {
	r.known(b.text, b.line)
	box := patterns().box.FindStringSubmatch(b.text)
	taken := !r.out && (r.current != nil || box != nil || r.tasks || r.plain)
	var criteria []string
	for _, i := range b.items {
		r.known(i.text, i.line)
		switch {
		case i.almost:
			r.skip(block{line: i.line, text: i.text}, almostBox)
		case taken:
			criteria = append(criteria, r.criterion(i.text, i.line))
		}
	}
	switch {
	case r.out:
		r.skip(b, notToDo)
	case r.current != nil:
		item := &r.items[*r.current]
		item.Criteria = append(append(item.Criteria, r.criterion(b.text, b.line)), criteria...)
		item.Description = strings.TrimSpace(item.Description + "\n" + strings.Join(b.more, "\n"))
	case box != nil || r.tasks || r.plain:
		r.items = append(r.items, Item{Title: unboxed(b.text), Line: b.line, Done: box != nil && box[1] != " ",
			Description: strings.Join(b.more, "\n"), Criteria: criteria})
	default:
		r.skip(b, "it is a list item outside a section with tasks")
	}
}

// unboxed returns the text of a list item without its box.
func unboxed(text string) string { return patterns().box.ReplaceAllString(text, "") }

// criterion returns the text of a criterion, which has no mark of its own.
func (r *reader) criterion(text string, line int) string {
	if box := patterns().box.FindStringSubmatch(text); box != nil && box[1] != " " {
		r.skip(block{line: line, text: text}, markLost)
	}
	return unboxed(text)
}

// known refuses a box with a mark that says neither open nor done.
func (r *reader) known(text string, line int) {
	if mark := patterns().mark.FindStringSubmatch(text); mark != nil {
		r.bad = append(r.bad, fmt.Sprintf("line %d: unknown mark %q", line, mark[1]))
	}
}

func (r *reader) skip(b block, why string) {
	where := fmt.Sprintf("line %d", b.line)
	if b.last > b.line {
		where = fmt.Sprintf("lines %d to %d", b.line, b.last)
	}
	r.skipped = append(r.skipped, Skipped{Where: where, Text: b.text, Why: why})
}
