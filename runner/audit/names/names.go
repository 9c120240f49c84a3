// Package names finds the names of code in prose: text in, names out.
package names

import (
	"regexp"
	"slices"
	"sync"
)

// pattern matches "total(", "to_json", "Cart.Merge", but not "file(s)".
var pattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b([a-zA-Z]\w{2,})\((?:[^s)]|s[^)]|\))|\b([a-zA-Z]\w*_\w+)|\b[A-Z]\w*\.([a-zA-Z]\w{2,})`)
})

// Of returns the names of code in a text, sorted.
func Of(text string) []string {
	var all []string
	for _, m := range pattern().FindAllStringSubmatch(text, -1) {
		all = append(all, m[1]+m[2]+m[3])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
