package values

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	// lostMost is the greatest share of values that tests may lose when they are merged, and lostFew the number
	// that says nothing.
	lostMost = 0.3
	lostFew  = 3
)

var texts = sync.OnceValue(func() (p struct{ prose, format, message *regexp.Regexp }) {
	p.message = regexp.MustCompile(`(?m)^.*\.(?:Error|Fatal|Log)f?\(.*$`)
	p.prose = regexp.MustCompile(`\pL[.,:]? +\pL`) // a message or a title
	p.format = regexp.MustCompile(`%[#+ ]?[a-z]|\$\{\w+\}"$|\{\w*\}"$`)
	return p
})

// Lost returns the values of tests that no test has any more, sorted; nil if they are few. before has the bodies of the
// tests that are gone, after the text of all changed tests.
func Lost(before, after string) []string {
	still := map[string]bool{}
	for _, v := range Literals(after) {
		still[strings.Trim(v, `"'`)] = true
	}
	all, gone := map[string]bool{}, []string(nil)
	for _, v := range Literals(texts().message.ReplaceAllString(before, "")) {
		bare := strings.Trim(v, `"'`)
		if bare == "" || all[bare] || texts().prose.MatchString(v) || texts().format.MatchString(v) {
			continue
		}
		all[bare] = true
		if !still[bare] {
			gone = append(gone, bare)
		}
	}
	if len(gone) < lostFew || float64(len(gone)) < lostMost*float64(len(all)) {
		return nil
	}
	slices.Sort(gone)
	return gone
}
