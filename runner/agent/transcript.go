package agent

import (
	"slices"
	"strings"

	"ralph/state"
)

// Bounds of a Transcript: the newest are kept, of CLI lines the first as well.
const (
	maxErrors   = 20
	maxCLILines = 60
	maxCLIHead  = 10
	maxDenials  = 200
)

// Transcript is the fold of the events of one call. The zero value is ready.
type Transcript struct {
	Session string // the agent's session; empty: it named none
	Model   string
	// Final is the agent's own final message, empty after a failed turn. Of a
	// CLI without records it is the end of what it printed.
	Final       string
	HasResult   bool     // a final record was seen
	ResultError bool     // the latest final record reports a failure
	Codes       []string // of the latest final record
	// Errors are texts of the CLI's own error records, the newest last, each once.
	Errors     []string
	ErrorCodes []string // of those records and of its own retries
	// CLI are lines that the CLI printed beside its records, in order, the middle
	// left out when they are many.
	CLI       []string
	Usage     state.Usage // of this call
	ToolCalls int
	LastTool  string // name and argument
	Denials   []state.Tool
	Limits    map[string]state.Limit // the latest of each kind
	Retries   int
	TextBytes int64 // of narration
	// Rejected is a limit that refused work and was not followed by any; nil: none.
	Rejected *state.Limit
	// Asked is true when the agent called a tool that asks the user.
	Asked bool
}

// askTools are the tools with which agents ask the user, in lower case.
var askTools = []string{"askuserquestion", "ask_user_question", "ask_user", "question"}

// Add folds in one payload. It ignores kinds that no decoder emits.
func (t *Transcript) Add(p state.Payload) {
	switch p := p.(type) {
	case state.SessionStart:
		t.Session = p.ID
		if p.Model != "" {
			t.Model = p.Model
		}
	case state.Text:
		t.addText(p)
	case state.Tool:
		t.ToolCalls++
		t.LastTool = strings.TrimSpace(p.Name + " " + p.Arg)
		t.Asked = t.Asked || Asks(p)
		t.Rejected = nil
	case state.Usage:
		t.Usage = p
	case state.Denied:
		t.Asked = t.Asked || Asks(p.Tool)
		t.Denials = keep(t.Denials, p.Tool, maxDenials)
	case state.Limit:
		t.addLimit(p)
	case state.Retry:
		t.Retries++
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
	switch text.Source {
	case state.FromCLI:
		t.addCLI(text.Text)
	case state.FromModel:
		t.TextBytes += int64(len(text.Text))
		if text.Text != "" {
			t.Rejected = nil
		}
	}
}

func (t *Transcript) addLimit(l state.Limit) {
	if t.Limits == nil {
		t.Limits = map[string]state.Limit{}
	}
	t.Limits[l.Name] = l
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
	t.ErrorCodes = e.Codes
	if e.Text == "" {
		return
	}
	t.Errors = slices.DeleteFunc(t.Errors, func(text string) bool { return text == e.Text })
	t.Errors = keep(t.Errors, e.Text, maxErrors)
}

// addCLI keeps the first lines as well: a refused command line is named before
// pages of help.
func (t *Transcript) addCLI(line string) {
	if len(t.CLI) >= maxCLILines {
		t.CLI = slices.Delete(t.CLI, maxCLIHead, maxCLIHead+1)
	}
	t.CLI = append(t.CLI, line)
}

// Worked reports whether the agent did or said anything.
func (t *Transcript) Worked() bool { return t.ToolCalls > 0 || t.TextBytes > 0 }

// Asks tells whether a tool is one that asks the user.
func Asks(tool state.Tool) bool { return slices.Contains(askTools, strings.ToLower(tool.Name)) }

// keep appends v and drops the oldest beyond limit.
func keep[T any](list []T, v T, limit int) []T {
	if len(list) >= limit {
		list = slices.Delete(list, 0, len(list)-limit+1)
	}
	return append(list, v)
}
