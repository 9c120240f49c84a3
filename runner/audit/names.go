package audit

// This file finds the names of code in prose: text in, names out.

import (
	"slices"
	"strings"

	"ralph/logs/lazy"
)

// pattern matches "total(", "to_json", "Cart.Merge", but not "file(s)".
var pattern = lazy.Regexp(`\b([a-zA-Z]\w{2,})\((?:[^s)]|s[^)]|\))|\b([a-zA-Z]\w*_\w+)|\b[A-Z]\w*\.([a-zA-Z]\w{2,})`)

// NamesOf returns the names of code in a text, sorted.
func NamesOf(text string) []string {
	var all []string
	for _, m := range pattern().FindAllStringSubmatch(text, -1) {
		all = append(all, m[1]+m[2]+m[3])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// HasName is strings.Contains for whole words.
func HasName(text, name string) bool {
	letter := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if (start == 0 || !letter(text[start-1])) && (end == len(text) || !letter(text[end])) {
			return true
		}
		at = end
	}
	return false
}

var (
	span   = lazy.Regexp("`([^`\n]+)`")
	quoted = lazy.Regexp(`"([^"\n]{8,})"|\x{201C}([^\x{201D}\n]{8,})\x{201D}`)
	asked  = lazy.Regexp(`(?i)(\b(?:not|never|no longer|instead of|rather than|without|that|which|still|does|or)\s+(?:to )?|n't )?` +
		"\\b(?:raise|throw|add|introduce|create|define|provide|implement|named|called) (?:(?:an?|the|new|own|custom) )*`" +
		`([a-zA-Z_]\w{2,})(?:\([^\x60]*\))?` + "`")
	// thrown is the name of an error or a type that code returns: "returns ErrClosed".
	thrown = lazy.Regexp(`\b(?:returns?|raises?|throws?) (?:(?:an?|the|new|own|custom) )*([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)\b`)
	camel  = lazy.Regexp(`\b(?:[A-Z][a-z0-9]+|[a-z]+)(?:[A-Z][a-z0-9]+)+\b`) // ErrClosed, maxRetries
	word   = lazy.Regexp(`[a-zA-Z]\w{2,}`)
)

// quotedNames returns the words that stand between backticks in a text, sorted: commands, options, functions.
func quotedNames(text string) []string {
	var all []string
	for _, m := range span().FindAllStringSubmatch(text, -1) {
		all = append(all, word().FindAllString(m[1], -1)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// namesAsked returns the names that follow a verb in a text, sorted: RateLimited in "raise `RateLimited`", ErrClosed in
// "returns ErrClosed".
func namesAsked(text string) []string {
	var all []string
	for _, m := range asked().FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			all = append(all, m[2])
		}
	}
	for _, m := range thrown().FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// PathsIn returns the paths with a slash that stand in a text: "dist/", "build/index.txt".
func PathsIn(text string) []string {
	return paths().inText.FindAllString(address().ReplaceAllString(text, ""), -1)
}

// phrasesOf returns the texts of two words and more that stand between quotes, sorted: messages, labels.
func phrasesOf(text string) []string {
	var all []string
	for _, m := range quoted().FindAllStringSubmatch(text, -1) {
		if phrase := m[1] + m[2]; strings.Contains(strings.TrimSpace(phrase), " ") {
			all = append(all, phrase)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// definition is a name that code defines, in many languages: not a local variable.
var definition = lazy.Regexp(`(?:\bfunc (?:\([^)]*\) )?|` +
	`\b(?:def|class|function|fn|struct|enum|trait|interface|type|object|fun|module) |` +
	`\bexports\.|(?m:^)(?:export )?(?:const|let|var) )(\w+)|(?m:^)[ \t]+(?:\w+ )*(\w+)\([^()]*\) *\{$`)

// calls match calls of functions, not of methods.
var calls = lazy.Regexp(`(?m)(?:^|[^.\w])(\w+)\(`)

func namesIn(found [][]string) map[string]bool {
	all := map[string]bool{}
	for _, m := range found {
		if name := strings.Join(m[1:], ""); name != "" && !slices.Contains(reserved(), name) {
			all[name] = true
		}
	}
	return all
}

func reserved() []string {
	return []string{"if", "for", "while", "switch", "catch", "with", "else", "function", "return"}
}
