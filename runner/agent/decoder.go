package agent

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/state"
)

// Bounds of what a decoder keeps and passes on, in bytes unless said otherwise.
const (
	maxLine     = 16 << 20  // a longer line is skipped, not buffered
	maxText     = 256 << 10 // narration and final messages
	maxToolText = 4 << 10   // what a tool answered
	maxCLILine  = 1 << 10   // a line outside of the records
	maxDocument = 1 << 20   // a record that is spread over lines
	maxArgRunes = 400
	maxCalls    = 1024 // tool calls whose arguments are remembered
	// After so many lines outside of the records only every thinLines-th one
	// becomes an event: a flood of noise stays cheap and visible.
	floodLines = 5000
	thinLines  = 1000
)

// codeCLI marks an error that is no record, only a line that the CLI printed
// beside its records.
const codeCLI = string(state.FromCLI)

// codeText marks a result that is plain text: only the exit status can tell
// whether it is the end of a good turn.
const codeText = "text"

// Decoder turns the output of one call into events. It is a plain io.Writer
// whose result does not depend on how the bytes are cut into writes. It is not
// safe for concurrent use.
type Decoder struct {
	spec   Spec
	emit   func(state.Payload)
	decode func(*Decoder, gjson.Result) bool // false: not a record of this format

	partial  []byte // an unfinished line
	skipping bool   // inside a line above maxLine
	document []byte // an unfinished record spread over lines
	bytes    int64
	lines    int // outside of the records
	final    bool

	session string
	calls   map[string]state.Tool // by id
	denied  map[string]bool       // by id
	message strings.Builder       // deltas of a message, not yet emitted
	// lastText is the latest message, for formats whose final record has none.
	lastText string
	tail     []byte // the end of what was printed outside of records, while no record was seen
	records  int
	meter    meter
}

// NewDecoder returns a decoder for the row's format. emit is called from Write
// and Close, on their goroutine.
func (s Spec) NewDecoder(emit func(state.Payload)) *Decoder {
	decode := map[Format]func(*Decoder, gjson.Result) bool{
		FormatClaude: (*Decoder).claude, FormatCodex: (*Decoder).codex,
		FormatGemini: (*Decoder).gemini, FormatOpencode: (*Decoder).opencode,
	}[s.Format]
	return &Decoder{spec: s, emit: emit, decode: decode,
		calls: map[string]state.Tool{}, denied: map[string]bool{}}
}

// Resume tells what the session had already counted when its last call ended
// (see Counted); without it the figures of a resumed call may include those of
// the calls before. To be called before the first Write.
func (d *Decoder) Resume(counted state.Usage) { d.meter.base = counted }

// Counted is what the agent itself counts for the session: the figure to hand
// to Resume when this session is resumed.
func (d *Decoder) Counted() state.Usage { return d.meter.counted }

// Bytes is the number of bytes written so far.
func (d *Decoder) Bytes() int64 { return d.bytes }

// Final reports whether the agent has printed its final record and has begun
// nothing new since.
func (d *Decoder) Final() bool { return d.final }

// Write takes the next bytes of output. It never fails.
func (d *Decoder) Write(p []byte) (int, error) {
	n := len(p)
	d.bytes += int64(n)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			d.keep(p)
			break
		}
		switch {
		case d.skipping:
			d.skipping = false
		case len(d.partial) > 0:
			d.keep(p[:end])
			if !d.skipping {
				d.line(d.partial)
			}
			d.skipping = false
			if d.partial = d.partial[:0]; cap(d.partial) > maxDocument {
				d.partial = nil
			}
		case end > maxLine:
			d.skip()
			d.skipping = false
		default:
			d.line(p[:end])
		}
		p = p[end+1:]
	}
	return n, nil
}

// keep buffers a part of a line, or gives the line up when it grows too long.
func (d *Decoder) keep(p []byte) {
	if d.skipping {
		return
	}
	if len(d.partial)+len(p) > maxLine {
		d.skip()
		return
	}
	d.partial = append(d.partial, p...)
}

func (d *Decoder) skip() {
	d.skipping, d.partial = true, nil
	d.notice(fmt.Sprintf("(a line of more than %d MiB was skipped)", maxLine>>20))
}

// Close decodes what is left without an end of line. It may be called once.
func (d *Decoder) Close() {
	if len(d.partial) > 0 {
		d.line(d.partial)
		d.partial = nil
	}
	d.dropDocument()
	d.flushMessage()
	text := strings.TrimSpace(string(d.tail))
	if d.records > 0 || text == "" {
		return
	}
	// Plain text: all of it is the message, unless a CLI with records printed none.
	if _, signal := ParseSignal(text); d.decode == nil || signal {
		d.result(text, false, []string{codeText})
	}
}

// line decodes one line, with or without a carriage return at its end.
func (d *Decoder) line(b []byte) {
	raw := string(b)
	s := strings.TrimSpace(stripTerminal(raw))
	if d.decode == nil {
		d.textLine(stripTerminal(strings.TrimRight(raw, "\r")))
		return
	}
	if s == "" {
		return
	}
	if d.document != nil && !(len(s) > 2 && s[0] == '{' && s[len(s)-1] == '}') {
		d.continueDocument(s)
		return
	}
	if s == "{" {
		d.document = append(make([]byte, 0, 512), s...)
		return
	}
	switch {
	case d.json(s):
	case fragment(s):
		d.notice("(a broken record was skipped)")
	default:
		d.cliLine(s)
	}
}

// fragment reports whether a line is a piece of a record, cut off by the end of
// the CLI or torn by a line of its other stream: no words of the CLI.
func fragment(s string) bool {
	return strings.Contains(s, `":`) && strings.Count(s, "{") != strings.Count(s, "}")
}

