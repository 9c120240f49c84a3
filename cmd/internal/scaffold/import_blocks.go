package scaffold

import (
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/task/boxes"
)

// kind is the kind of a block.
type kind int

const (
	heading kind = iota
	paragraph
	listItem
	almost // a box
	importerTable
	quotation // or indented code, HTML
	hidden    // code or a comment
	front     // matter
)

// block is a part of a text at its top level.
type block struct {
	kind  kind
	level int // of a heading
	line  int // 1-based; last too
	last  int
	text  string // a table has its lines
	// more are the paragraphs below a list item, and items the list items.
	more  []string
	items []item
}

// item is a list item below another one.
type item struct {
	text   string
	line   int
	almost bool // it only looks like a box
}

// splitter splits Markdown into blocks.
type splitter struct {
	blocks []block
	// open is the text that the next line may go on with; nil: none.
	open   *string
	isText bool // open is a paragraph at the top level, so it may become a heading
	inItem bool // the last block is a list item that a line of more indent belongs to
	indent int  // of that item's marker
}

// split returns the blocks of a text. It knows what plans are made of, and takes any other
// Markdown for paragraphs.
func split(text string) []block {
	var s splitter
	end, number := 0, 0 // of the line before
	first := frontMatter(text)
	if first > 0 {
		s.add(block{kind: front, line: 1, last: first, text: text[:strings.IndexByte(text, '\n')]})
	}
	for l := range boxes.MarkdownLines(text) {
		if l.Code || l.Text == "" && l.End > l.Start { // the next line takes it
			continue
		}
		if l.Number <= first {
			end, number = l.End, l.Number
			continue
		}
		if hidden := text[end:l.Start]; strings.TrimSpace(hidden) != "" {
			s.hidden(number+1, hidden)
		}
		end, number = l.End, l.Number
		raw := text[l.Start:l.End]
		switch {
		case strings.TrimSpace(raw) == "":
			s.open = nil
		case strings.TrimSpace(l.Text) == "":
			s.hidden(l.Number, raw)
		default:
			s.line(l.Number, raw)
		}
	}
	if hidden := text[end:]; strings.TrimSpace(hidden) != "" {
		s.hidden(number+1, hidden)
	}
	return s.blocks
}

// frontMatter returns the number of the lines of YAML on top of a text.
func frontMatter(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch n++; {
		case n == 1 && line != "---", n == 2 && !strings.Contains(line, ":"):
			return 0
		case n > 1 && (line == "---" || line == "..."):
			return n
		}
	}
	return 0
}

func (s *splitter) add(b block) *block {
	b.last = max(b.last, b.line)
	if b.text = strings.TrimSpace(b.text); b.kind != importerTable {
		b.text = termtext.Unwrap(b.text)
	}
	s.blocks = append(s.blocks, b)
	s.open, s.isText, s.inItem = nil, false, false
	return &s.blocks[len(s.blocks)-1]
}

// hidden takes fenced code and comments.
func (s *splitter) hidden(line int, text string) {
	first := strings.TrimLeft(text, "\r\n")
	if s.inItem && boxes.Indent(first) > s.indent {
		s.below(dedent(first))
		s.open = nil
		return
	}
	line += strings.Count(text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))], "\n")
	s.add(block{kind: hidden, line: line, last: line + strings.Count(strings.TrimSpace(text), "\n"), text: text})
}

// dedent returns a text without the indent of its first line.
func dedent(text string) string {
	indent := text[:boxes.Blank(text)]
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(strings.TrimPrefix(line, indent), " \t\r\n"))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func (s *splitter) line(number int, text string) {
	trimmed := strings.TrimSpace(text)
	indent, marker := boxes.Indent(text), boxes.MarkerLen(trimmed)
	level, title, isHeading := boxes.ATXHeading(text)
	underline := boxes.SetextLevel(text)
	switch {
	case s.inItem && indent > s.indent:
		s.inside(number, trimmed, marker)
	case isHeading:
		s.add(block{kind: heading, level: level, line: number, text: boxes.CleanHeading(title)})
	case s.isText && s.open != nil && underline > 0:
		last := &s.blocks[len(s.blocks)-1]
		last.kind, last.level, s.open = heading, underline, nil
	case isRule(trimmed):
		s.open, s.inItem = nil, false
		return
	case isAlmostBox(trimmed) && indent < 4:
		s.add(block{kind: almost, line: number, text: trimmed})
	case marker > 0 && indent < 4:
		b := s.add(block{kind: listItem, line: number, text: trimmed[marker:]})
		s.open, s.inItem, s.indent = &b.text, true, indent
	case trimmed[0] == '|' && indent < 4:
		s.row(number, trimmed)
	case s.open != nil:
		*s.open = termtext.Unwrap(*s.open + " " + trimmed)
	case trimmed[0] == '>', trimmed[0] == '<', indent >= 4:
		b := s.add(block{kind: quotation, line: number, text: trimmed})
		s.open = &b.text
	default:
		b := s.add(block{kind: paragraph, line: number, text: trimmed})
		s.open, s.isText = &b.text, true
	}
	s.blocks[len(s.blocks)-1].last = number
}

// row takes a line of a table.
func (s *splitter) row(number int, text string) {
	if n := len(s.blocks) - 1; n >= 0 && s.blocks[n].kind == importerTable && s.blocks[n].last == number-1 {
		s.blocks[n].text += "\n" + text
		return
	}
	s.add(block{kind: importerTable, line: number, text: text})
}

// inside takes a line that belongs to the last list item.
func (s *splitter) inside(number int, text string, marker int) {
	in := &s.blocks[len(s.blocks)-1]
	switch {
	case isAlmostBox(text):
		in.items, s.open = append(in.items, item{text, number, true}), nil
	case marker > 0:
		in.items = append(in.items, item{text: termtext.Unwrap(text[marker:]), line: number})
		s.open = &in.items[len(in.items)-1].text
	case text[0] == '|':
		s.below(text)
		s.open = nil
	case s.open != nil:
		*s.open = termtext.Unwrap(*s.open + " " + text)
	default:
		s.below(termtext.Unwrap(text))
	}
}

// below adds a paragraph to the last list item.
func (s *splitter) below(text string) {
	item := &s.blocks[len(s.blocks)-1]
	item.more = append(item.more, text)
	s.open = &item.more[len(item.more)-1]
}

// isRule reports whether a line is a thematic break.
func isRule(text string) bool {
	marks := strings.NewReplacer(" ", "", "\t", "").Replace(text)
	return len(marks) >= 3 && strings.Trim(marks, marks[:1]) == "" && strings.Contains("-*_", marks[:1])
}
