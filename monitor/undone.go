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

// markUndone marks the iterations that are undone. u is locked.
func (u *ui) markUndone() {
	run, count := u.run(), u.model.Status.Undone
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
	ask := u.askUndone // it outlives the poll, and has a bound of its own
	go ask(run)
}

// askUndone adds the iterations of a run that are undone. If ralph fails, none is marked.
func (u *ui) askUndone(run string) {
	defer u.caught()
	out, _ := u.ralph().Output(context.Background(), "iterations", "--json", "--run="+run)
	var all []view.Iteration
	_ = json.Unmarshal(out, &all)
	defer u.redraw()
	defer u.lock()()
	for i := range all {
		if all[i].Undone && run == u.undone.run {
			u.undone.all = append(u.undone.all, all[i].Number)
		}
	}
	u.markUndone()
}
