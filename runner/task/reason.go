package task

import (
	"regexp"
	"sync"
)

// signature matches the end of a reason that ralph has written into a plan.
var signature = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` <!-- ralph ([0-9a-f]{8}) -->`) })

// Signed is a reason as ralph writes it into a plan: with a mark by which it knows the text as its own.
func Signed(why string) string { return why + " <!-- ralph " + Hash(why) + " -->" }

// Signatures are the places of such marks in a text, the first first.
func Signatures(text string) [][]int { return signature().FindAllStringIndex(text, -1) }

// Unsigned is what ralph wrote in front of the mark. It is false if there is no mark, or if somebody
// has changed the text since: then it is theirs.
func Unsigned(text string) (why string, own bool) {
	m := signature().FindStringSubmatchIndex(text)
	if m == nil || m[1] != len(text) || Hash(text[:m[0]]) != text[m[2]:m[3]] {
		return "", false
	}
	return text[:m[0]], true
}
