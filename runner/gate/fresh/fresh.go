// Package fresh tells tests that were written just now from tests that passed before.
package fresh

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// Marks before a name in the list of what passed.
const (
	itself = "=" // the test or unit passed
	within = "<" // a test in it did
)

// Add returns green with the names of tests and units that passed, in order. Names
// are kept as short hashes: there may be thousands.
func Add(green, passed []string) []string {
	all := slices.Clone(green)
	for _, name := range passed {
		all = append(all, hash(itself+name))
		for above := range parents(name) {
			all = append(all, hash(within+above))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Known reports whether a failed test or unit passed before: it did itself, a test
// in it did, or the unit that it is in, whose tests have no names in the output.
func Known(green []string, name string) bool {
	has := func(mark, name string) bool {
		_, found := slices.BinarySearch(green, hash(mark+name))
		return found
	}
	if has(itself, name) || has(within, name) {
		return true
	}
	for above := range parents(name) {
		if has(itself, above) && !has(within, above) {
			return true
		}
	}
	return false
}

// parents yields the names of what a test is in: suite, file, package.
func parents(name string) func(yield func(string) bool) {
	const joints = "./: >"
	return func(yield func(string) bool) {
		for {
			i := strings.LastIndexAny(name, joints)
			if i <= 0 {
				return
			}
			name = strings.TrimRight(name[:i], joints)
			if name == "" || !yield(name) {
				return
			}
		}
	}
}

func hash(name string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}
