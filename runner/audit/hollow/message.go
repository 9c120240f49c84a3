package hollow

import (
	"regexp"
	"strings"
	"sync"
)

var truths = sync.OnceValue(func() (p struct{ call, value, compares *regexp.Regexp }) {
	p.call = regexp.MustCompile(`^assert(?:\.ok)?\((.+)\);?$`)
	p.value = regexp.MustCompile(`^(?:-?\d[\d_.]*n?|/.+/\w*|\[.*\]|\{.*\}|true|false|null|undefined)$`)
	p.compares = regexp.MustCompile(`[=!]==?|&&|\|\||!|(?:^|[^=])[<>]`)
	return p
})

// message returns the assertion of a truth in JavaScript that has a value where its message should be: "assert(f(1),
// 2)"; empty: none.
func message(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		m := truths().call.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if all := arguments(m[1]); len(all) == 2 && truths().value.MatchString(all[1]) &&
			!truths().compares.MatchString(all[0]) {
			return line
		}
	}
	return ""
}

// arguments splits a list at its commas, but not those in brackets and quotes.
func arguments(list string) (all []string) {
	depth, quote, from := 0, byte(0), 0
	for i := range len(list) {
		switch c := list[i]; {
		case quote != 0:
			if c == quote && list[i-1] != '\\' {
				quote = 0
			}
		case strings.IndexByte("\"'`", c) >= 0:
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			all, from = append(all, strings.TrimSpace(list[from:i])), i+1
		}
	}
	return append(all, strings.TrimSpace(list[from:]))
}
