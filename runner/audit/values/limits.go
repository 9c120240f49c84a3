package values

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// limit matches keys of settings that say how much is allowed or asked for.
var limit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^no[-_]|need|requir|enforc|forbid|max|min|limit|thresh|under|level|cover|complex|` +
		`length|lines?\b|width|warn|deny|unused|unsafe|strict|fail|toler|percent|ratio|score|budget|exclude|` +
		`ignore|allow`)
})

var amount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^["']?(?:\d+(?:\.\d+)?%?|off|allow|warn(?:ing)?|error|deny|forbid|true|false)["']?$`)
})

// Limits returns the limits with another value in settings in which nothing but values changed, as "max_lines = 25
// instead of 20"; nil if there are none, or if more changed.
func Limits(before, after string) (all []string) {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	added := Without(is, was)
	for _, line := range Without(was, is) {
		key, old, ok := setting(line)
		if !ok && strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			return nil
		}
		i := slices.IndexFunc(added, func(other string) bool { k, _, ok := setting(other); return ok && k == key })
		if i < 0 {
			return nil
		}
		if _, now, _ := setting(added[i]); now != old && limit().MatchString(key) && amount().MatchString(old) &&
			amount().MatchString(now) {
			all = append(all, key+" = "+now+" instead of "+old)
		}
	}
	return all
}

// setting reads "KEY = VALUE" and "key: value".
func setting(line string) (key, value string, ok bool) {
	m := patterns().pair.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimRight(strings.TrimSpace(m[2]), ","), true
}
