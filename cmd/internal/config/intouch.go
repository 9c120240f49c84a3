package config

import (
	"cmp"
	"strings"
	"unicode"

	"ralph/state"
)

// InTouch is what the options say about being in touch, and what is wrong with that.
func (c *Config) InTouch() (Notifications, error) {
	s := c.Touch
	switch {
	case c.Notify && len(s.Notify) == 0:
		s.Notify = []string{Desktop}
	case !c.Notify && c.Source("ENABLE_NOTIFICATIONS").Kind == SourceFlag: // --no-notify
		s.Notify = nil
	}
	var kinds []string
	for _, row := range state.Kinds() {
		if !row.Kind.Streams() {
			kinds = append(kinds, string(row.Kind))
		}
	}
	return s, c.Located(s.Check(kinds))
}

// Located puts the place of an option in front of an error that begins with the option's key. A flag or a variable is
// its own place: it replaces the key. In .ralphrc, the key may have another name. Where the error has the value as well,
// another name keeps the key: RALPH_USE_DOCKER=yes is SANDBOX=docker. Any error becomes a *UsageError.
func (c *Config) Located(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsUpper(r) })
	key := text[:max(end, 0)]
	from, name := c.Source(key), cmp.Or(c.spelled[key], key)
	alias := name != key || from.Kind == SourceEnvironment && from.Where != "$"+key
	switch {
	case from.Where == "":
		return &UsageError{Problem: text}
	case alias && strings.HasPrefix(text[end:], "="):
		return &UsageError{from.Where, text}
	case from.Kind == SourceFlag || from.Kind == SourceEnvironment:
		return &UsageError{Problem: from.Where + text[end:]}
	}
	return &UsageError{from.Where, name + text[end:]}
}
