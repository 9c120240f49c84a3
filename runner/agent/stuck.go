package agent

// This file detects agent calls that go in circles: what the agent reports goes in, a
// reason to end the call comes out. It is pure.
//
// Only what is certain counts. A call of a tool is known by all of its arguments, and its
// answer by its text without times. An agent that waits for something or gets a new answer is
// not stuck, and neither is one that does not report the answers of its tools.

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"sync"

	"ralph/logs/termtext"
	"ralph/state"
)

// After how many rounds a call is stuck. A round is one step, or up to longest steps that
// follow each other again and again.
const (
	sameAnswers  = 10 // one step that succeeds: who looks for a flaky test also repeats it
	sameFailures = 6  // one step that fails
	sameRounds   = 6  // several steps
	sameEdits    = 4  // several steps, among them edits: the files are as they were a round ago
	longest      = 6
)

// StuckWatch follows one agent call. The zero value is ready to use, on one goroutine.
type StuckWatch struct {
	why   string
	lanes map[string]*lane // the agent itself, and each of its sub-agents
}

// lane is what one agent did.
type lane struct {
	open  map[string]state.Tool
	steps []step // the newest
}

// step is one tool call with its answer.
type step struct {
	call   uint64 // name, arguments and answer
	failed bool
	edit   bool
	words  string
}

// See takes what the agent reports, and says what it repeats; empty: it is not stuck.
func (w *StuckWatch) See(p state.Payload) string {
	if w.why != "" {
		return w.why
	}
	switch d := p.(type) {
	case state.Tool:
		w.lane(d.Parent).open[d.ID] = d
	case state.ToolResult:
		l := w.lane(d.Tool.Parent)
		if call, ok := l.open[d.Tool.ID]; ok {
			delete(l.open, d.Tool.ID)
			w.why = l.add(call, d)
		}
	}
	return w.why
}

func (w *StuckWatch) lane(name string) *lane {
	if w.lanes == nil {
		w.lanes = map[string]*lane{}
	}
	l := w.lanes[name]
	if l == nil {
		l = &lane{open: map[string]state.Tool{}}
		w.lanes[name] = l
	}
	return l
}

// add takes one step, and says why it is one too many.
func (l *lane) add(call state.Tool, answer state.ToolResult) string {
	if waits(call) {
		return ""
	}
	s := step{failed: answer.Error, edit: call.Hunk != "", words: stuckWords(call)}
	if call.Sum == "" || strings.HasSuffix(answer.Text, termtext.More) { // nobody knows whether it is the same
		l.steps = nil
		return ""
	}
	s.call = sum(call.Name, call.Sum, timeless(answer.Text), fmt.Sprint(answer.Error))
	l.steps = append(l.steps, s)
	if most := longest * (sameRounds + 1); len(l.steps) > most {
		l.steps = l.steps[len(l.steps)-most:]
	}
	return l.circles()
}

// circles looks for rounds at the end of the steps.
func (l *lane) circles() string {
	for period := 1; period <= longest; period++ {
		round := l.steps[max(0, len(l.steps)-period):]
		most := rounds(round)
		if len(l.steps) < most*period {
			continue
		}
		same := true
		for i := len(l.steps) - most*period; i < len(l.steps)-period && same; i++ {
			same = l.steps[i].call == l.steps[i+period].call
		}
		if !same {
			continue
		}
		if period == 1 {
			return fmt.Sprintf("the same call got the same answer %d times in a row: %s", most, round[0].words)
		}
		return fmt.Sprintf("the same %d calls got the same answers %d times in a row, beginning with %s", period, most,
			round[0].words)
	}
	return ""
}

func rounds(round []step) int {
	most := sameRounds
	for _, s := range round {
		switch {
		case len(round) > 1 && s.edit:
			most = sameEdits
		case len(round) == 1 && s.failed:
			most = sameFailures
		case len(round) == 1:
			most = sameAnswers
		}
	}
	return most
}

func stuckWords(call state.Tool) string {
	return termtext.Line(strings.TrimSuffix(fmt.Sprintf("%s(%.200s)", call.Name, call.Arg), "()"))
}

var (
	// sleepRE matches a command that waits for at least a second.
	sleepRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bsleep\s+[1-9]|\bwait\b|\bwatch\b|\btail\s+(-\S+\s+)*-\S*f|\bpoll|\bretry\b|` +
			`--wait|\bgh (run|pr checks)\b`)
	})
	waiterRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)output|wait|poll|status|monitor|stdin|sleep|wakeup`)
	})
	timeRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d)?([.,]\d+)?(z|[+-]\d\d:?\d\d)?|` +
			`\b\d{1,2}:\d\d(:\d\d)?([.,]\d+)?\b|` +
			`\b\d+([.,]\d+)*\s?(ns|µs|us|ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)\b`)
	})
)

// waits is true for a call that only waits for something else.
func waits(call state.Tool) bool {
	return waiterRE().MatchString(call.Name) || !call.File && sleepRE().MatchString(call.Arg)
}

// timeless is a text without times of day and spans.
func timeless(text string) string { return timeRE().ReplaceAllString(text, "T") }

func sum(texts ...string) uint64 {
	h := fnv.New64a()
	for _, text := range texts {
		_, _ = h.Write([]byte(text)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}
