package agent

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/agent/wire"
	"ralph/state"
)

// Limits of a decoder, in bytes unless the comment names another unit.
const (
	maxLine     = 16 << 20  // a longer line is skipped, not buffered
	maxText     = 256 << 10 // narration and final messages
	maxToolText = 4 << 10   // results of tools
	maxCLILine  = 1 << 10   // a line outside the records
	maxName     = 200       // ids and names of tools
	maxCalls    = 1024      // tool calls whose arguments are kept
	// After floodLines lines outside the records, only one in thinLines becomes an
	// event, so that a flood is cheap and still visible.
	floodLines = 5000
	thinLines  = 1000
	maxSilent  = 5 // after this many steps without an answer, opencode does not stop by itself
)

// Codes that a decoder adds to those of the agent.
const (
	codeCLI  = string(state.FromCLI) // an error that the CLI printed outside its records
	codeText = "text"                // a result that is plain text: only the exit status shows success
)

// Decoder turns the output of one call into events. It is an io.Writer; how the
// bytes are split into writes does not matter. It is not safe for concurrent use.
type Decoder struct {
	spec   Spec
	emit   func(state.Payload)
	decode func(*Decoder, gjson.Result) bool // returns false for JSON that is not a record; nil for plain text

	lines   wire.Lines
	records wire.Records
	outside int  // lines outside the records
	seen    bool // it has seen a record
	final   bool

	session  string
	calls    map[string]state.Tool // by id
	denied   map[string]bool       // by id
	message  strings.Builder       // pieces of a message, not emitted yet
	lastText string                // the latest message, for formats whose final record has none, and records without a text
	last     bool                  // nothing has followed that message
	silent   int                   // steps of opencode in a row without an answer of the model
	loop     string                // the warning with which gemini stopped a loop; "": none since
	tail     []byte                // the end of what was printed before the first record
	meter    meter
}

// NewDecoder returns a decoder for the row's format. Write and Close call emit.
func (s Spec) NewDecoder(emit func(state.Payload)) *Decoder {
	d := &Decoder{spec: s, emit: emit, calls: map[string]state.Tool{}, denied: map[string]bool{}}
	d.lines = wire.Lines{Max: maxLine, Line: d.line, Long: func() {
		d.hint(fmt.Sprintf("(a line of more than %d MiB was skipped)", maxLine>>20))
	}}
	d.records = wire.Records{Record: d.record, Other: d.cliLine, Torn: func() {
		d.hint("(a broken record was skipped)")
	}}
	d.decode = map[Format]func(*Decoder, gjson.Result) bool{
		FormatClaude: (*Decoder).claude, FormatCodex: (*Decoder).codex,
		FormatGemini: (*Decoder).gemini, FormatOpencode: (*Decoder).opencode,
	}[s.Format]
	return d
}

// Resume sets the usage of a resumed session so far: Counted of its last call. It
// is subtracted from what the agent reports. Call it before the first Write.
func (d *Decoder) Resume(counted state.Usage) { d.meter.Base = counted }

// Counted returns the usage that the agent reports for the session, to be passed
// to Resume when the session is resumed.
func (d *Decoder) Counted() state.Usage { return d.meter.Counted }

// Final reports whether the agent has printed its final record and started
// nothing new since.
func (d *Decoder) Final() bool { return d.final }

// Stuck reports whether the agent asks its model again and again without an answer, and
// will not stop.
func (d *Decoder) Stuck() bool { return d.silent >= maxSilent }

// Write takes the next bytes of output. It never fails.
func (d *Decoder) Write(p []byte) (int, error) { return d.lines.Write(p) }

// Close decodes the last line if it has no newline. Call it once.
func (d *Decoder) Close() {
	d.lines.Close()
	d.flushMessage()
	if _, signal := statusblock.Parse(d.lastText); d.seen && !d.final && d.last && signal {
		d.result(d.lastText, false, nil) // the agent has ended its turn, only the final record is missing
	}
	text := strings.TrimSpace(string(d.tail))
	if d.seen || text == "" {
		return
	}
	// Without records, plain text is the final message. A CLI that should print
	// records needs a status block for that.
	if _, signal := statusblock.Parse(text); d.decode == nil || signal {
		d.result(text, false, []string{codeText})
	}
}

func (d *Decoder) line(line string) {
	line = wire.StripTerminal(strings.TrimRight(line, "\r"))
	switch {
	case d.decode != nil:
		d.records.Line(line)
	case d.shows(line): // plain text is the agent's words
		d.emit(state.Text{Text: wire.Cut(line, maxText)})
	}
}

