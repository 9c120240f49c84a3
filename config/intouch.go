package config

import (
	"ralph/config/touch"
	"ralph/state"
)

// InTouch is what the options say about being in touch, and what is wrong with that.
func (c *Config) InTouch() (touch.Settings, error) {
	s := c.Touch
	switch {
	case c.Notify && len(s.Notify) == 0:
		s.Notify = []string{touch.Desktop}
	case !c.Notify && c.Source("ENABLE_NOTIFICATIONS").Kind == SourceFlag: // --no-notify
		s.Notify = nil
	}
	var kinds []string
	for _, row := range state.Kinds() {
		kinds = append(kinds, string(row.Kind))
	}
	return s, s.Check(kinds)
}
