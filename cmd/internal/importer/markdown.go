package importer

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var patterns = sync.OnceValue(func() (p struct{ story, tasks, criteria, nongoals, box *regexp.Regexp }) {
	p.story = regexp.MustCompile(`^(?i:(?:user )?(?:story|task|feature|epic|milestone)\s*#?[\w.]*\s*[:–—-]\s*\S)|^[A-Z]{1,6}-\d+(?:\.\d+)*\b|^[A-Z]{1,3}\d+[:.]`)
	p.tasks = regexp.MustCompile(`(?i)\b(?:tasks?|to-?dos?|user stories|stories|features|requirements|backlog|milestones|plan|scope|roadmap|deliverables)\b`)
	p.criteria = regexp.MustCompile(`(?i)\b(?:acceptance|criteria|definition of done|done when)\b`)
	p.nongoals = regexp.MustCompile(`(?i)\b(?:non-?goals?|out of scope|not in scope|later|future|won't)\b`)
	p.box = regexp.MustCompile(`^\[([ xX])\]\s+`)
	return p
})

// Markdown reads the tasks of a text: boxes, headings that are stories, and the list items below
// a heading such as "Tasks" or in a text without headings. What is below a task describes it.
func Markdown(data []byte) ([]Item, []Skipped) {
	m := reader{data: data}
	blocks := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...)) // the text within is taken as it is
	doc := blocks.Parse(text.NewReader(data))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			m.headings = append(m.headings, h)
		}
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		m.block(n)
	}
	return m.items, m.skipped
}

type reader struct {
	data     []byte
	headings []*ast.Heading

	items   []Item
	skipped []Skipped
	// current is the story whose heading came last, and level that heading's; nil: none.
	current  *int
	level    int
	tasks    bool // the section lists tasks
	criteria bool // the section lists criteria of the current story
	out      bool // the section says what is not to be done
}

func (m *reader) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		m.heading(n)
	case *ast.List:
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			m.listItem(item)
		}
	case *ast.Paragraph, *ast.TextBlock:
		body := m.text(n)
		if m.current != nil && !m.out {
			if label := strings.Trim(body, "*_: "); len(label) < 40 && patterns().criteria.MatchString(label) {
				m.criteria = true // "**Acceptance criteria:**" above a list
				return
			}
			item := &m.items[*m.current]
			item.Description = strings.TrimSpace(item.Description + "\n" + body)
			return
		}
		m.skip(n, "it is text outside of a task")
	case *ast.ThematicBreak:
	default:
		m.skip(n, "it is code, a quotation or a table")
	}
}

func (m *reader) heading(n *ast.Heading) {
	title := m.text(n)
	m.criteria = m.current != nil && n.Level > m.level && patterns().criteria.MatchString(title)
	if m.criteria {
		return
	}
	if m.current != nil && n.Level <= m.level {
		m.current = nil
	}
	if m.out = patterns().nongoals.MatchString(title); m.out {
		m.current, m.tasks = nil, false
		return
	}
	if n.Level > 1 && patterns().story.MatchString(title) {
		m.items = append(m.items, Item{Title: title, Line: m.line(n)})
		last := len(m.items) - 1
		m.current, m.level, m.tasks = &last, n.Level, false
		return
	}
	m.tasks = n.Level > 1 && patterns().tasks.MatchString(title) || n.Level > 2 && m.tasks
}

func (m *reader) listItem(n ast.Node) {
	first := n.FirstChild()
	if first == nil {
		return
	}
	body := m.text(first)
	box := patterns().box.FindStringSubmatch(body)
	switch {
	case m.out:
		m.skip(first, "it is below a heading that says what is not to be done")
	case m.current != nil:
		item := &m.items[*m.current]
		item.Criteria = append(item.Criteria, patterns().box.ReplaceAllString(body, ""))
	case box != nil || m.tasks || len(m.headings) == 0 || len(m.headings) == 1 && m.headings[0].Level == 1:
		item := Item{Title: patterns().box.ReplaceAllString(body, ""), Line: m.line(first), Done: box != nil && box[1] != " "}
		for child := first.NextSibling(); child != nil; child = child.NextSibling() {
			list, ok := child.(*ast.List)
			if !ok {
				item.Description = strings.TrimSpace(item.Description + "\n" + m.text(child))
				continue
			}
			for c := list.FirstChild(); c != nil; c = c.NextSibling() {
				if c.FirstChild() != nil {
					item.Criteria = append(item.Criteria, patterns().box.ReplaceAllString(m.text(c.FirstChild()), ""))
				}
			}
		}
		m.items = append(m.items, item)
	default:
		m.skip(first, "it is a list item outside of a section with tasks")
	}
}

func (m *reader) skip(n ast.Node, why string) {
	m.skipped = append(m.skipped, Skipped{Line: m.line(n), Text: m.text(n), Why: why})
}

// text is a block's text in one line, as it was written.
func (m *reader) text(n ast.Node) string {
	if n.Type() != ast.TypeBlock || n.Lines() == nil {
		return ""
	}
	return oneLine(string(n.Lines().Value(m.data)))
}

func (m *reader) line(n ast.Node) int {
	if n.Type() != ast.TypeBlock || n.Lines() == nil || n.Lines().Len() == 0 {
		return 0
	}
	return bytes.Count(m.data[:n.Lines().At(0).Start], []byte("\n")) + 1
}
