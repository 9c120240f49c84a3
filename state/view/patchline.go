package view

import (
	"strings"

	"ralph/logs"
	"ralph/logs/termtext"
)

const maxColumn = 400 // runes of a line

// PatchLine makes a line inert and bounded, and says what it is: add, del, at, file or empty.
func PatchLine(line string) (tone, text string) {
	text = cut(line)
	return toneOf(text), text
}

// cut makes one row of a patch inert and bounded.
func cut(s string) string {
	if len(s) > 4*maxColumn {
		s = s[:4*maxColumn]
	}
	s = strings.ReplaceAll(termtext.Clean(logs.Redact(strings.ReplaceAll(s, "\t", "    "))), "\n", " ")
	if runes := []rune(s); len(runes) > maxColumn {
		return string(runes[:maxColumn]) + "…"
	}
	return s
}

func toneOf(s string) string {
	for _, row := range []struct{ prefix, tone string }{
		{"diff --git", "file"}, {"+++ ", "file"}, {"--- ", "file"}, {"@@", "at"}, {"+", "add"}, {"-", "del"},
	} {
		if strings.HasPrefix(s, row.prefix) {
			return row.tone
		}
	}
	return ""
}
