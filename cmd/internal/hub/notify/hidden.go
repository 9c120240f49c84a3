package notify

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ralph/logs/termtext"
)

// open are words of addresses that are no secrets.
func open() []string {
	return []string{"yes", "no", "true", "false", "http", "https", "hook", "webhook", "telegram"}
}

// hidden returns the error on one line. It hides every address in it, and each word of this one (user, host, path,
// values of parameters), however the part is escaped. A single character is no secret: a sentence may have it, too.
func hidden(err error, to string) error {
	u, parseErr := url.Parse(to)
	if parseErr != nil {
		return errors.New("it cannot be read")
	}
	key, _ := u.User.Password()
	_, raw, _ := strings.Cut(to, "://")
	raw, _, _ = strings.Cut(raw, "?")
	parts := []string{raw, u.Path, u.User.Username(), key, u.EscapedFragment(), u.Fragment}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			value = name
		}
		plain, _ := url.QueryUnescape(value) // empty: it is not escaped
		parts = append(parts, value, plain)
	}
	text := strings.ReplaceAll(err.Error(), to, "[address]")
	text = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"']+`).ReplaceAllString(text, "[address]")
	words := strings.FieldsFunc(strings.Join(parts, " "), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	for _, word := range words {
		pattern := "(?i)" + word
		switch {
		case len(word) < 2 || slices.Contains(open(), strings.ToLower(word)):
			continue
		case len(word) < 4:
			pattern = `(?i)\b` + word + `\b`
		}
		text = regexp.MustCompile(pattern).ReplaceAllString(text, "[...]")
	}
	return errors.New(termtext.Line(text))
}
