package agenthooks

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Linter is the command line for sh that looks at a file; empty if there is none.
func Linter(lint, file string) string {
	quoted, err := syntax.Quote(file, syntax.LangPOSIX)
	switch {
	case lint == "" || err != nil:
		return ""
	case !strings.Contains(lint, "{file}"):
		return lint + " " + quoted
	}
	return strings.ReplaceAll(lint, "{file}", quoted)
}
