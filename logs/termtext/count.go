package termtext

import "strconv"

// Count returns "1 file", "2 files".
func Count(n int, noun string) string { return Counted(n, noun, noun+"s") }

// Counted is Count for words with another plural: "1 test fails", "2 tests fail".
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Each returns the text of each element, in their order.
func Each[T any](all []T, text func(T) string) []string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = text(one)
	}
	return texts
}

// Thousands returns a number with commas: "1,234,567".
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
