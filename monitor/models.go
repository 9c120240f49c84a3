package monitor

import (
	"cmp"
	"context"

	"ralph/logs/termtext"
)

// openModels opens the page of agents and models.
func (u *ui) openModels() {
	defer u.lock()()
	switch {
	case len(u.o.Ralph) == 0:
		u.fail("no list of models: " + cmp.Or(u.o.NoControl, "this screen cannot run ralph"))
		return
	case !u.model.Alive:
		u.say("no runner is alive here; start one with: ralph --agent NAME --model MODEL")
		return
	}
	u.help = false
	p := newModelsPage(u.model.Status.Agent)
	u.over = append(u.over, p)
	go func() {
		defer u.caught()
		data, err := u.ralph().Output(context.Background(), "agent", "list", "--json")
		defer u.redraw()
		defer u.lock()()
		if err == nil {
			err = p.Load(data)
		}
		if err != nil {
			p.Fail(termtext.Line(err.Error()))
		}
	}()
}
