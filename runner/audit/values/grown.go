package values

import (
	"regexp"
	"sync"
)

// Grown reports whether a text has all words that it had, in their order, and more.
func Grown(before, after string) bool {
	left := tokens().FindAllString(before, -1)
	for _, word := range tokens().FindAllString(after, -1) {
		if len(left) > 0 && left[0] == word {
			left = left[1:]
		}
	}
	return len(left) == 0
}

var tokens = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\w+|[^\w\s]`) })