func (d *Decoder) record(rec gjson.Result) bool {
	if !d.decode(d, rec) {
		return false
	}
	d.seen = true
	d.tail = nil
	return true
}

// shows counts a line outside the records, and reports whether to emit it.
func (d *Decoder) shows(s string) bool {
	if !d.seen {
		d.tail = append(append(d.tail, wire.Cut(s, maxText)...), '\n')
		if len(d.tail) > 2*maxText {
			d.tail = append(d.tail[:0], d.tail[len(d.tail)-maxText:]...)
		}
	}
	d.outside++
	return d.outside <= floodLines || d.outside%thinLines == 0
}

// cliLine handles a line outside the records. A line that looks like an error
// becomes an error event; Classify decides what it means.
func (d *Decoder) cliLine(s string) {
	if !d.shows(s) {
		return
	}
	text := wire.Cut(s, maxCLILine)
	if ending.LooksLikeError(text) {
		d.emit(state.AgentError{Text: text, Codes: []string{codeCLI}})
	} else {
		d.emit(state.Text{Text: text, Source: state.FromCLI})
	}
}

func (d *Decoder) hint(text string) {
	d.emit(state.Text{Text: wire.Cut(text, maxCLILine), Source: state.FromHint})
}

func (d *Decoder) setSession(id, model string) {
	if id == "" || id == d.session && model == "" {
		return
	}
	d.session = strings.Clone(id)
	d.emit(state.SessionStart{ID: d.session, Model: strings.Clone(model)})
}

// text emits and returns text of the model.
func (d *Decoder) text(s string) string {
	s = wire.Cut(s, maxText)
	if strings.TrimSpace(s) != "" {
		d.emit(state.Text{Text: s})
	}
	return s
}

// says emits a message of the agent itself.
func (d *Decoder) says(s string) { d.lastText, d.last = d.text(s), true }

// flushMessage emits a message that came in pieces.
func (d *Decoder) flushMessage() {
	if d.message.Len() > 0 {
		d.says(d.message.String())
		d.message.Reset()
	}
}

func (d *Decoder) call(id, name string, args wire.Args, parent string) {
	t := tool(id, name, args.Main, parent)
	d.last = d.last && parent != ""
	if len(d.calls) >= maxCalls {
		clear(d.calls)
	}
	if t.ID != "" {
		d.calls[t.ID] = t
	}
	t.Hunk, t.File, t.Sum = args.Hunk, args.File, args.Sum // only here: an answer repeats the call
	if AsksUser(name) {
		t.Asks = args.Asks
	}
	d.emit(t)
}

func tool(id, name, arg, parent string) state.Tool {
	return state.Tool{ID: wire.Cut(id, maxName), Name: wire.Cut(name, maxName), Arg: arg,
		Parent: wire.Cut(parent, maxName)}
}

func (d *Decoder) answer(id, text string, failed bool) {
	t, known := d.calls[id]
	if !known {
		t.ID = strings.Clone(id)
	}
	d.emit(state.ToolResult{Tool: t, Text: wire.Cut(text, maxToolText), Error: failed})
}

// deny emits a refused call once, with name and argument of the call if it has seen that.
func (d *Decoder) deny(id, name, arg, reason string) {
	t := tool(id, name, arg, "")
	if t.ID != "" {
		if d.denied[t.ID] {
			return
		}
		if len(d.denied) >= maxCalls {
			clear(d.denied)
		}
		d.denied[t.ID] = true
		if call, known := d.calls[t.ID]; known {
			t = call
		}
	}
	d.emit(state.Denied{Tool: t, Reason: wire.Cut(reason, maxCLILine)})
}

func (d *Decoder) fail(text string, codes []string) {
	d.last = false
	if text != "" || len(codes) > 0 {
		d.emit(state.AgentError{Text: wire.Cut(text, maxToolText), Codes: codes})
	}
}

// result ends the turn. The text of a failed turn comes from the CLI.
func (d *Decoder) result(text string, failed bool, codes []string) {
	d.final = true
	d.emit(state.FinalMessage{Text: wire.Cut(text, maxText), Error: failed, Codes: codes, Session: d.session})
}

func (d *Decoder) usage() {
	if u, changed := d.meter.Read(); changed {
		d.emit(u)
	}
}

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
