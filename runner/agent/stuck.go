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
	"slices"
	"strings"
	"sync"

	"ralph/logs/termtext"
	"ralph/state"
)

const (
	sameAnswers = 10 // how often one call gets the same answer: who looks for a flaky test also repeats it
	sameRounds  = 6  // how often several calls follow each other with the same answers
	longest     = 6  // calls of a round
)

// StuckWatch follows one agent call. The zero value is ready to use, on one goroutine.
type StuckWatch struct {
	why   string
	open  map[string]state.Tool
	steps map[string][]uint64 // the newest calls with their answers, of the agent itself ("") and each of its sub-agents
}

// See takes what the agent reports, and says what it repeats; empty: it is not stuck.
func (w *StuckWatch) See(p state.Payload) string {
	switch d := p.(type) {
	case state.Tool:
		if w.open == nil {
			w.open, w.steps = map[string]state.Tool{}, map[string][]uint64{}
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
	steps := append(w.steps[call.Parent], sum(call.Name, call.Sum, timeless(answer.Text), fmt.Sprint(answer.Error)))
	steps = steps[max(0, len(steps)-longest*sameRounds):]
	w.steps[call.Parent] = steps
	for period := 1; period <= longest; period++ {
		most, what := sameRounds, fmt.Sprintf("the same %d calls got the same answers %d times in a row, the last one", period, sameRounds)
		if period == 1 {
			most, what = sameAnswers, fmt.Sprintf("the same call got the same answer %d times in a row:", sameAnswers)
		}
		from := len(steps) - most*period
		if from >= 0 && slices.Equal(steps[from:len(steps)-period], steps[from+period:]) {
			w.why = what + " " + termtext.Line(strings.TrimSuffix(fmt.Sprintf("%s(%.200s)", call.Name, call.Arg), "()"))
			return
		}
	}
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
