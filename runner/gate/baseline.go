package gate

import (
	"fmt"
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
	path  string
	dirty bool
	data  struct {
		Scope   Scope            `json:"scope"`
		Run     string           `json:"run"`
		Task    string           `json:"task,omitempty"`
		TakenAt time.Time        `json:"taken_at"`
		Checks  map[string]Entry `json:"checks"`
	}
}

// OpenBaseline reads the file, which need not exist. The Baseline is usable also
// with an error, which says that the file was set aside.
func OpenBaseline(path string) (*Baseline, error) {
	b := &Baseline{path: path}
	err := load(path, &b.data)
	if err != nil {
		b = &Baseline{path: path}
	}
	return b, err
}

// Current tells whether the baseline was taken for this moment; if not, it is
// time for Suite.TakeBaseline.
func (b *Baseline) Current(m Moment) bool {
	m.Scope = m.scope()
	if b == nil || b.data.TakenAt.IsZero() || b.data.Scope != m.Scope {
		return false
	}
	switch m.Scope {
	case ScopeGlobal:
		return true
	case ScopeTask:
		return b.data.Run == m.Run && b.data.Task == m.Task
	}
	return b.data.Run == m.Run
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
	b.data.Scope, b.data.Run, b.data.Task = m.scope(), m.Run, m.Task
	b.data.TakenAt = time.Now().Truncate(time.Second)
}

// Adopt takes over the baseline of a run that did not complete: what
// it broke must not become what was red before.
func (b *Baseline) Adopt(run string) {
	if b != nil && !b.data.TakenAt.IsZero() {
		b.data.Run, b.dirty = run, true
	}
}

// Red lists what was red when the baseline was taken and is not yet green, one
// line for each check that was.
func (b *Baseline) Red() []string {
	if b == nil {
		return nil
	}
	var lines []string
	for name, e := range b.data.Checks {
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
	e, ok := b.data.Checks[check]
	return e, ok
}

func (b *Baseline) set(check string, e Entry) {
	if b.data.Checks == nil {
		b.data.Checks = map[string]Entry{}
	}
	b.data.Checks[check], b.dirty = e, true
}

// take makes a report the baseline. Checks that did not run keep their entries.
func (b *Baseline) take(rep Report, m Moment) error {
	if b == nil {
		return nil
	}
	if rep.Baseline {
		b.data.Checks = nil
	}
	for _, r := range rep.Results {
		switch {
		case r.empty():
			b.set(r.Name, Entry{Empty: true})
		case r.Verdict != VerdictSkipped:
			b.set(r.Name, entryOf(r))
		}
	}
	b.data.Scope, b.data.Run, b.data.Task = m.scope(), m.Run, m.Task
	b.data.TakenAt, b.dirty = time.Now().Truncate(time.Second), true
	return b.save()
}

func entryOf(r Result) Entry {
	if r.Passed || r.Verdict == VerdictFlaky {
		return Entry{Passed: true, Tests: r.Tests.Total()}
	}
	return Entry{Code: r.code, Timeout: r.timeout, Tests: r.Tests.Total(), Failed: names(r.Tests.FailedTests())}
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
	e, ok := b.data.Checks[r.Name]
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

func (b *Baseline) save() error {
	if b == nil || !b.dirty {
		return nil
	}
	b.dirty = false
	return save(b.path, b.data)
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
