// Package session keeps the agent's own session from call to call.
package session

import (
	"time"

	"ralph/runner/agent/ending"
	"ralph/runner/turn"
	"ralph/state"
)

// After is the session after a turn; changed is false when it stays the same.
func After(s state.Session, res turn.Result) (next state.Session, changed bool) {
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
