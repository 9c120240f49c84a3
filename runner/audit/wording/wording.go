// Package wording compares two versions of what a plan says: texts in, answers out.
package wording

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var patterns = sync.OnceValue(func() (p struct{ decoration, weaker, status *regexp.Regexp }) {
	p.decoration = regexp.MustCompile("[*_`~]+|<!--.*?-->|^\\[[ xX]\\]\\s*")
	p.weaker = regexp.MustCompile(`(?i)\b(?:only|stub|skip|skipped|except|without|partial|partially|later|not|` +
		`no longer|todo|defer|deferred|out of scope|optional|basic|simplified|minimal|mock|instead|n/a|won't|wontfix|` +
		`postponed|blocked)\b`)
	p.status = regexp.MustCompile(`(?i)^[-*_ ]*(?:status|progress|state|notes?|updated?|last|eta|owner|assignee|` +
		`commit|branch|pr|attempts?|next)\b[^:]*:`)
	return p
})

// Annotated reports whether now is the same text, perhaps formatted differently or with a
// note that weakens nothing.
func Annotated(was, now string) bool { return Noted(Plain(was), Plain(now)) }

// Noted is Annotated for plain texts.
func Noted(was, now string) bool {
	note, ok := strings.CutPrefix(now, was)
	inWord := note != "" && (note[0] >= 'a' && note[0] <= 'z' || note[0] >= '0' && note[0] <= '9')
	return ok && !inWord && !patterns().weaker.MatchString(note)
}

// Plain is a text without case, marks of Markdown, blanks and the end of a sentence.
func Plain(s string) string {
	s = patterns().decoration.ReplaceAllString(s, "")
	s = strings.Join(strings.Fields(strings.ToLower(s)), " ")
	return strings.TrimRight(s, " .;:!")
}

// Respelled reports whether only typos were corrected: one letter inside a long word.
// The last letter does not count, since a plural asks for more work.
func Respelled(was, now string) bool {
	x, y := strings.Fields(Plain(was)), strings.Fields(Plain(now))
	if len(x) != len(y) {
		return false
	}
	for i, a := range x {
		b := y[i]
		if len(a) > len(b) {
			a, b = b, a
		}
		same := 0
		for same < len(a) && a[same] == b[same] {
			same++
		}
		letters := strings.Trim(a+b, "abcdefghijklmnopqrstuvwxyz") == ""
		if a != b &&
			(!letters || len(a) < 5 || same == 0 || same == len(a) || len(b) != len(a)+1 || a[same:] != b[same+1:]) {
			return false
		}
	}
	return true
}

// Similar reports whether the texts share at least half of the longer one's words.
func Similar(x, y []string) bool {
	common := 0
	for _, w := range x {
		if slices.Contains(y, w) {
			common++
		}
	}
	return common > 0 && 2*common >= max(len(x), len(y))
}

// Status reports whether a line only says how far a task is.
func Status(line string) bool { return patterns().status.MatchString(line) }
