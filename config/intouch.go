package config

import (
	"fmt"
	"strings"

	"ralph/config/huboptions"
	"ralph/state"
)

// InTouch is what the options say about being in touch, and what is wrong with that.
func (c *Config) InTouch() (huboptions.Settings, error) {
	s := c.Touch
	switch {
	case c.Notify && len(s.Notify) == 0:
		s.Notify = []string{huboptions.Desktop}
	case !c.Notify && c.Source("ENABLE_NOTIFICATIONS").Kind == SourceFlag: // --no-notify
		s.Notify = nil
	}
	var kinds []string
	for _, row := range state.Kinds() {
		if !row.Kind.Streams() {
			kinds = append(kinds, string(row.Kind))
		}
	}
	err := s.Check(kinds)
	if err != nil {
		key, _, _ := strings.Cut(err.Error(), ":")
		if where := c.Source(key).Where; where != "" {
			err = fmt.Errorf("%s: %w", where, err)
		}
	}
	return s, err
}
