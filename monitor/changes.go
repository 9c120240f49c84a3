package monitor

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"

	"ralph/logs/termtext"
	"ralph/state/view"
)

// openChanges shows what the chosen iteration changed, or the one that is under review.
func (u *ui) openChanges() { u.openChangesOf(u.looked()) }

// looked is the iteration under review, else the chosen one.
func (u *ui) looked() int {
	defer u.lock()()
	if u.page != nil && u.page.of > 0 {
		return u.page.of
	}
	return u.chosen()
}

func (u *ui) openChangesOf(n int) {
	defer u.lock()()
	i := u.indexOf(n)
	if i < 0 {
		u.say("no iteration has begun yet, so there are no changes")
		return
	}
	it := &u.model.Run.Iterations[i]
	if it.Running() {
		u.say("iteration %d has not ended yet; what it changes is kept then", n)
		return
	}
	u.showChanges(changesSubject{Arg: strconv.Itoa(n), Name: fmt.Sprintf("iteration %d", n)})
}

// showChanges opens the page; ralph itself makes the patch, in the background. u is locked.
func (u *ui) showChanges(s changesSubject) {
	if len(u.o.Ralph) == 0 {
		u.fail("no changes: " + cmp.Or(u.o.NoControl, "this screen cannot run ralph"))
		return
	}
	s.Run = u.run()
	p := newChangesPage(s)
	u.over, u.help = append(u.over, p), false
	ralph := u.ralph()
	ralph.Most = maxDiff
	u.load(p.Fail, func() (func(), error) {
		out, err := ralph.Output(context.Background(), p.Verb()...)
		return func() { p.Load(string(out)) }, err
	})
}

// watched runs a slow verb in the terminal, and waits until a person has read its output.
func (u *ui) watched(verb []string) {
	const wait = `"$@"; code=$?; printf '\nback to the monitor with Enter '; read -r _; exit $code`
	args := slices.Concat([]string{"-c", wait, "sh"}, u.o.Ralph, verb)
	var err error
	u.app.Suspend(func() {
		err = foreground(exec.Command("sh", args...)) //nolint:noctx // only the user ends it
	})
	if err != nil {
		defer u.lock()()
		u.fail(view.Join(": ", verb[0]+" failed", termtext.Line(err.Error())))
	}
}
