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

// Add folds in one event. Kinds that do not come from a decoder are ignored.
func (t *Transcript) Add(ev state.Event) {
	switch ev.Kind {
	case state.KindSession:
		t.Session = ev.Session
		if ev.Model != "" {
			t.Model = ev.Model
		}
	case state.KindText:
		t.addText(ev)
	case state.KindTool:
		t.ToolCalls++
		t.LastTool = strings.TrimSpace(ev.Tool.Name + " " + ev.Tool.Arg)
		t.Asked = t.Asked || Asks(*ev.Tool)
		t.Rejected = nil
	case state.KindUsage:
		t.Usage = *ev.Usage
	case state.KindDenied:
		t.Asked = t.Asked || Asks(*ev.Tool)
		t.Denials = keep(t.Denials, *ev.Tool, maxDenials)
	case state.KindLimit:
		t.addLimit(*ev.Limit)
	case state.KindRetry:
		t.Retries++
	case state.KindError:
		t.addError(ev)
	case state.KindResult:
		t.HasResult, t.ResultError, t.Codes = true, ev.Error, ev.Codes
		if t.Final = ev.Text; ev.Error {
			t.Final = ""
		}
	}
}

func (t *Transcript) addText(ev state.Event) {
	switch {
	case slices.Contains(ev.Codes, CodeNotice):
	case slices.Contains(ev.Codes, CodeCLI):
		t.addCLI(ev.Text)
	default:
		t.TextBytes += int64(len(ev.Text))
		if ev.Text != "" {
			t.Rejected = nil
		}
	}
}

func (t *Transcript) addLimit(l state.Limit) {
	if t.Limits == nil {
		t.Limits = map[string]state.Limit{}
	}
	t.Limits[l.Kind] = l
	switch {
	case l.Rejected:
		t.Rejected = &l
	case t.Rejected != nil && t.Rejected.Kind == l.Kind:
		t.Rejected = nil
	}
}

func (t *Transcript) addError(ev state.Event) {
	if !ev.Error {
		t.addCLI(ev.Text)
		return
	}
	t.ErrorCodes = ev.Codes
	if ev.Text == "" {
		return
	}
	t.Errors = slices.DeleteFunc(t.Errors, func(e string) bool { return e == ev.Text })
	t.Errors = keep(t.Errors, ev.Text, maxErrors)
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
