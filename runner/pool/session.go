package pool

import (
	"time"

	"ralph/runner/agent/ending"
	"ralph/runner/turn"
	"ralph/state"
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

// SessionAfter is the session after a turn; changed is false when it stays the same.
func SessionAfter(s state.Session, res turn.Result) (next state.Session, changed bool) {
	now, class, of := time.Now(), res.Call.Outcome.Class, res.Call.Session
	switch {
	case class == ending.StaleSession || class == ending.ContextTooLong || class == ending.Repeating:
		return state.Session{Agent: res.Agent, ResetAt: now, ResetReason: string(class)}, true
	case of.ID == "":
		return s, false
	case res.Failed() && class != ending.TimeoutWithWork:
		if of.ID != s.SessionID {
			return s, false
		}
		s.Counted = of.Counted // or the next call would count it again
		return s, true
	case s.SessionID != of.ID:
		s = state.Session{Agent: res.Agent, SessionID: of.ID, CreatedAt: now}
	}
	s.LastUsed, s.Counted = now, of.Counted
	return s, true
}

// Resumable is the session for the next call of an agent, zero for a fresh start. Only
// sessions that ralph itself began are ever resumed.
func (c *Continuity) Resumable(s state.Session, agent string) turn.Session {
	if !c.Continue || s.Agent != agent || time.Since(s.LastUsed) > c.SessionExpiry {
		return turn.Session{}
	}
	return turn.Session{ID: s.SessionID, Counted: s.Counted}
}
