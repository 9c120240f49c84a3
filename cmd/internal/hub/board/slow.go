package board

import (
	"context"
	"encoding/json"
	"time"

	"ralph/logs/termtext"
	"ralph/state/act"
	"ralph/state/report"
)

// slowEvery is how old the slow parts of a page may get.
const slowEvery = 15 * time.Second

// slow has the parts of a page that take long: the plan, as ralph reads it, and a fold of all events.
type slow struct {
	tasks  []act.Task
	report *report.Report // nil: nothing is known
	found  time.Time
	busy   bool
	due    bool
}

// outdated makes the next call of fresh read the slow parts again, such as after an iteration.
func (f *feed) outdated() {
	f.mu.Lock()
	f.slow.due = true
	f.mu.Unlock()
}

// fresh returns the slow parts as last read. If they are old, it starts to read them again in the background.
func (f *feed) fresh(ctx context.Context, now time.Time) slow {
	s := &f.slow
	if !s.busy && (s.due || now.Sub(s.found) > slowEvery) {
		s.busy, s.due = true, false
		run := f.model.Status.RunID
		go func() {
			tasks := f.tasks(ctx)
			rep, _ := f.board.reportOf(f.project, run)
			f.mu.Lock()
			f.slow.tasks, f.slow.report, f.slow.found, f.slow.busy = tasks, rep, time.Now(), false
			f.mu.Unlock()
		}()
	}
	return *s
}

// tasks asks ralph for the plan. Without one, there are none.
func (f *feed) tasks(ctx context.Context) (all []act.Task) {
	out, err := act.In(f.board.Ralph, f.Dir).Output(ctx, "task", "list", "--json")
	if err != nil || json.Unmarshal(out, &all) != nil {
		return nil
	}
	for i := range all {
		t := &all[i]
		t.Title, t.Why = termtext.Line(t.Title), termtext.Line(t.Why)
	}
	return all
}
