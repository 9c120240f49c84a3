package cmdline

import (
	"regexp"
	"strings"

	"ralph/logs/termtext"

	"mvdan.cc/sh/v3/syntax"
)

// Brief is text from elsewhere as one short line.
func Brief(text string) string { return termtext.Fit(termtext.Line(text), 60) }

// Quote formats an argv for a POSIX shell. It does not quote the name in --flag=value and
// NAME=value: a quoted name is not an assignment.
func Quote(args ...string) string {
	quoted := make([]string, len(args))
	named := regexp.MustCompile(`^(--[a-z][a-z-]*|[A-Za-z_][A-Za-z0-9_]*)=`)
	for i, s := range args {
		name := named.FindString(s)
		value := s[len(name):]
		if value != "" || name == "" {
			quoted[i] = name + quoteWord(value)
		} else {
			quoted[i] = name
		}
	}
	return strings.Join(quoted, " ")
}

func quoteWord(s string) string {
	if q, err := syntax.Quote(s, syntax.LangPOSIX); err == nil {
		return q
	}
	// The library refuses control characters for POSIX shells.
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
