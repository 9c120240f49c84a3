package view

import (
	"strings"

	"ralph/logs"
	"ralph/logs/termtext"
)

const maxColumn = 400 // runes of a line

// PatchLine makes a line inert and bounded, and says what it is: add, del, at, file or empty.
func PatchLine(line string) (tone, text string) {
	line = strings.ReplaceAll(line[:min(len(line), 4*maxColumn)], "\t", "    ")
	text = strings.ReplaceAll(termtext.Clean(logs.Redact(line)), "\n", " ")
	if runes := []rune(text); len(runes) > maxColumn {
		text = string(runes[:maxColumn]) + "…"
	}
	return toneOf(text), text
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
