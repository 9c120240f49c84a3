package agent

import (
	"strings"

	"ralph/state"
)

// meter adds up the usage of one call. Records repeat each other: every block of a
// message has the usage of the whole message, and the final record that of the
// whole turn.
type meter struct {
	Base    state.Usage // of the session before this call
	Counted state.Usage // of the session so far, as reported by the agent
	turns   state.Usage // finished turns of this call
	open    state.Usage // finished messages of the current turn
	last    state.Usage // the current message
	id      string      // of the current message
	cost    float64     // of this call
	shown   state.Usage // the last result of Read
}

// Note sets the usage of a message of the current turn.
func (m *meter) Note(id string, u state.Usage) {
	if id == "" || id != m.id {
		m.open, m.id = m.open.Add(m.last), strings.Clone(id)
	}
	m.last = u
}

// EndTurn ends the current turn. A total replaces the sum of its messages.
func (m *meter) EndTurn(total *state.Usage) {
	u := m.open.Add(m.last)
	if total != nil {
		u = *total
	}
	m.turns = m.turns.Add(u)
	m.open, m.last, m.id = state.Usage{}, state.Usage{}, ""
}

// SetTokens sets the tokens of the whole session so far.
func (m *meter) SetTokens(u state.Usage) {
	u.CostUSD = m.Counted.CostUSD
	m.Counted = u
	m.open, m.last, m.id = state.Usage{}, state.Usage{}, ""
	m.turns = u
	if b := m.Base; u.InputTokens >= b.InputTokens && u.OutputTokens >= b.OutputTokens {
		m.turns.InputTokens -= b.InputTokens
		m.turns.OutputTokens -= b.OutputTokens
		m.turns.CacheReadTokens = max(0, u.CacheReadTokens-b.CacheReadTokens)
		m.turns.CacheWriteTokens = max(0, u.CacheWriteTokens-b.CacheWriteTokens)
	}
	m.turns.CostUSD = 0
}

// SetCost sets the cost so far: of the session if carried, else of the process.
func (m *meter) SetCost(usd float64, carried bool) {
	m.Counted.CostUSD = usd
	if carried && usd >= m.Base.CostUSD {
		usd -= m.Base.CostUSD
	}
	m.cost = usd
}

// Read returns the usage of the call, and whether it has changed.
func (m *meter) Read() (u state.Usage, changed bool) {
	u = m.turns.Add(m.open).Add(m.last)
	u.CostUSD += m.cost
	changed = u != m.shown
	m.shown = u
	return u, changed
}
