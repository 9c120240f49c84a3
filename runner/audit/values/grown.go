package values

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// WithLists returns a test as it was, with those of its lists that only grew as they are now. In data, all lines that
// are new are such rows.
func WithLists(before, after string, data bool) string {
	if data && grown(before, after) {
		return after
	}
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	added := Without(is, was)
	for _, line := range Without(was, is) {
		i := slices.IndexFunc(added, func(now string) bool { return shape(now) == shape(line) && grown(line, now) })
		if i >= 0 {
			was[slices.Index(was, line)] = added[i]
		}
	}
	return strings.Join(was, "\n")
}

// shape is a line of code without its values.
func shape(line string) string {
	return strings.Join(strings.FieldsFunc(literals().ReplaceAllString(line, ""),
		func(r rune) bool { return r == ',' || r == ' ' }), "")
}

// grown reports whether a text has all words that it had, in their order, and more.
func grown(before, after string) bool {
	left := tokens().FindAllString(before, -1)
	for _, word := range tokens().FindAllString(after, -1) {
		if len(left) > 0 && left[0] == word {
			left = left[1:]
		}
	}
	return len(left) == 0
}

var tokens = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\w+|[^\w\s]`) })
