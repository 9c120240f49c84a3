package agent

import (
	"strings"

	"ralph/state"
)

// meter adds up the usage of one call from records that repeat each other: every
// block of a message has the usage of the whole message, and a final record has
// that of the whole turn.
type meter struct {
	base    state.Usage // counted by the session before this call
	counted state.Usage // counted by the session so far, as the agent says
	turns   state.Usage // finished turns of this call
	open    state.Usage // finished messages of the running turn
	last    state.Usage // the running message
	id      string      // of the running message
	cost    float64     // of this call
	shown   state.Usage // what read returned last
}

// note takes the usage of one message of the running turn.
func (m *meter) note(id string, u state.Usage) {
	if id == "" || id != m.id {
		m.open, m.id = m.open.Add(m.last), strings.Clone(id)
	}
	m.last = u
}

// endTurn ends the running turn. A total replaces the sum of its messages.
func (m *meter) endTurn(total *state.Usage) {
	u := m.open.Add(m.last)
	if total != nil {
		u = *total
	}
	m.turns = m.turns.Add(u)
	m.open, m.last, m.id = state.Usage{}, state.Usage{}, ""
}

// setTokens takes token counts of the whole session so far.
func (m *meter) setTokens(u state.Usage) {
	u.CostUSD = m.counted.CostUSD
	m.counted = u
	m.open, m.last, m.id = state.Usage{}, state.Usage{}, ""
	m.turns = u
	if b := m.base; u.InputTokens >= b.InputTokens && u.OutputTokens >= b.OutputTokens {
		m.turns.InputTokens -= b.InputTokens
		m.turns.OutputTokens -= b.OutputTokens
		m.turns.CacheReadTokens = max(0, u.CacheReadTokens-b.CacheReadTokens)
		m.turns.CacheWriteTokens = max(0, u.CacheWriteTokens-b.CacheWriteTokens)
	}
	m.turns.CostUSD = 0
}

// setCost takes the cost of the process so far, or of the whole session if it is
// carried over.
func (m *meter) setCost(usd float64, carried bool) {
	m.counted.CostUSD = usd
	if carried && usd >= m.base.CostUSD {
		usd -= m.base.CostUSD
	}
	m.cost = usd
}

// read returns the usage of the call and whether it is news.
func (m *meter) read() (u state.Usage, changed bool) {
	u = m.turns.Add(m.open).Add(m.last)
	u.CostUSD += m.cost
	changed = u != m.shown
	m.shown = u
	return u, changed
}
