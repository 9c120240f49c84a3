package task

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// maxReason limits a reason in a plan, in runes.
const maxReason = 500

// Reason returns a reason in one line.
func Reason(why string) string {
	why = strings.Join(strings.FieldsFunc(why,
		func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(why); len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}
	return why
}

// signature matches the end of a reason that ralph has written into a plan.
var signature = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` <!-- ralph ([0-9a-f]{8}) -->`) })

// Signed returns a reason as ralph writes it into a plan: with a mark by which ralph recognizes its own text.
func Signed(why string) string { return why + " <!-- ralph " + Hash(why) + " -->" }

// Signatures returns the places of such marks in a text, in order.
func Signatures(text string) [][]int { return signature().FindAllStringIndex(text, -1) }

// Unsigned returns what ralph wrote before the mark. own is false if there is no mark, or if somebody
// has changed the text since: then it is theirs.
func Unsigned(text string) (why string, own bool) {
	m := signature().FindStringSubmatchIndex(text)
	if m == nil || m[1] != len(text) || Hash(text[:m[0]]) != text[m[2]:m[3]] {
		return "", false
	}
	return text[:m[0]], true
}
