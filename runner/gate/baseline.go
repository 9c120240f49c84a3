package gate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"ralph/runner/gate/report"
)

// Scope says how long a baseline holds.
type Scope string

// The scopes.
const (
	ScopeGlobal  Scope = "global"  // until its file is removed
	ScopeSession Scope = "session" // one run; also the zero value
	ScopeTask    Scope = "task"    // one task
)

// Moment is where a run stands.
type Moment struct {
	Scope Scope
	Run   string // id of the run
	Task  string // id of the task; empty without a plan
}

// Entry is what a check said when the baseline was taken. What became green
// since then is green: it can be lost again.
type Entry struct {
	Passed  bool `json:"passed"`
	Code    int  `json:"code"` // exit code; -1: ended by a signal
	Timeout bool `json:"timeout,omitempty"`
	// Empty is true when there was no code or no test yet.
	Empty bool `json:"empty,omitempty"`
	Tests int  `json:"tests"` // 0: unknown, or none
	// Failed are the tests that were red; empty where single tests are not known.
	Failed []string `json:"failed,omitempty"`
}

// Baseline is .ralph/test_baseline.json. A nil Baseline knows nothing.
type Baseline struct {
	Scope   Scope            `json:"scope"`
	Run     string           `json:"run"`
	Task    string           `json:"task,omitempty"`
	TakenAt time.Time        `json:"taken_at"` // zero: never
	Checks  map[string]Entry `json:"checks"`
}

// ReadBaseline reads the file, which may be missing. The error says that an
// unusable file was set aside; the Baseline is then empty and usable.
func ReadBaseline(path string) (*Baseline, error) {
	b := &Baseline{}
	err := load(path, b)
	if err != nil {
		b = &Baseline{}
	}
	return b, err
}

// Write replaces the file, unless it holds the same already.
func (b *Baseline) Write(path string) error { return save(path, b) }

// Clone is a copy that shares nothing with b.
func (b *Baseline) Clone() *Baseline {
	if b == nil {
		return nil
	}
	c := *b
	c.Checks = maps.Clone(b.Checks)
	return &c
}

// Current tells whether the baseline was taken for this moment; if not, it is
// time for Suite.TakeBaseline.
func (b *Baseline) Current(m Moment) bool {
	m.Scope = m.scope()
	if b == nil || b.TakenAt.IsZero() || b.Scope != m.Scope {
		return false
	}
	switch m.Scope {
	case ScopeGlobal:
		return true
	case ScopeTask:
		return b.Run == m.Run && b.Task == m.Task
	}
	return b.Run == m.Run
}

func (m Moment) scope() Scope {
	if m.Scope == "" {
		return ScopeSession
	}
	return m.Scope
}

// Begin is the baseline of a project in which there was nothing to check: all
// that these checks find from now on is new.
func (b *Baseline) Begin(checks []Check, m Moment) {
	if b == nil {
		return
	}
	for _, c := range checks {
		b.set(c.Name, Entry{Empty: true})
	}
	b.Scope, b.Run, b.Task = m.scope(), m.Run, m.Task
	b.TakenAt = time.Now().Truncate(time.Second)
}

// Adopt takes over the baseline of a run that did not complete: what
// it broke must not become what was red before.
func (b *Baseline) Adopt(run string) {
	if b != nil && !b.TakenAt.IsZero() {
		b.Run = run
	}
}

// Red lists what was red when the baseline was taken and is not yet green, one
// line for each check that was.
func (b *Baseline) Red() []string {
	if b == nil {
		return nil
	}
	var lines []string
	for name, e := range b.Checks {
		if e.Passed || e.Empty {
			continue
		}
		line := name
		if len(e.Failed) > 0 {
			line += ": " + some(e.Failed)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func (b *Baseline) entry(check string) (Entry, bool) {
	if b == nil {
		return Entry{}, false
	}
	e, ok := b.Checks[check]
	return e, ok
}

func (b *Baseline) set(check string, e Entry) {
	if b.Checks == nil {
		b.Checks = map[string]Entry{}
	}
	b.Checks[check] = e
}

// take makes a report the baseline. Checks that did not run keep their entries.
func (b *Baseline) take(rep Report, m Moment) {
	if b == nil {
		return
	}
	if rep.Baseline {
		b.Checks = nil
	}
	for _, r := range rep.Results {
		switch {
		case r.empty():
			b.set(r.Name, Entry{Empty: true})
		case r.Verdict != VerdictSkipped:
			b.set(r.Name, entryOf(r))
		}
	}
	b.Scope, b.Run, b.Task = m.scope(), m.Run, m.Task
	b.TakenAt = time.Now().Truncate(time.Second)
}

func entryOf(r Result) Entry {
	if r.Passed || r.Verdict == VerdictFlaky {
		return Entry{Passed: true, Tests: r.Tests.Total()}
	}
	return Entry{Code: r.ExitCode, Timeout: r.TimedOut, Tests: r.Tests.Total(), Failed: names(r.Tests.FailedTests())}
}

// empty tells whether the check ran and there was nothing for it to check.
func (r Result) empty() bool {
	if r.Tests.Total() > 0 || !r.Passed && r.Verdict != VerdictSkipped {
		return false
	}
	return r.Tests.Nothing != "" || r.Tests.Known
}

// learn takes over what a run shows. The first tests of a check are its
// baseline: red ones are accepted where tests are written first, and the
// agent's own otherwise. A known failure that passes is known no more.
func (b *Baseline) learn(r Result, mode Mode) {
	if b == nil || r.empty() {
		return
	}
	e, ok := b.Checks[r.Name]
	switch {
	case !ok || e.Empty:
		e = entryOf(r)
		if mode != ModeTDD {
			e = Entry{Passed: true, Tests: e.Tests}
		}
		b.set(r.Name, e)
	case e.Passed:
	case r.Passed:
		b.set(r.Name, entryOf(r))
	default:
		red := slices.DeleteFunc(slices.Clone(e.Failed), func(name string) bool { return passed(r.Tests, name) })
		if len(red) == len(e.Failed) {
			return
		}
		e.Failed, e.Passed = red, len(red) == 0
		b.set(r.Name, e)
	}
}

func passed(s report.Summary, name string) bool {
	return slices.ContainsFunc(s.Tests, func(t report.Test) bool { return t.Name == name && t.Status == report.Passed })
}

// some names the first of many.
func some(names []string) string {
	const most = 5
	text := ""
	for i, name := range names {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(names)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}
