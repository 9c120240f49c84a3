package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
)

// MachineWork is where the turns of a run were carried out. It is empty for a run that had one after the other, where it was
// started.
type MachineWork struct {
	Machines []Machine `json:"machines,omitempty"` // the one with the most turns first
	Queue    *Queue    `json:"merge_queue,omitempty"`
}

// Machine is what one machine did.
type Machine struct {
	Name    string  `json:"name"`
	Turns   int     `json:"turns"`   // that ended; a turn that is made again counts again
	Seconds float64 `json:"seconds"` // from the start of each turn until its work had landed or was sent back
}

// Queue is what became of finished work.
type Queue struct {
	Landed    int `json:"landed"`
	Conflicts int `json:"conflicts"` // sent back, for it conflicts with what has landed
	Checks    int `json:"checks"`    // sent back, for its checks fail together with what has landed
	Hooks     int `json:"hooks"`     // sent back by a hook
}

// machineFold takes the events of one run, oldest first.
type machineFold struct {
	host   string // of the run, whose machine may get another name before it is resumed
	beside bool   // several turns at the same time, or one on another machine
	all    []Machine
	queue  Queue
}

// Add folds one event.
func (f *machineFold) Add(e state.Event) {
	switch d := e.Data.(type) {
	case state.RunStart:
		f.host, f.beside = termtext.Line(e.Host), f.beside || d.Parallel > 1
	case state.Commit:
		if d.Landed != "" && d.OID != "" {
			f.queue.Landed++
		}
	case state.IterationEnd:
		f.ended(e.Host, d)
	}
}

func (f *machineFold) ended(host string, d state.IterationEnd) {
	host = termtext.Line(host)
	f.beside = f.beside || host != f.host
	n := slices.IndexFunc(f.all, func(m Machine) bool { return m.Name == host })
	if n < 0 {
		n = len(f.all)
		f.all = append(f.all, Machine{Name: host})
	}
	f.all[n].Turns++
	f.all[n].Seconds += max(d.Seconds, 0)
	switch d.Merge {
	case state.MergeConflict:
		f.queue.Conflicts++
	case state.MergeChecks:
		f.queue.Checks++
	case state.MergeHook:
		f.queue.Hooks++
	}
}

// Work is what the events add up to.
func (f *machineFold) Work() (w MachineWork) {
	if !f.beside && f.queue == (Queue{}) {
		return w
	}
	w.Machines = slices.SortedStableFunc(slices.Values(f.all), func(a, b Machine) int {
		return cmp.Compare(b.Turns, a.Turns)
	})
	if f.queue != (Queue{}) {
		w.Queue = &f.queue
	}
	return w
}

// mostMachines is how many machines have a line.
const mostMachines = 20

// Lines are for people; took writes a time. They are inert, even if the Work was read from a file.
func (w MachineWork) Lines(took func(seconds float64) string) (all []string) {
	row := func(name string, turns int, seconds float64) {
		all = append(all, fmt.Sprintf("%s: %s, %s", name, termtext.Count(turns, "turn"), took(seconds)))
	}
	for _, m := range w.Machines[:min(len(w.Machines), mostMachines)] {
		row("machine "+cmp.Or(termtext.Line(m.Name), "without a name"), m.Turns, m.Seconds)
	}
	if more := len(w.Machines) - mostMachines; more > 0 {
		turns, seconds := 0, 0.0
		for _, m := range w.Machines[mostMachines:] {
			turns, seconds = turns+m.Turns, seconds+m.Seconds
		}
		row(fmt.Sprintf("%d more machines", more), turns, seconds)
	}
	if q := w.Queue; q != nil {
		all = append(all, "merge queue: "+q.line())
	}
	return all
}

func (q Queue) line() string {
	var why []string
	for _, part := range []struct {
		n    int
		what string
	}{{q.Conflicts, "for a conflict"}, {q.Checks, "for failed checks"}, {q.Hooks, "by a hook"}} {
		if part.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	text := fmt.Sprintf("%d landed, %d sent back", q.Landed, q.Conflicts+q.Checks+q.Hooks)
	if len(why) > 0 {
		text += ": " + strings.Join(why, ", ")
	}
	return text
}
