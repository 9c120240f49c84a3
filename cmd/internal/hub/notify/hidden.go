package notify

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ralph/logs/termtext"
)

// hidden returns the error on one line. It hides every address in it, and each part of this one (user, host, path,
// parameters), however the part is escaped.
func hidden(err error, to string) error {
	u, parseErr := url.Parse(to)
	if parseErr != nil {
		return errors.New("it cannot be read")
	}
	parts := []string{u.Host, u.Hostname()}
	key, _ := u.User.Password()
	for _, raw := range append(strings.Split(u.EscapedPath(), "/"), u.User.String(), url.PathEscape(u.User.Username()),
		url.PathEscape(key), u.EscapedFragment()) {
		parts = append(parts, spellings(raw)...)
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if _, value, ok := strings.Cut(pair, "="); ok {
			pair = value // the name is not secret
		}
		parts = append(parts, spellings(pair)...)
	}
	text := strings.ReplaceAll(err.Error(), to, "[address]")
	text = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"']+`).ReplaceAllString(text, "[address]")
	if secrets := anyOf(parts); secrets != nil {
		text = secrets.ReplaceAllString(text, "[...]")
	}
	return errors.New(termtext.Line(text))
}

// spellings are the forms in which a part of an address may be quoted, and those of the words in it.
func spellings(raw string) (all []string) {
	forms := []string{raw}
	for _, decode := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
		if plain, err := decode(raw); err == nil {
			forms = append(forms, plain, url.PathEscape(plain), url.QueryEscape(plain))
		}
	}
	for _, form := range forms {
		all = append(append(all, form), strings.FieldsFunc(form, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})...)
	}
	return all
}

// open are parts of addresses that are no secrets.
func open() []string {
	return []string{"yes", "no", "true", "false", "http", "https", "hook", "webhook", "telegram"}
}

// anyOf matches any of the parts, a short one only as a word; nil: there are none. A single character is no secret: a
// sentence may have it, too.
func anyOf(parts []string) *regexp.Regexp {
	slices.SortFunc(parts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var patterns []string
	for _, part := range slices.Compact(parts) {
		pattern := regexp.QuoteMeta(part)
		switch {
		case len(part) < 2 || slices.Contains(open(), strings.ToLower(part)):
			continue
		case len(part) < 4:
			pattern = `\b` + pattern + `\b`
		}
		patterns = append(patterns, pattern)
	}
	if len(patterns) == 0 {
		return nil
	}
	return regexp.MustCompile("(?i)" + strings.Join(patterns, "|"))
}