// json decodes a line of JSON: one record, or an array of them.
func (d *Decoder) json(s string) (known bool) {
	last := s[len(s)-1]
	if s[0] == '{' && last == '}' {
		return d.record(gjson.Result{Type: gjson.JSON, Raw: s})
	}
	if s[0] == '[' && last == ']' && len(s) > 2 && strings.HasPrefix(strings.TrimSpace(s[1:]), "{") {
		gjson.Parse(s).ForEach(func(_, rec gjson.Result) bool {
			known = d.record(rec) || known
			return true
		})
	}
	return known
}

func (d *Decoder) record(rec gjson.Result) bool {
	if !rec.IsObject() || !d.decode(d, rec) {
		return false
	}
	d.records++
	d.tail = nil
	return true
}

// continueDocument collects a record that the CLI printed indented, over many
// lines, up to the line that closes it.
func (d *Decoder) continueDocument(s string) {
	if len(d.document)+len(s) > maxDocument {
		d.dropDocument()
		d.cliLine(s)
		return
	}
	d.document = append(append(d.document, '\n'), s...)
	// Inner braces are indented, but indentation is gone here: count instead.
	if s != "}" || !balanced(d.document) {
		return
	}
	if d.record(gjson.Result{Type: gjson.JSON, Raw: string(d.document)}) {
		d.document = nil
		return
	}
	d.dropDocument()
}

// dropDocument gives the lines of an unfinished or unknown document out as plain lines.
func (d *Decoder) dropDocument() {
	doc := d.document
	d.document = nil
	for l := range strings.Lines(string(doc)) {
		d.cliLine(strings.TrimSpace(l))
	}
}

// balanced reports whether every line that opens a brace has one that closes it.
func balanced(doc []byte) bool {
	depth := 0
	for l := range bytes.Lines(doc) {
		l = bytes.TrimRight(bytes.TrimSpace(l), ",")
		if bytes.HasSuffix(l, []byte("{")) {
			depth++
		} else if bytes.Equal(l, []byte("}")) {
			depth--
		}
	}
	return depth <= 0
}

// textLine is a line of a CLI without a wire format: the agent's words.
func (d *Decoder) textLine(s string) {
	if d.outside(s) {
		d.emit(state.Text{Text: cut(s, maxText)})
	}
}

// outside counts a line outside of the records and reports whether it is shown.
func (d *Decoder) outside(s string) bool {
	if d.records == 0 {
		d.tail = append(append(d.tail, cut(s, maxText)...), '\n')
		if len(d.tail) > 2*maxText {
			d.tail = append(d.tail[:0], d.tail[len(d.tail)-maxText:]...)
		}
	}
	d.lines++
	return d.lines <= floodLines || d.lines%thinLines == 0
}

// cliLine is a line beside the records. It is an error event when it reads
// like a diagnosis of the CLI; the words decide nothing by themselves, see
// Classify.
func (d *Decoder) cliLine(s string) {
	if !d.outside(s) {
		return
	}
	text := cut(s, maxCLILine)
	if diagnostic(text) {
		d.emit(state.AgentError{Text: text, Codes: []string{codeCLI}})
	} else {
		d.emit(state.Text{Text: text, Source: state.FromCLI})
	}
}

func (d *Decoder) notice(text string) {
	d.emit(state.Text{Text: cut(text, maxCLILine), Source: state.FromHint})
}

func (d *Decoder) setSession(id, model string) {
	if id == "" || id == d.session && model == "" {
		return
	}
	d.session = strings.Clone(id)
	d.emit(state.SessionStart{ID: d.session, Model: strings.Clone(model)})
}

func (d *Decoder) text(s string) {
	if strings.TrimSpace(s) != "" {
		d.emit(state.Text{Text: cut(s, maxText)})
	}
}

// flushMessage emits a message that came in pieces.
func (d *Decoder) flushMessage() {
	if d.message.Len() > 0 {
		d.lastText = d.message.String()
		d.text(d.lastText)
		d.message.Reset()
	}
}

func (d *Decoder) tool(t state.Tool) {
	if len(d.calls) >= maxCalls {
		clear(d.calls)
	}
	if t.ID != "" {
		d.calls[t.ID] = t
	}
	d.emit(t)
}

func (d *Decoder) toolResult(id, text string, failed bool) {
	t := d.calls[id]
	t.ID = strings.Clone(id)
	d.emit(state.ToolResult{Tool: t, Text: cut(text, maxToolText), Error: failed})
}

// deny reports a refused tool call once, with the argument of the call itself.
func (d *Decoder) deny(t state.Tool, reason string) {
	if t.ID != "" {
		if d.denied[t.ID] {
			return
		}
		if len(d.denied) >= maxCalls {
			clear(d.denied)
		}
		d.denied[t.ID] = true
		if call, ok := d.calls[t.ID]; ok {
			t = call
		}
	}
	d.emit(state.Denied{Tool: t, Reason: cut(reason, maxCLILine)})
}

func (d *Decoder) fail(text string, codes []string) {
	if text == "" && len(codes) == 0 {
		return
	}
	d.emit(state.AgentError{Text: cut(text, maxToolText), Codes: codes})
}

// result ends the turn. failure is the CLI's own text of a failed turn.
func (d *Decoder) result(text string, failed bool, codes []string) {
	d.final = true
	d.emit(state.FinalMessage{Text: cut(text, maxText), Error: failed, Codes: codes, Session: d.session})
}

func (d *Decoder) usage() {
	if u, changed := d.meter.read(); changed {
		d.emit(u)
	}
}
