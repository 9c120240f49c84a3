// Package lazy makes regular expressions that compile on first use, so that programs start fast.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled pattern. It panics if the pattern is invalid.
// Inlined, the program would contain it once for each pattern.
//
//go:noinline
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
