package values

import (
	"regexp"
	"sync"
)

const (
	// sameValues is the minimum share of a test's literals in other tests for it to count as one of their
	// rows. With less than minValues it does not count.
	sameValues = 0.8
	minValues  = 4
)

var literals = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'|\b\d+(?:\.\d+)?\b`)
})

// Literals returns the numbers and quoted texts in a text.
func Literals(text string) []string { return literals().FindAllString(text, -1) }

// Kept reports whether tests became rows of a table: nearly all of their literals are there now.
func Kept(text string, there map[string]bool) bool {
	all, kept := map[string]bool{}, 0
	for _, v := range Literals(text) {
		if !all[v] && there[v] {
			kept++
		}
		all[v] = true
	}
	return len(all) >= minValues && float64(kept) >= sameValues*float64(len(all))
}
