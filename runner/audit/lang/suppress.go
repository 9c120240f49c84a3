package lang

import "strings"

// Suppressions are the directives in a file that switch a linter, the compiler
// or the coverage off for a place, in order. The same words in a string or in
// the middle of a comment are none.
func (l *Language) Suppressions(raw string) []string {
	places := l.Suppress.FindAllStringIndex(raw, -1)
	if places == nil {
		return nil
	}
	src := Mask(l, raw)
	var all []string
	for _, m := range places {
		code := src.Code[m[0]] == raw[m[0]] // an attribute, no comment
		if code || src.Text[m[0]] == ' ' && startsComment(src.Text, raw, m[0]) {
			all = append(all, strings.Join(strings.Fields(raw[m[0]:m[1]]), " "))
		}
	}
	return all
}

// startsComment says whether nothing of the same comment stands before at.
func startsComment(text, raw string, at int) bool {
	before := strings.TrimRight(raw[:at], " \t")
	return before == "" || before[len(before)-1] == '\n' || text[len(before)-1] != ' '
}
