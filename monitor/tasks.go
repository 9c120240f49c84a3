package monitor

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/view"
)

// tasksAge is how old the list of tasks may get: other programs edit plans, too.
const tasksAge = 2 * time.Second

// taskPage is the page of tasks, with the verbs that it waits for.
type taskPage struct {
	*tasksPage
	verbs   [][]string // to be run, one after the other
	working bool       // a goroutine runs them
	reading bool       // another one reads the plan
	stale   bool       // it has to be read again
	next    time.Time  // when it is read again in any case
	wanted  bool       // there was room for it on the screen
}

// openTasks opens the page of tasks.
func (u *ui) openTasks() {
	defer u.lock()()
	if len(u.o.Ralph) == 0 {
		u.fail("no list of tasks: " + cmp.Or(u.o.NoControl, "this screen cannot run ralph"))
		return
	}
	u.help = false
	u.closePage()
	p := &taskPage{tasksPage: tasksPageLeft(u.model.Status.Task.ID)}
	u.over = []coverPage{p}
	u.readTasks(p)
}

// tasks is the open page of tasks; nil: it is closed.
func (u *ui) tasks() *taskPage {
	for _, p := range u.over {
		if t, ok := p.(*taskPage); ok {
			return t
		}
	}
	return nil
}

// renewTasks keeps the lists on the screen up to date. The one of the panel is read again only when the
// run has changed the plan: nobody edits it there. u is locked.
func (u *ui) renewTasks(events []state.Event) {
	changed := slices.ContainsFunc(events, func(e state.Event) bool {
		switch e.Data.(type) {
		case state.IterationStart, state.IterationEnd, state.TaskChange:
			return true
		}
		return false
	})
	if p := u.tasks(); p != nil && (changed || time.Now().After(p.next)) {
		u.readTasks(p)
	}
	if p := u.list; changed && p.wanted && len(u.over) == 0 {
		u.readTasks(p)
	}
}

// panelTasks is how many rows the list in the panel wants on a screen of this size; it is read when
// there is room for it. u is locked.
func (u *ui) panelTasks(w, h int) int {
	if u.alone != panelPlan && (w < twoColumns || h < columnHeight) || len(u.o.Ralph) == 0 ||
		u.model.State == view.StateNone {
		return 0
	}
	if p := u.list; !p.wanted {
		p.wanted = true
		u.readTasks(p)
	}
	return u.list.Len()
}

// readTasks reads the plan in the background, once at a time. u is locked.
func (u *ui) readTasks(p *taskPage) {
	if p.reading || p.working {
		p.stale = true
		return
	}
	p.reading, p.stale = true, false
	list, ralph := listTasks, u.ralph() // it outlives the poll, and has a bound of its own
	go func() {
		defer u.caught()
		began := time.Now()
		all, err := list(ralph)
		defer u.redraw()
		defer u.lock()()
		p.reading, p.next = false, time.Now().Add(tasksAge+10*time.Since(began))
		switch open := u.tasks() == p || u.list == p; {
		case p.stale && open && !p.working:
			u.readTasks(p)
		case p.stale: // a verb has changed the plan since
		case err != nil:
			p.Fail(err.Error())
		default:
			p.Load(all)
		}
	}()
}

// listTasks asks ralph for the tasks.
func listTasks(ralph act.Ralph) ([]shownTask, error) {
	out, err := ralph.Output(context.Background(), "task", "list", "--json")
	if err != nil {
		return nil, err
	}
	return readTasks(out)
}

// change runs a verb that changes the plan, after those in the queue. If one fails, the rest of
// the queue is dropped, because it depends on it. u is locked.
func (u *ui) change(p *taskPage, args []string) {
	p.verbs = append(p.verbs, args)
	if p.working {
		return
	}
	p.working = true
	go func() {
		defer u.caught()
		defer u.redraw()
		for u.changeNext(p) {
			u.redraw()
		}
	}()
}

// changeNext runs one verb, or reads the plan after the last one.
func (u *ui) changeNext(p *taskPage) bool {
	u.mu.Lock()
	if len(p.verbs) == 0 {
		p.working, p.stale = false, false
		if u.tasks() == p {
			u.readTasks(p)
		}
		u.mu.Unlock()
		return false
	}
	args := p.verbs[0]
	p.verbs = p.verbs[1:]
	u.mu.Unlock()
	text, ok := runVerb(u.ralph(), args...)
	defer u.lock()()
	if !ok {
		p.verbs = nil
		u.fail(text)
	} else {
		u.say("%s", text)
	}
	return true
}

// inTerminal runs a verb that opens an editor.
func (u *ui) inTerminal(args []string) {
	var text string
	var err error
	u.app.Suspend(func() { text, err = edited(u.o.Ralph, args) })
	defer u.lock()()
	if err != nil {
		u.fail(strings.Join(args[:2], " ") + " failed: " + cmp.Or(text, termtext.Line(err.Error())))
	}
	if p := u.tasks(); p != nil {
		u.readTasks(p)
	}
}

// edited runs a verb in the terminal, and returns the last line that it wrote as an error.
func edited(ralph, args []string) (string, error) {
	said, err := os.CreateTemp("", "ralph-verb-")
	if err != nil {
		return "", err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := exec.Command(ralph[0], slices.Concat(ralph[1:], args)...) //nolint:noctx // only the user ends it
	cmd.Stderr = said
	err = foreground(cmd)
	out, _ := os.ReadFile(said.Name()) // file: a temporary file
	return act.Problem(out), err
}
