package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/task"
)

// Shared is what the turns of a run know together: branches, tags, the stash and the list of worktrees belong to all
// worktrees of a repository, so each turn sees what another one has removed. It can be used by several goroutines. The
// zero value is ready.
type Shared struct {
	mu    sync.Mutex
	first *git.RefsView // what the repository had when the run began; nil: no turn has looked
	turns []*turnRefs   // under way, and those that ended while others were
	told  []git.Lost
	found sync.Map // names of agents' programs that were there
}

// turnRefs is a turn, as Shared has to know it.
type turnRefs struct {
	task     task.Task
	before   git.RefsView
	told     int      // how many losses had been told when it began
	commands []string // of git, that its tools ran
	over     bool
}

func (s *Shared) begin(t task.Task, before git.RefsView) *turnRefs {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &turnRefs{task: t, before: before, told: len(s.told)}
	s.turns = append(s.turns, r)
	return r
}

func (s *Shared) ran(r *turnRefs, command string) {
	if !strings.Contains(command, "git") { // it removes nothing of a repository: see audit.Removes
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.commands = append(r.commands, command)
}

func (s *Shared) end(r *turnRefs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.over = true
	if !slices.ContainsFunc(s.turns, func(o *turnRefs) bool { return !o.over }) {
		s.turns = nil
	}
}

// answersFor returns those of the losses that the turn saw and has to answer for: not those that another task asks for,
// that the tools of another turn show, which will tell it, or that have been told since this one began.
func (s *Shared) answersFor(r *turnRefs, gone []git.Lost) (own []git.Lost) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range gone {
		shows := func(command string) bool { return audit.Removes(command, l) }
		if slices.ContainsFunc(s.turns, func(o *turnRefs) bool {
			return o != r && (audit.AsksForLoss(audit.TextOf(o.task), l) ||
				!o.over && o.before.Has(l) && slices.ContainsFunc(o.commands, shows) && !slices.ContainsFunc(r.commands, shows))
		}) || slices.ContainsFunc(s.told[r.told:], func(t git.Lost) bool { return t.Text == l.Text }) {
			continue
		}
		own, s.told = append(own, l), append(s.told, l)
	}
	return own
}

// vanished is what a turn did to the refs.
type vanished struct {
	gone            []git.Lost
	own             []git.Lost        // those of gone that this turn answers for
	moved           []string          // branches and tags
	putBack, astray string            // see Work
	tasks           map[string]string // by id: why the work on a task that was done is gone
}

// observeRepository looks at what the call left. It puts HEAD back on the branch of the run first, and keeps the objects
// of what is gone.
func (t *turn) observeRepository(ctx context.Context, f *facts) (git.Snapshot, error) {
	w, before := t.w, t.w.refs
	after, view, err := t.look(ctx)
	if err == nil {
		f.lost = f.found.Lost(ctx, after)
	}
	if err != nil || f.lost != "" || !f.found.Repo {
		return after, err
	}
	v := &f.vanished
	if w.branch != "" && after.Operation == "" { // a rebase detaches HEAD until it is over
		if v.putBack, v.astray, err = git.PutBackBranch(ctx, t.a.Dir, w.branch, before, view); err != nil {
			return after, err
		}
		if v.astray != "" {
			v.putBack = ""
		}
	}
	if v.putBack != "" {
		if after, view, err = t.look(ctx); err != nil {
			return after, err
		}
	}
	tree := func() (string, error) { return after.Tree(ctx) }
	if v.gone, err = git.LostBetween(ctx, t.a.Dir, *w.Shared.first, before, view, tree); err != nil {
		return after, err
	}
	v.moved = git.MovedRefs(before, view)
	w.refs = view
	if err := git.KeepLost(ctx, t.a.Dir, t.a.Origin.Run, v.gone); err != nil {
		return after, err
	}
	v.own = w.Shared.answersFor(t.refs, v.gone)
	v.tasks, err = t.tasksOf(ctx, v.own)
	return after, err
}

// look takes the Snapshot and the refs at one moment.
func (t *turn) look(ctx context.Context) (git.Snapshot, git.RefsView, error) {
	s, err := git.Observe(ctx, t.a.Dir)
	if err != nil {
		return s, git.RefsView{}, err
	}
	v, err := git.LookAtRefs(ctx, t.a.Dir, s)
	return s, v, err
}

// tasksOf finds the tasks in whose turns the lost commits were made.
func (t *turn) tasksOf(ctx context.Context, gone []git.Lost) (map[string]string, error) {
	tasks := map[string]string{}
	for _, l := range gone {
		for _, oid := range l.Commits {
			t.w.finishKeeping()
			kept, err := history.Containing(ctx, t.a.Dir, oid)
			if err != nil {
				return nil, err
			}
			if len(kept) > 0 && !kept[0].Start && kept[0].Task != "" {
				tasks[kept[0].Task] = fmt.Sprintf("its commit %.7s is gone from %s", oid, l.Name)
			}
		}
	}
	return tasks, nil
}

// repository is the audit's input about the repository.
func (t *turn) repository(v vanished, after git.Snapshot) audit.Repository {
	r := audit.Repository{Lost: v.own, Moved: v.moved, Operation: after.Operation, Unmerged: after.Unmerged, Scratch: t.w.branch == ""}
	if what := v.putBack + v.astray; what != "" {
		r.Head = []string{what}
	}
	return r
}

// Recall takes over what an earlier run left open: what is gone from git.
func (w *Worker) Recall(gone []git.Lost) { w.missing = append(w.missing, gone...) }

// StillBroken is the audit's input before the first turn: what git shows of losses and operations that an earlier run has
// left open; nil outside git.
func (w *Worker) StillBroken(ctx context.Context, a Assignment) (*audit.Input, error) {
	ctx = w.git(ctx, a)
	if err := w.look(ctx, a.Dir); err != nil {
		return nil, err
	}
	defer w.Forget()
	if !w.before.Repo {
		return nil, nil
	}
	lost, err := git.StillLost(ctx, a.Dir, w.missing, w.refs, func() (string, error) { return w.before.Tree(ctx) })
	r := audit.Repository{Lost: lost, Operation: w.before.Operation, Unmerged: w.before.Unmerged, Scratch: w.before.Branch == ""}
	return &audit.Input{Repository: r}, err
}

// RememberLosses remembers what a turn of the run did to the repository, for Changed.
func (w *Worker) RememberLosses(r Result) {
	w.missing = append(w.missing, r.Work.Gone...)
	if what := r.Work.PutBack + r.Work.Astray; what != "" {
		w.moved = append(w.moved, what)
	}
}
