package monitor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/changes"
	"ralph/monitor/keys"
	"ralph/monitor/tasks"
	"ralph/state"
	"ralph/state/view"
)

// tasksAge is how old the list of tasks may get: other programs edit plans, too.
const tasksAge = 2 * time.Second

// scrolling are the keys that move in the help.
const scrolling = "up k down j pgup b ctrl-u pgdn space ctrl-d g home G end"

// taskPage is the page of tasks, with the verbs that it waits for.
type taskPage struct {
	*tasks.Page
	verbs   [][]string // to be run, one after the other
	working bool       // a goroutine runs them
	reading bool       // another one reads the plan
	stale   bool       // it has to be read again
	next    time.Time  // when it is read again in any case
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
	u.tasks = &taskPage{Page: tasks.At(u.model.Status.Task.ID)}
	u.readTasks()
}

// pageHints are the keys of the page of changes or of tasks, if one is open.
func (u *ui) pageHints() []keys.Hint {
	switch {
	case u.changes != nil:
		return changes.Hints()
	case u.tasks != nil:
		return tasks.Hints()
	}
	return nil
}

// overPage handles a key for what lies over a page: the help, or a failure, which Escape takes away unless
// the page asks something. took is false if the key is for the page.
func (u *ui) overPage(name string, asks bool) (took, known bool) {
	switch {
	case u.help:
		u.help = u.stays(name)
		return true, !u.help
	case u.failure != "" && name == "esc" && !asks:
		u.failure = ""
		return true, true
	}
	return false, false
}

// keyOfTasks handles a key while the page of tasks is open. It returns false for the
// few keys that work everywhere.
func (u *ui) keyOfTasks(e *tcell.EventKey) bool {
	u.mu.Lock()
	p, name := u.tasks, keys.Name(e)
	if p == nil {
		u.mu.Unlock()
		return false
	}
	if took, known := u.overPage(name, p.Asks()); took {
		u.mu.Unlock()
		return known
	}
	act, known := p.Key(e)
	switch {
	case act.Close:
		u.tasks = nil
	case act.Say != "":
		u.say("%s", act.Say)
	case act.Diff != "":
		u.showChanges(changes.Subject{Arg: act.Diff, Name: "task " + act.Diff})
	case act.Verb != nil && !act.Terminal:
		u.change(act.Verb)
	}
	u.mu.Unlock()
	if act.Terminal {
		u.inTerminal(act.Verb)
	}
	return known || !u.everywhere(name)
}

// stays reports whether the help stays open after a key.
func (u *ui) stays(name string) bool {
	return slices.Contains(strings.Fields(scrolling), name) || u.everywhere(name)
}

// everywhere reports whether a key works on the page of tasks, too.
func (u *ui) everywhere(name string) bool {
	return slices.ContainsFunc(u.table, func(b binding) bool {
		return b.always && slices.Contains(strings.Fields(b.keys), name)
	})
}

// renewTasks keeps the open page up to date. u is locked.
func (u *ui) renewTasks(events []state.Event) {
	p := u.tasks
	if p == nil {
		return
	}
	changed := slices.ContainsFunc(events, func(e state.Event) bool {
		switch e.Data.(type) {
		case state.IterationStart, state.IterationEnd, state.TaskChange:
			return true
		}
		return false
	})
	if changed || time.Now().After(p.next) {
		u.readTasks()
	}
}

// readTasks reads the plan in the background, once at a time. u is locked.
func (u *ui) readTasks() {
	p := u.tasks
	if p.reading || p.working {
		p.stale = true
		return
	}
	p.reading, p.stale = true, false
	list := listTasks // it outlives the poll, and has a bound of its own
	go func() {
		defer u.caught()
		began := time.Now()
		all, err := list(u.o.Ralph)
		defer u.redraw()
		defer u.lock()()
		p.reading, p.next = false, time.Now().Add(tasksAge+10*time.Since(began))
		switch {
		case p.stale && u.tasks == p && !p.working:
			u.readTasks()
		case p.stale: // a verb has changed the plan since
		case err != nil:
			p.Fail(err.Error())
		default:
			p.Load(all)
		}
	}()
}

// listTasks asks ralph for the tasks.
func listTasks(ralph []string) ([]tasks.Task, error) {
	ctx, cancel := context.WithTimeout(context.Background(), verbTimeout)
	defer cancel()
	out, err := printed(ctx, ralph, "task", "list", "--json")
	if err != nil {
		return nil, err
	}
	return tasks.Read(out)
}

// printed is what a verb prints; if it fails, the error is the last line that it wrote.
func printed(ctx context.Context, ralph []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, ralph[0], append(ralph[1:len(ralph):len(ralph)], args...)...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, errors.New(strings.TrimPrefix(cmp.Or(lastLine(failed.Stderr), err.Error()), "ralph: "))
	}
	return out, err
}

// change runs a verb that changes the plan, after those that were asked for before. If one
// fails, those that wait are dropped: they build on it. u is locked.
func (u *ui) change(verb []string) {
	p := u.tasks
	p.verbs = append(p.verbs, verb)
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
		if u.tasks == p {
			u.readTasks()
		}
		u.mu.Unlock()
		return false
	}
	verb := p.verbs[0]
	p.verbs = p.verbs[1:]
	u.mu.Unlock()
	text, ok := runVerb(u.o.Ralph, verb...)
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
func (u *ui) inTerminal(verb []string) {
	var text string
	var err error
	u.app.Suspend(func() { text, err = edited(u.o.Ralph, verb) })
	defer u.lock()()
	if err != nil {
		u.fail(view.Join(": ", strings.Join(verb[:2], " ")+" failed", text, termtext.Line(err.Error())))
	}
	if u.tasks != nil {
		u.readTasks()
	}
}

// edited runs a verb in the terminal, and returns the last line that it wrote as an error.
func edited(ralph, verb []string) (string, error) {
	said, err := os.CreateTemp("", "ralph-verb-")
	if err != nil {
		return "", err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := exec.Command(ralph[0], append(ralph[1:len(ralph):len(ralph)], verb...)...) //nolint:noctx // only the user ends it
	cmd.Stderr = said
	err = foreground(cmd)
	out, _ := os.ReadFile(said.Name())
	return strings.TrimPrefix(lastLine(out), "ralph: "), err
}
