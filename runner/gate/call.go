package gate

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// toolCall is a shell command that calls one program and does nothing else.
type toolCall struct {
	Text  string
	Words []string // "?" for a quoted or expanded word; nil: the command does more
	ends  []int    // offset after each word
}

// parseCall parses a shell command.
func parseCall(command string) toolCall {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		return toolCall{}
	}
	s := file.Stmts[0]
	expr, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || len(s.Redirs) > 0 {
		return toolCall{}
	}
	c := toolCall{Text: command}
	for _, w := range expr.Args {
		text := w.Lit()
		if text == "" {
			text = "?"
		}
		c.Words = append(c.Words, text)
		c.ends = append(c.ends, int(w.End().Offset()))
	}
	return c
}

// After inserts text after a word.
func (c toolCall) After(word int, text string) string {
	return c.Text[:c.ends[word]] + " " + text + c.Text[c.ends[word]:]
}

// HasAny reports whether a word is one of these, or starts with one and "=".
func (c toolCall) HasAny(prefixes ...string) bool {
	return slices.ContainsFunc(c.Words, func(word string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return word == p || strings.HasPrefix(word, p+"=") })
	})
}
