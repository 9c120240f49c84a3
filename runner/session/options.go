package session

import (
	"time"

	"ralph/state/option"
)

// Continuity is what a user can say about sessions.
type Continuity struct {
	Continue      bool // resume ralph's own agent session
	SessionExpiry time.Duration
}

// Options returns the rows of the option table that fill c.
func (c *Continuity) Options() []option.Row {
	return []option.Row{{
		Group: "Session", Key: "SESSION_CONTINUITY", Aliases: []string{"CLAUDE_USE_CONTINUE"},
		Flag: "continue", NoFlag: "no-continue", YAML: "session.continue",
		Kind: option.Bool, Default: "false", Field: &c.Continue,
		Help: "Resume the agent session of the last iteration instead of starting with fresh context.",
	}, {
		Group: "Session", Key: "SESSION_EXPIRY_HOURS", Flag: "session-expiry", Arg: "H", YAML: "session.expiry",
		Kind: option.Hours, Default: "24", Min: "1", Max: "8760", Field: &c.SessionExpiry,
		Help: "Hours after which a session is no longer resumed.",
	}}
}
