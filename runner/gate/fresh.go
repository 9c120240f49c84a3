package gate

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// Prefixes of a name in the list of what passed.
const (
	self  = "=" // the test or unit itself passed
	child = "<" // a test in it passed
)

// addFresh returns green with the names of tests and units that passed, in order. Names
// are kept as short hashes: there may be thousands.
func addFresh(green, passed []string) []string {
	all := slices.Clone(green)
	for _, name := range passed {
		all = append(all, hash(self+name))
		for above := range parents(name) {
			all = append(all, hash(child+above))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// passedBefore reports whether a failed test or unit passed before. It did if it passed itself, if a test in it passed, or if
// the unit that contains it passed and the output did not name the tests in it.
func passedBefore(green []string, name string) bool {
	has := func(mark, name string) bool {
		_, found := slices.BinarySearch(green, hash(mark+name))
		return found
	}
	if has(self, name) || has(child, name) {
		return true
	}
	for above := range parents(name) {
		if has(self, above) && !has(child, above) {
			return true
		}
	}
	return false
}

// parents yields the names of what contains a test: suite, file, package. Parameters and titles may contain any
// separator: "t.py::test_a[x: y]", "a.test.js > adds two: works".
func parents(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") && strings.Contains(name[:i], "::") {
			name = name[:i]
		}
		for {
			separators, i := "./: >", strings.LastIndex(name, " > ")
			if i < 0 {
				i = strings.LastIndexAny(name, separators)
			}
			if i <= 0 {
				return
			}
			name = strings.TrimRight(name[:i], separators)
			if name == "" || !yield(name) {
				return
			}
		}
	}
}

// withinUnit reports whether one of these units contains a test.
func withinUnit(units []string, name string) bool {
	for above := range parents(name) {
		if slices.Contains(units, above) {
			return true
		}
	}
	return false
}

func hash(name string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}
