package config

import (
	"errors"
	"strings"
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
	return s, c.Located(s.Check())
}

// Located puts the place of an option in front of an error that begins with the option's key. Any error becomes a
// *UsageError.
func (c *Config) Located(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	end := strings.IndexAny(text+" ", " :=")
	key, problem := text[:end], text[end:]
	if from := c.Source(key); from.Where != "" && strings.HasPrefix(problem, ": ") {
		return c.Bad(key, errors.New(problem[2:]))
	}
	return &UsageError{c.Source(key).Where, text}
}
