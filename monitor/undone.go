package monitor

import (
	"context"
	"encoding/json"

	"ralph/state/view"
)

// undone lists the iterations that ralph undo has taken back. Only git knows them, so the monitor asks ralph when their
// count in the status changes.
type undone struct {
	run   string
	count int   // in the status, when ralph was asked
	all   []int // their numbers
}

// markUndone marks the iterations that are undone. If ralph fails, none is marked.
func (u *ui) markUndone() {
	run, count := u.runID(), u.model.Status.Undone
	if run == u.undone.run {
		for _, n := range u.undone.all {
			if at := u.indexOf(n); at >= 0 {
				u.model.Run.Iterations[at].Undone = true
			}
		}
	}
	if len(u.o.Ralph) == 0 || count == 0 || run == u.undone.run && count == u.undone.count {
		return
	}
	u.undone = undone{run: run, count: count}
	ralph := u.ralph()
	u.background(func() func() {
		out, _ := ralph.Output(context.Background(), "iterations", "--json", "--run="+run)
		var all []view.Iteration
		_ = json.Unmarshal(out, &all)
		return func() {
			for i := range all {
				if all[i].Undone && run == u.undone.run {
					u.undone.all = append(u.undone.all, all[i].Number)
				}
			}
			u.markUndone()
		}
	})
}
