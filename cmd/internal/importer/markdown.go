package importer

import (
	"regexp"
	"strings"
	"sync"
)

var patterns = sync.OnceValue(func() (p struct{ story, tasks, criteria, label, nongoals, box *regexp.Regexp }) {
	p.story = regexp.MustCompile(`^(?i:(?:user )?(?:story|task|feature|epic|milestone)\s*#?[\w.]*\s*[:–—-]\s*\S)|^[A-Z]{1,6}-\d+(?:\.\d+)*\b|^[A-Z]{1,3}\d+[:.]`)
	p.tasks = regexp.MustCompile(`(?i)\b(?:tasks?|to-?dos?|user stories|stories|features|requirements|backlog|milestones|plan|scope|roadmap|deliverables)\b`)
	p.label = regexp.MustCompile(`(?i)([.!?])\s+[*_]*(?:acceptance(?: criteria)?|criteria|definition of done|done when)[*_]*:[*_]*$`)
	p.criteria = regexp.MustCompile(`(?i)\b(?:acceptance|criteria|definition of done|done when)\b`)
	p.nongoals = regexp.MustCompile(`(?i)\b(?:non-?goals?|out of scope|not in scope|later|future|won't)\b`)
	p.box = regexp.MustCompile(`^\[([ xX])\]\s+`)
	return p
})

// Markdown reads the tasks of a text: boxes, headings that are stories, and the list items below
// a heading such as "Tasks" or in a text without headings. What is below a task describes it.
func Markdown(data []byte) ([]Item, []Skipped) {
	blocks := split(string(data))
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
	return r.items, r.skipped
}

type reader struct {
	plain bool // no heading but a title: every list item is a task

	items   []Item
	skipped []Skipped
	// current is the story whose heading came last, and level that heading's; nil: none.
	current *int
	level   int
	tasks   bool // the section lists tasks
	out     bool // the section says what is not to be done
}

func (r *reader) block(b block) {
	switch b.kind {
	case heading:
		r.heading(b)
	case listItem:
		r.listItem(b)
	case paragraph:
		if r.current == nil || r.out {
			r.skip(b, "it is text outside of a task")
			return
		}
		if label := strings.Trim(b.text, "*_: "); len(label) < 40 && patterns().criteria.MatchString(label) {
			return // "**Acceptance criteria:**" above a list
		}
		item := &r.items[*r.current]
		item.Description = strings.TrimSpace(item.Description + "\n" + patterns().label.ReplaceAllString(b.text, "$1"))
	case other:
		r.skip(b, "it is code, a quotation, a comment or HTML")
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
		r.current, r.tasks = nil, false
		return
	}
	if b.level > 1 && patterns().story.MatchString(b.text) {
		r.items = append(r.items, Item{Title: b.text, Line: b.line})
		last := len(r.items) - 1
		r.current, r.level, r.tasks = &last, b.level, false
		return
	}
	r.tasks = b.level > 1 && patterns().tasks.MatchString(b.text) || b.level > 2 && r.tasks
}

func (r *reader) listItem(b block) {
	box := patterns().box.FindStringSubmatch(b.text)
	var criteria []string
	for _, text := range b.items {
		criteria = append(criteria, unboxed(text))
	}
	switch {
	case r.out:
		r.skip(b, "it is below a heading that says what is not to be done")
	case r.current != nil:
		item := &r.items[*r.current]
		item.Criteria = append(append(item.Criteria, unboxed(b.text)), criteria...)
	case box != nil || r.tasks || r.plain:
		r.items = append(r.items, Item{Title: unboxed(b.text), Line: b.line, Done: box != nil && box[1] != " ",
			Description: strings.Join(b.more, "\n"), Criteria: criteria})
	default:
		r.skip(b, "it is a list item outside of a section with tasks")
	}
}

// unboxed is the text of a list item without its box.
func unboxed(text string) string { return patterns().box.ReplaceAllString(text, "") }

func (r *reader) skip(b block, why string) {
	r.skipped = append(r.skipped, Skipped{Line: b.line, Text: b.text, Why: why})
}
