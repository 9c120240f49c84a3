package agent

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/wire"
	"ralph/state"
)

// Limits of a Transcript. It keeps the newest entries; of CLI lines also the first.
const (
	maxErrors   = 20
	maxRetries  = 20
	maxCLILines = 60
	maxCLIHead  = 10
	maxDenials  = 200
	maxAsks     = 8
)

// Transcript is what the events of one call add up to. The zero value is ready to use.
type Transcript struct {
	Session string `json:"session,omitempty"` // the agent's own id; empty: it printed none
	Resumed bool   `json:"resumed,omitempty"` // the call was to resume a session
	// Final is the agent's final message, empty after a failed turn. For a CLI
	// without records it is the end of its output.
	Final       string   `json:"final,omitempty"`
	HasResult   bool     `json:"has_result,omitempty"`   // there was a final record
	ResultError bool     `json:"result_error,omitempty"` // the latest final record reports a failure
	Codes       []string `json:"codes,omitempty"`        // of the latest final record
	// Errors are the texts of the CLI's error records, without repeats, newest last.
	Errors     []string `json:"errors,omitempty"`
	ErrorCodes []string `json:"error_codes,omitempty"` // of the latest error record, with the headers that name a time
	// CLI has the lines outside the records, in order: the first and the last ones.
	CLI       []string        `json:"cli,omitempty"`
	Usage     state.Usage     `json:"usage"` // of this call
	ToolCalls int             `json:"tool_calls,omitempty"`
	Denials   []state.Tool    `json:"denials,omitempty"`
	TextBytes int64           `json:"text_bytes,omitempty"` // of narration
	Failures  ending.Failures `json:"failures,omitempty"`   // tool calls, as far as the same one did not succeed later
	// Rejected is the limit that refused work; nil: none, or work followed.
	Rejected *state.Limit `json:"rejected,omitempty"`
	// Retries are the notices with which the CLI announced that it waits and tries
	// again, newest last. Work that follows deletes them.
	Retries []state.Retry `json:"retries,omitempty"`
	// Asked is true when the agent called a tool that asks the user; Asks is what it asked.
	Asked bool        `json:"asked,omitempty"`
	Asks  []state.Ask `json:"asks,omitempty"`
	// Repeats says what the agent kept repeating, if its call was ended for that; else empty.
	Repeats string `json:"repeats,omitempty"`
}

// Add adds one payload. It ignores kinds that no decoder emits.
func (t *Transcript) Add(p state.Payload) {
	switch p := p.(type) {
	case state.SessionStart:
		t.Session = p.ID
	case state.Text:
		t.addText(p)
	case state.Tool:
		t.ToolCalls++
		t.Asked = t.Asked || AsksUser(p.Name)
		t.Asks = append(t.Asks, p.Asks[:min(len(p.Asks), maxAsks-len(t.Asks))]...)
		t.Rejected, t.Retries = nil, nil
	case state.ToolResult:
		t.Retries = nil
		t.Failures.Add(ending.Failure{Tool: p.Tool.Name, Arg: p.Tool.Arg, Text: p.Text}, p.Error)
	case state.Retry:
		t.Retries = keep(t.Retries, p, maxRetries)
	case state.Usage:
		t.Usage = p
	case state.Denied:
		t.Asked = t.Asked || AsksUser(p.Tool.Name)
		t.Denials = keep(t.Denials, p.Tool, maxDenials)
		t.Failures.Forget(p.Tool.Name, p.Tool.Arg)
	case state.Limit:
		t.addLimit(p)
	case state.AgentError:
		t.addError(p)
	case state.FinalMessage:
		t.HasResult, t.ResultError, t.Codes = true, p.Error, p.Codes
		if t.Final = p.Text; p.Error {
			t.Final = ""
		}
	}
}

func (t *Transcript) addText(text state.Text) {
	if text.Source == state.FromCLI {
		t.addCLI(text.Text)
	}
	if text.Source == state.FromModel && text.Text != "" {
		t.TextBytes += int64(len(text.Text))
		t.Rejected, t.Retries = nil, nil
	}
}

func (t *Transcript) addLimit(l state.Limit) {
	switch {
	case l.Rejected:
		t.Rejected = &l
	case t.Rejected != nil && t.Rejected.Name == l.Name:
		t.Rejected = nil
	}
}

func (t *Transcript) addError(e state.AgentError) {
	if slices.Contains(e.Codes, codeCLI) {
		t.addCLI(e.Text)
		return
	}
	if t.ErrorCodes = e.Codes; e.Text != "" {
		t.Errors = slices.DeleteFunc(t.Errors, func(text string) bool { return text == e.Text })
		t.Errors = keep(t.Errors, e.Text, maxErrors)
	}
}

// addCLI keeps the first lines, too: a CLI names the bad flag before it prints pages of help.
func (t *Transcript) addCLI(line string) {
	if ending.AnnouncesRetry(line) {
		t.Retries = keep(t.Retries, state.Retry{Text: line}, maxRetries)
	}
	if len(t.CLI) >= maxCLILines {
		t.CLI = slices.Delete(t.CLI, maxCLIHead, maxCLIHead+1)
	}
	t.CLI = append(t.CLI, line)
}

