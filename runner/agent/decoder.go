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

// Bounds of what a decoder keeps and passes on, in bytes unless said otherwise.
const (
	maxLine     = 16 << 20  // a longer line is skipped, not buffered
	maxText     = 256 << 10 // narration and final messages
	maxToolText = 4 << 10   // what a tool answered
	maxCLILine  = 1 << 10   // a line outside the records
	maxName     = 200       // ids and names of tools
	maxCalls    = 1024      // tool calls whose arguments are remembered
	// After floodLines lines outside the records only every thinLines-th one
	// becomes an event: a flood of noise stays cheap and visible.
	floodLines = 5000
	thinLines  = 1000
)

// codeCLI marks an error that is no record, only a line that the CLI printed
// outside its records.
const codeCLI = string(state.FromCLI)

// codeText marks a result that is plain text: only the exit status can tell
// whether it is the end of a good turn.
const codeText = "text"

// Decoder turns the output of one call into events. It is a plain io.Writer
// whose result does not depend on how the bytes are split up into writes. It is
// not safe for concurrent use.
type Decoder struct {
	spec   Spec
	emit   func(state.Payload)
	decode func(*Decoder, gjson.Result) bool // false: not a record of this format; nil: plain text

	lines   wire.Lines
	records wire.Records
	bytes   int64
	outside int  // lines outside the records
	seen    bool // there was a record
	final   bool

	session  string
	calls    map[string]state.Tool // by id
	denied   map[string]bool       // by id
	message  strings.Builder       // pieces of a message, not emitted yet
	lastText string                // the latest message, for formats whose final record has none
	tail     []byte                // the end of what was printed before the first record
	meter    meter
}

// NewDecoder returns a decoder for the row's format. It calls emit from Write
// and Close, on their goroutine.
func (s Spec) NewDecoder(emit func(state.Payload)) *Decoder {
	d := &Decoder{spec: s, emit: emit, calls: map[string]state.Tool{}, denied: map[string]bool{}}
	d.lines = wire.Lines{Max: maxLine, Line: d.line, Long: func() {
		d.hint(fmt.Sprintf("(a line of more than %d MiB was skipped)", maxLine>>20))
	}}
	d.records = wire.Records{Record: d.record, Other: d.cliLine, Torn: func() {
		d.hint("(a broken record was skipped)")
	}}
	switch s.Format {
	case FormatClaude:
		d.decode = (*Decoder).claude
	case FormatCodex:
		d.decode = (*Decoder).codex
	case FormatGemini:
		d.decode = (*Decoder).gemini
	case FormatOpencode:
		d.decode = (*Decoder).opencode
	}
	return d
}

// Resume sets what the session had counted when its last call ended, which is
// Counted of that call. Without it the usage of a resumed call may include that
// of the calls before. Call it before the first Write.
func (d *Decoder) Resume(counted state.Usage) { d.meter.base = counted }

// Counted is what the agent itself counts for the session: the value for Resume
// when this session is resumed.
func (d *Decoder) Counted() state.Usage { return d.meter.counted }

// Bytes is the number of bytes written so far.
func (d *Decoder) Bytes() int64 { return d.bytes }

// Final reports whether the agent has printed its final record and has begun
// nothing new since.
func (d *Decoder) Final() bool { return d.final }

// Write takes the next bytes of output. It never fails.
func (d *Decoder) Write(p []byte) (int, error) {
	d.bytes += int64(len(p))
	return d.lines.Write(p)
}

// Close decodes what is left without an end of line. Call it once.
func (d *Decoder) Close() {
	d.lines.Close()
	d.records.Close()
	d.flushMessage()
	text := strings.TrimSpace(string(d.tail))
	if d.seen || text == "" {
		return
	}
	// Plain text: all of it is the message, unless a CLI with records printed none.
	if _, signal := statusblock.Parse(text); d.decode == nil || signal {
		d.result(text, false, []string{codeText})
	}
}

// line decodes one line, with or without a carriage return at its end.
func (d *Decoder) line(b []byte) {
	line := wire.StripTerminal(strings.TrimRight(string(b), "\r"))
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

// shows counts a line outside the records and reports whether to emit it.
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

// cliLine is a line outside the records. It is an error event when it reads
// like a diagnosis of the CLI; the words alone decide nothing, see Classify.
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

// text emits what the model says, and returns it.
func (d *Decoder) text(s string) string {
	s = wire.Cut(s, maxText)
	if strings.TrimSpace(s) != "" {
		d.emit(state.Text{Text: s})
	}
	return s
}

// flushMessage emits a message that came in pieces.
func (d *Decoder) flushMessage() {
	if d.message.Len() > 0 {
		d.lastText = d.text(d.message.String())
		d.message.Reset()
	}
}

// call emits a tool call. arg is on one line already.
func (d *Decoder) call(id, name, arg, parent string) {
	t := tool(id, name, arg)
	t.Parent = wire.Cut(parent, maxName)
	if len(d.calls) >= maxCalls {
		clear(d.calls)
	}
	if t.ID != "" {
		d.calls[t.ID] = t
	}
	d.emit(t)
}

func tool(id, name, arg string) state.Tool {
	return state.Tool{ID: wire.Cut(id, maxName), Name: wire.Cut(name, maxName), Arg: arg}
}

func (d *Decoder) answer(id, text string, failed bool) {
	t, known := d.calls[id]
	if !known {
		t.ID = strings.Clone(id)
	}
	d.emit(state.ToolResult{Tool: t, Text: wire.Cut(text, maxToolText), Error: failed})
}

// deny emits a refused call once. Of the call itself it takes name and
// argument, if that was seen.
func (d *Decoder) deny(id, name, arg, reason string) {
	t := tool(id, name, arg)
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
	if text != "" || len(codes) > 0 {
		d.emit(state.AgentError{Text: wire.Cut(text, maxToolText), Codes: codes})
	}
}

// result ends the turn. text is the CLI's own text of a failed turn.
func (d *Decoder) result(text string, failed bool, codes []string) {
	d.final = true
	d.emit(state.FinalMessage{Text: wire.Cut(text, maxText), Error: failed, Codes: codes, Session: d.session})
}

func (d *Decoder) usage() {
	if u, changed := d.meter.read(); changed {
		d.emit(u)
	}
}
