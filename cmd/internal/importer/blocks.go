package importer

import (
	"strings"

	"ralph/runner/task/markdown"
)

// kind is the kind of a block.
type kind int

const (
	heading   kind = iota
	paragraph      // also a table
	listItem
	other // code, a quotation, HTML
)

// block is a part of a text at its top level.
type block struct {
	kind  kind
	level int // of a heading
	line  int // 1-based
	text  string
	// more are the paragraphs below a list item, and items the list items.
	more, items []string
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
	for _, l := range markdown.Lines(text) {
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

func (s *splitter) add(b block) *block {
	b.text = oneLine(b.text)
	s.blocks = append(s.blocks, b)
	s.open, s.isText, s.inItem = nil, false, false
	return &s.blocks[len(s.blocks)-1]
}

// hidden takes fenced code and comments.
func (s *splitter) hidden(line int, text string) {
	if first := strings.TrimLeft(text, "\r\n"); s.inItem && markdown.Indent(first) > s.indent {
		s.below(oneLine(text))
		s.open = nil
		return
	}
	line += strings.Count(text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))], "\n")
	s.add(block{kind: other, line: line, text: text})
}

func (s *splitter) line(number int, text string) {
	trimmed := strings.TrimSpace(text)
	indent, marker := markdown.Indent(text), markdown.MarkerLen(trimmed)
	level, title, isHeading := markdown.ATXHeading(text)
	underline := markdown.SetextLevel(text)
	switch {
	case s.inItem && indent > s.indent:
		s.inside(trimmed, marker)
	case isHeading:
		s.add(block{kind: heading, level: level, line: number, text: markdown.CleanHeading(title)})
	case s.isText && s.open != nil && underline > 0:
		last := &s.blocks[len(s.blocks)-1]
		last.kind, last.level, s.open = heading, underline, nil
	case isRule(trimmed):
		s.open, s.inItem = nil, false
	case marker > 0 && indent < 4:
		b := s.add(block{kind: listItem, line: number, text: trimmed[marker:]})
		s.open, s.inItem, s.indent = &b.text, true, indent
	case s.open != nil:
		*s.open = oneLine(*s.open + " " + trimmed)
	case trimmed[0] == '>', trimmed[0] == '<', indent >= 4:
		b := s.add(block{kind: other, line: number, text: trimmed})
		s.open = &b.text
	default:
		b := s.add(block{kind: paragraph, line: number, text: trimmed})
		s.open, s.isText = &b.text, true
	}
}

// inside takes a line that belongs to the last list item.
func (s *splitter) inside(text string, marker int) {
	item := &s.blocks[len(s.blocks)-1]
	switch {
	case marker > 0:
		item.items = append(item.items, oneLine(text[marker:]))
		s.open = &item.items[len(item.items)-1]
	case s.open != nil:
		*s.open = oneLine(*s.open + " " + text)
	default:
		s.below(oneLine(text))
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