// outside are the last lines outside the records; plain text has no others.
func (t *Transcript) outside() []string {
	lines := t.CLI
	if slices.Contains(t.Codes, codeText) {
		lines = strings.Split(t.Final, "\n")
	}
	return lines[max(0, len(lines)-maxCLILines):]
}

// Worked reports whether the agent did or said anything.
func (t *Transcript) Worked() bool { return t.ToolCalls > 0 || t.TextBytes > 0 }

// keep appends v and drops the oldest entries beyond limit.
func keep[T any](list []T, v T, limit int) []T {
	if len(list) >= limit {
		list = slices.Delete(list, 0, len(list)-limit+1)
	}
	return append(list, v)
}

const (
	sameAnswers = 10 // how often one call gets the same answer: who looks for a flaky test also repeats it
	sameRounds  = 6  // how often several calls follow each other with the same answers
	longest     = 6  // calls of a round
)

// StuckWatch follows one agent call. The zero value is ready to use, on one goroutine.
type StuckWatch struct {
	why   string
	open  map[string]state.Tool
	steps map[string][]*step // the newest ones, of the agent itself ("") and each of its sub-agents
}

// step is a call and its answer, without times once they have been compared: nearly all calls differ.
type step struct {
	call, answer string
	timeless     bool
}

func (s *step) same(other *step) bool {
	return s.call == other.call && s.compared() == other.compared()
}

func (s *step) compared() string {
	if !s.timeless {
		s.answer, s.timeless = wire.Sum(timeless(s.answer)), true
	}
	return s.answer
}

// See takes what the agent reports, and says what it repeats; empty: it is not stuck.
func (w *StuckWatch) See(p state.Payload) string {
	switch d := p.(type) {
	case state.Tool:
		if w.open == nil {
			w.open, w.steps = map[string]state.Tool{}, map[string][]*step{}
		}
		w.open[d.ID] = d
	case state.ToolResult:
		call, known := w.open[d.Tool.ID]
		delete(w.open, d.Tool.ID)
		if known && w.why == "" && !waits(call) {
			w.add(call, d)
		}
	}
	return w.why
}

// add takes one step, and looks for rounds at the end of the steps.
func (w *StuckWatch) add(call state.Tool, answer state.ToolResult) {
	if call.Sum == "" || strings.HasSuffix(answer.Text, termtext.More) { // nobody knows whether it is the same
		w.steps[call.Parent] = nil
		return
	}
	steps := append(w.steps[call.Parent], &step{call: wire.Sum(call.Name, call.Sum, fmt.Sprint(answer.Error)), answer: answer.Text})
	steps = steps[max(0, len(steps)-longest*sameRounds):]
	w.steps[call.Parent] = steps
	for period := 1; period <= longest; period++ {
		most, what := sameRounds, fmt.Sprintf("the same %d calls got the same answers %d times in a row, the last one", period, sameRounds)
		if period == 1 {
			most, what = sameAnswers, fmt.Sprintf("the same call got the same answer %d times in a row:", sameAnswers)
		}
		from := len(steps) - most*period
		if from >= 0 && slices.EqualFunc(steps[from:len(steps)-period], steps[from+period:], (*step).same) {
			w.why = what + " " + termtext.Line(strings.TrimSuffix(fmt.Sprintf("%s(%.200s)", call.Name, call.Arg), "()"))
			return
		}
	}
}

var (
	// sleepRE matches a command that waits for at least a second.
	sleepRE = lazy.Regexp(`(?i)\bsleep\s+[1-9]|\bwait\b|\bwatch\b|\btail\s+(-\S+\s+)*-\S*f|\bpoll|\bretry\b|` +
		`--wait|\bgh (run|pr checks)\b`)
	dateRE = lazy.Regexp(`^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d)?([.,]\d+)?([Zz]|[+-]\d\d:?\d\d)?`)
	timeRE = lazy.Regexp(`(?i)^(\d{1,2}:\d\d(:\d\d)?([.,]\d+)?\b|` +
		`\d+([.,]\d+)*\s?(ns|µs|us|ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)\b)`)
)

// waits is true for a call that only waits for something else.
func waits(call state.Tool) bool {
	return mentions(call.Name, "output", "wait", "poll", "status", "monitor", "stdin", "sleep", "wakeup") ||
		!call.File && mentions(call.Arg, "sleep", "wait", "watch", "tail", "poll", "retry", "gh ") && sleepRE().MatchString(call.Arg)
}

func mentions(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// longestTime is more than a time of day or a span has, in bytes.
const longestTime = 64

// timeless is a text without times of day and spans. It looks only at numbers: a flood of output is mostly other text.
func timeless(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		end := i
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if end == i || end < len(text) && strings.IndexByte("-:., \t\n\r\f\vnumsNUMS\xc2\xc5\xce", text[end]) < 0 {
			i = max(i, end-1)
			continue
		}
		found := ""
		at := max(i, end-4)
		if found = dateRE().FindString(text[at:min(len(text), at+longestTime)]); found == "" && (i == 0 || !wordByte(text[i-1])) {
			at = i
			found = timeRE().FindString(text[at:min(len(text), at+longestTime)])
		}
		if i = end - 1; found != "" {
			b.WriteString(text[done:at] + "T")
			done = at + len(found)
			i = done - 1
		}
	}
	return b.String() + text[done:]
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
