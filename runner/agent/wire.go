package agent

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"ralph/state"
)

// meter adds up the usage of one call from records that repeat themselves:
// every block of a message carries the usage of the whole message, and a final
// record that of the whole turn.
type meter struct {
	base    state.Usage // counted by the session before this call
	counted state.Usage // counted by the session so far, as the agent says
	turns   state.Usage // finished turns of this call
	open    state.Usage // finished messages of the running turn
	last    state.Usage // the running message
	id      string      // of the running message
	cost    float64     // of this call
	shown   state.Usage
}

// note takes the usage of one message of the running turn.
func (m *meter) note(id string, u state.Usage) {
	if id == "" || id != m.id {
		m.open, m.id = m.open.Add(m.last), strings.Clone(id)
	}
	m.last = u
}

// endTurn replaces the messages of the turn by the total of its final record,
// if that has one.
func (m *meter) endTurn(total *state.Usage) {
	u := m.open.Add(m.last)
	if total != nil {
		u = *total
	}
	m.turns = m.turns.Add(u)
	m.open, m.last, m.id = state.Usage{}, state.Usage{}, ""
}

// setTokens takes token counts that go on over the whole session.
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

// setCost takes the cost of the process so far; with carried it goes on over
// the whole session.
func (m *meter) setCost(usd float64, carried bool) {
	m.counted.CostUSD = usd
	if carried && usd >= m.base.CostUSD {
		usd -= m.base.CostUSD
	}
	m.cost = usd
}

func (m *meter) read() (u state.Usage, changed bool) {
	u = m.turns.Add(m.open).Add(m.last)
	u.CostUSD += m.cost
	changed = u != m.shown
	m.shown = u
	return u, changed
}

// pick reads the named members of an object in one pass; a missing one is the
// zero Result. Nesting costs nothing: values are skipped, not parsed.
func pick(obj gjson.Result, keys ...string) []gjson.Result {
	out := make([]gjson.Result, len(keys))
	if !obj.IsObject() {
		return out
	}
	obj.ForEach(func(k, v gjson.Result) bool {
		for i, key := range keys {
			if k.Str == key && !out[i].Exists() {
				out[i] = v
				break
			}
		}
		return true
	})
	return out
}

// codes collects the non-empty scalars as machine-readable names.
func codes(rs ...gjson.Result) []string {
	var out []string
	for _, r := range rs {
		if (r.Type == gjson.String || r.Type == gjson.Number) && r.String() != "" {
			out = append(out, cut(r.String(), 80))
		}
	}
	return out
}

// cut returns a copy of at most limit bytes of valid UTF-8, with a mark where
// text is missing. A copy, so that an event never keeps a whole line alive.
func cut(s string, limit int) string {
	if len(s) > limit {
		end := limit
		for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		return strings.ToValidUTF8(s[:end], "\uFFFD") + " …"
	}
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}

// mainArgs are the names under which tools take the argument that tells most.
var mainArgs = [...]string{"command", "cmd", "file_path", "filePath", "path", "absolute_path", "notebook_path",
	"pattern", "query", "url", "prompt", "description", "skill", "question", "questions"}

// argument is the main argument of a tool call on one line.
func argument(input gjson.Result) string {
	if !input.IsObject() {
		return oneLine(input.String())
	}
	vals := pick(input, mainArgs[:]...)
	for _, v := range vals {
		if v.Exists() && v.String() != "" {
			return oneLine(v.String())
		}
	}
	if raw := strings.TrimSpace(input.Raw); raw != "{}" {
		return oneLine(raw)
	}
	return ""
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(cut(s, 4*maxArgRunes)), " ")
	if utf8.RuneCountInString(s) > maxArgRunes {
		s = string([]rune(s)[:maxArgRunes-1]) + "…"
	}
	return s
}

// content is the text of a tool result: a string, or an array of text blocks.
func content(r gjson.Result) string {
	if !r.IsArray() {
		return r.String()
	}
	var b strings.Builder
	r.ForEach(func(_, block gjson.Result) bool {
		b.WriteString(block.Get("text").String())
		return b.Len() < maxToolText
	})
	return b.String()
}

// stripTerminal removes what a terminal adds to a line: escape sequences, the
// echo of a typed control key in front of it ("^C"), and all that a carriage
// return overwrites.
func stripTerminal(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = stripEscapes(s)
	}
	for len(s) > 2 && s[0] == '^' && s[1] >= '@' && s[1] <= '_' && s[1] != '^' {
		s = s[2:]
	}
	if i := strings.LastIndexByte(strings.TrimRight(s, "\r"), '\r'); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimLeft(s, "\x00\a\b")
}

func stripEscapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != 0x1b {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i >= len(s) {
			break
		}
		switch s[i] {
		case '[': // CSI: parameters, then one final byte
			for i++; i < len(s) && (s[i] < 0x40 || s[i] > 0x7e); i++ {
			}
		case ']', 'P', '_', '^': // OSC and strings: up to BEL or ESC \
			for i++; i < len(s) && s[i] != '\a' && s[i] != 0x1b; i++ {
			}
			if i+1 < len(s) && s[i] == 0x1b && s[i+1] == '\\' {
				i++
			} else if i < len(s) && s[i] == 0x1b {
				i-- // a new sequence begins
			}
		case '(', ')', '#', ' ': // one more byte
			i++
		}
	}
	return b.String()
}
