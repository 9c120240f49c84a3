// Package mockllm mocks the HTTP APIs of language models, so that real agent CLIs run
// without an account or a network, and always the same way. It listens on loopback only
// and answers as a Scenario says.
//
// It speaks Anthropic Messages, OpenAI Responses and Chat Completions, Gemini and Amp's
// internal calls: a file each, with rows in the table of routes. One scenario fits all.
package mockllm

import "time"

// Scenario is what the model answers: one run for each prompt that an agent gets. The
// last run repeats.
type Scenario struct {
	Runs [][]Step
}

// Step is the answer to one model request. A step with an Error, a Limit, a StreamError or
// a Cut is a failure. It does not end the prompt: the next request continues after it,
// even from a new process.
type Step struct {
	Text  string
	Tools []Tool
	// Echo is a regular expression: what its group matches in the prompt takes the place of
	// "{echo}" in Text.
	Echo  string
	Usage Usage // zero: made-up numbers
	// Windows are what a subscriber is told of its usage windows; nil: nothing.
	Windows func(now time.Time) []Window

	Error       *APIError     // the HTTP answer in place of a stream
	Limit       *Limit        // a subscription's usage limit
	StreamError *APIError     // a good start, then an error event in the stream
	Cut         *Cut          // the stream ends or stops early
	Times       int           // how often a failure is served; 0: once, -1: for ever
	Delay       time.Duration // before the first byte
	Pace        time.Duration // between two events of the stream
}

// Tool is a tool call. The names "bash" (with Command) and "write" (with Path
// and Content) stand for whichever declared tool does that job; any other name
// is sent as it is, with Input.
type Tool struct {
	Name    string
	Command string
	Path    string // relative paths are joined to the agent's working directory
	Content string
	Input   map[string]any
}

// Usage is what a reply reports, in tokens.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int
}

// APIError is an error answer. Each vendor's file formats it for the vendor.
type APIError struct {
	Status  int
	Type    string // the vendor's word, rate_limit_error for example
	Message string
	Header  map[string]string
	Extra   map[string]any // further members of the error; Anthropic has none
}

// Limit is a used-up window of a subscription. Requests are rejected until For has passed
// since the first one; then the scenario continues. The agent is told that time.
type Limit struct {
	Window string // five_hour or seven_day
	For    time.Duration
	Header map[string]string // further headers of the rejections
}

// Window is a usage window of a subscription that still takes requests.
type Window struct {
	Name     string  // five_hour or seven_day
	Used     float64 // a share
	ResetsAt time.Time
}

// Cut ends a stream after this number of events; zero ends it before the headers.
type Cut struct {
	After int
	Hang  bool // fall silent instead of resetting the connection
}

// usage is what the step reports.
func (s Step) usage() Usage {
	if s.Usage != (Usage{}) {
		return s.Usage
	}
	return Usage{Input: 1200, Output: 40 + len(s.Text)/4, CacheRead: 900}
}

func (s Step) fails() bool {
	return s.Error != nil || s.Limit != nil || s.StreamError != nil || s.Cut != nil
}

// answer names the kind of a step for the log of requests.
func (s Step) answer() string {
	switch {
	case s.Error != nil:
		return "error"
	case s.Limit != nil:
		return "limit"
	case s.StreamError != nil:
		return "stream error"
	case s.Cut != nil && s.Cut.Hang:
		return "hang"
	case s.Cut != nil:
		return "drop"
	case len(s.Tools) > 0:
		return "tools"
	}
	return "text"
}

// script plays one scenario. Its methods are not safe for concurrent use.
type script struct {
	scenario  Scenario
	begun     bool // a prompt has been seen
	failed    bool // the latest step was a failure
	run, step int  // the next answer
	served    int  // how often the next answer has been given already
	resetsAt  time.Time
}

// next picks the answer to a request; fresh says that it brings a new prompt.
// It returns the numbers of run and step, both from 1, and with a Limit the
// time at which that ends.
func (s *script) next(fresh bool, now time.Time) (st Step, run, step int, resetsAt time.Time) {
	if fresh && s.begun && !s.failed {
		s.run, s.step, s.served = s.run+1, 0, 0
	}
	s.begun = true
	steps := s.scenario.Runs[min(s.run, len(s.scenario.Runs)-1)]
	for s.step < len(steps) {
		st = steps[s.step]
		if st.Limit == nil {
			break
		}
		if s.served == 0 {
			// The agent is told whole seconds.
			s.resetsAt = now.Add(st.Limit.For + time.Second - 1).Truncate(time.Second)
		}
		if now.Before(s.resetsAt) {
			s.served++
			s.failed = true
			return st, s.run + 1, s.step + 1, s.resetsAt
		}
		s.step, s.served = s.step+1, 0
	}
	if s.step >= len(steps) {
		s.failed = false
		return Step{Text: "Nothing more is scripted."}, s.run + 1, s.step + 1, time.Time{}
	}
	st, run, step = steps[s.step], s.run+1, s.step+1
	s.served++
	s.failed = st.fails()
	if times := max(st.Times, 1); st.Times >= 0 && s.served >= times {
		s.step, s.served = s.step+1, 0
	}
	return st, run, step, time.Time{}
}
