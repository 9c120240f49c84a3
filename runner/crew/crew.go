// Package crew carries out the jobs of a run, each in a workspace: the user's checkout, one at a time, or a git worktree
// for each, side by side.
//
//	New --> Start --> its turn, or reviewers --> work kept --> done? --> merge queue --> landed, or back with the reason
//	                     |                      (only in worktrees)                         |
//	                     +------------------ News (events, then Done) <--------------------+
//
// The run decides which job starts, and what follows from its Result. Only the run's own goroutine may call the methods,
// except OnRunGoroutine and Tell, which are for the goroutines of jobs.
package crew

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/runner/ledger"
	"ralph/runner/reviewers"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// Crew holds the jobs under way and the place where they work.
type Crew struct {
	*jobs
	Workspace
}

// Workspace is where jobs are carried out.
type Workspace interface {
	// InWorktrees reports whether jobs work apart from the user's files, which get only what has landed.
	InWorktrees() bool
	// Open reports whether another job may start.
	Open() bool
	// Room reports whether there is a place for another job. It may make one.
	Room(ctx context.Context) bool
	// Place puts an assignment into the place of a job; nil: into that of the run itself, where it runs checks of its own.
	Place(j *Job, a *turn.Assignment)
	// Refresh brings the place of the run itself up to date. own returns an assignment for it. No job may be under way.
	Refresh(ctx context.Context, own func() turn.Assignment, emit func(state.Event)) error
	// Ready records the user's files as they are now, so that what the run changes before the turn begins does not count
	// as the turn's work.
	Ready(ctx context.Context, a turn.Assignment) error
	// Settle returns the Result of a job, adapted to the plan and the checks as they are by now.
	Settle(d Done, plan func() turn.Plan, checks turn.Checks) turn.Result
	// Advance forgets what was kept of work that has landed, and moves the user's checkout forward to it. why says what
	// prevents the move, once for each reason.
	Advance(ctx context.Context, d Done) (why string)
	// Unlanded counts the commits on a branch that the user's checkout does not have. It tries to move the checkout first.
	Unlanded(ctx context.Context) (commits int, branch string)
	// Status returns the jobs in worktrees, and the fleet (nil: the run has none), for people.
	Status() ([]state.SlotStatus, *state.FleetStatus)
	// Close gives up the place. No job may be under way.
	Close(ctx context.Context)

	giveSlot(j *Job) // a place, of which there is one
	release(j *Job)
	carryOut(j *Job, look ReviewFunc) Done
}

// Place is a workspace with the work on a task in it.
type Place struct {
	Dir  string // the project in the slot
	Env  []string
	Base string // the commit that the work begins with
}

// ReviewFunc has reviewers look at the work in a place, and reports whether it may land. The error is a failure of ralph
// itself, not a refusal.
type ReviewFunc func(ctx context.Context, at Place) (res turn.Result, land bool, err error)

// jobs is what is known of the jobs under way.
type jobs struct {
	prefix func(task.Task) string // of the message of a commit for a task; empty: none
	news   chan News

	list  []*Job               // in the order in which they were made
	later map[string]time.Time // by task: not before then
	last  int                  // number of the latest iteration
}

func newJobs(prefix func(task.Task) string) *jobs {
	return &jobs{prefix: prefix, news: make(chan News, maxNews), later: map[string]time.Time{}}
}

// News is one event of a job, or its end, or something that the run has to do for it.
type News struct {
	Event *state.Event
	Done  *Done
	Do    func()

	taken chan struct{} // closed by Took; nil: nobody waits
}

// maxNews is how many news may wait for the run: an agent that floods its terminal does not wait for each line.
const maxNews = 256

// Took says that the run has handled an event.
func (n News) Took() {
	if n.taken != nil {
		close(n.taken)
	}
}

// Done is a job that is over.
type Done struct {
	Job    *Job
	Result turn.Result
	Work   slots.Work
	Landed string   // the commit; empty: nothing has landed
	Branch string   // that it has landed on
	Err    error    // ralph's own failure
	Files  []string // of the commit, if it was reviewed
	// Conflict names files in which work that was to be reviewed conflicts with what has landed.
	Conflict []string
}

// New makes a job for a task. The caller has checked that there is room. from is the origin of the job's events; if
// its iteration number is taken, the job gets the next free one.
func (c *Crew) New(t task.Task, rec *ledger.Record, from state.Origin) *Job {
	if !c.InWorktrees() {
		c.last = 0 // the number of an iteration that did not count is used again
	}
	c.last = max(from.Iteration, c.last+1)
	from.Iteration = c.last
	j := &Job{Task: t, Record: rec, Origin: from, Since: time.Now(), landing: make(chan landing, 1)}
	c.giveSlot(j) // before it counts as a job with a slot
	c.list = append(c.list, j)
	return j
}

// Start begins a job. Its News follow until its Done. look reviews the work; nil: the developer of the task works.
func (c *Crew) Start(ctx context.Context, j *Job, a turn.Assignment, look ReviewFunc) {
	j.Assignment, j.message = a, c.message(a)
	j.Ctx, j.cancel = context.WithCancelCause(ctx)
	go func() {
		d := c.carryOut(j, look)
		c.news <- News{Done: &d}
	}()
}

// Release ends a job.
func (c *Crew) Release(j *Job) {
	c.release(j)
	if j.cancel != nil {
		j.cancel(nil)
	} else if j.Origin.Iteration == c.last { // it did not start: the next one gets its number
		c.last--
	}
	c.list = slices.DeleteFunc(c.list, func(other *Job) bool { return other == j })
}

// Stop ends the work of jobs: that on a task, or all of it.
func (b *jobs) Stop(id string, by state.Request) {
	for _, j := range b.list {
		if (id == "" || j.Task.ID == id) && j.cancel != nil {
			j.cancel(&stop.Stopped{By: by})
		}
	}
}

// Skip ends the work on a task that a person has skipped.
func (b *jobs) Skip(id string, by state.Request) {
	if j := b.Of(id); j != nil {
		j.Skip = true
	}
	b.Stop(id, by)
}

// Of returns the job of a task; nil: nobody works on it.
func (b *jobs) Of(id string) *Job {
	for _, j := range b.list {
		if j.Task.ID == id {
			return j
		}
	}
	return nil
}

// At is the job that an event comes from; nil: it has ended.
func (b *jobs) At(from state.Origin) *Job {
	if j := b.Of(from.Task); j != nil && j.Origin.Iteration == from.Iteration {
		return j
	}
	return nil
}

// Jobs returns how many jobs are under way.
func (b *jobs) Jobs() int { return len(b.list) }

// Busy returns the ids of the tasks that are worked on.
func (b *jobs) Busy() map[string]bool {
	busy := map[string]bool{}
	for _, j := range b.list {
		busy[j.Task.ID] = true
	}
	return busy
}

// Delay keeps a task from starting until then.
func (b *jobs) Delay(id string, until time.Time) { b.later[id] = until }

// Delayed reports whether the task has to wait.
func (b *jobs) Delayed(id string, now time.Time) bool { return b.later[id].After(now) }

// EndDelays lets all tasks start.
func (b *jobs) EndDelays() { clear(b.later) }

// NextStart returns when the first of the delayed tasks may start; zero: there is none.
func (b *jobs) NextStart(now time.Time) (first time.Time) {
	for id, until := range b.later {
		if !until.After(now) {
			delete(b.later, id)
		} else if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

// OnRunGoroutine runs a function on the goroutine of the run, and waits for it. Call it from another goroutine.
func (b *jobs) OnRunGoroutine(f func()) {
	done := make(chan struct{})
	b.news <- News{Do: func() { f(); close(done) }}
	<-done
}

// Tell hands an event to the run. It waits until the run has handled the beginning of a phase: a call begins only once it
// is counted, and a turn looks at its files only once the state directory is whole again.
func (b *jobs) Tell(e state.Event) {
	n := News{Event: &e}
	if _, begins := e.Data.(state.Phase); begins {
		n.taken = make(chan struct{})
	}
	b.news <- n
	if n.taken != nil {
		<-n.taken
	}
}

// News returns the channel of the events and ends of all jobs.
func (b *jobs) News() <-chan News { return b.news }

// message returns the commit message for a turn whose agent wrote none.
func (b *jobs) message(a turn.Assignment) string {
	title := strings.TrimPrefix(a.Task.Title, "[P] ")
	title = cmp.Or(title, fmt.Sprintf("iteration %d", a.Origin.Iteration))
	return fmt.Sprintf("%s\n\nRalph-Run: %s\nRalph-Iteration: %d\nRalph-Task: %s\n",
		strings.TrimSpace(b.prefix(a.Task)+" "+title), a.Origin.Run, a.Origin.Iteration, a.Task.ID)
}

// Job is one thing to do for a task: a turn of its developer, or a phase of its review.
type Job struct {
	Task   task.Task
	Record *ledger.Record   // of the task
	Review *reviewers.Phase // nil: its developer works on it
	Origin state.Origin     // of its events
	Since  time.Time

	Tool string // that the agent called last
	Host string // the machine that the turn is on, as its events say
	Skip bool   // a person has skipped the task

	Commit string // that its work is on the branch of the run; empty: none
	Joined bool   // the commit was put on top of other work that landed meanwhile

	Ctx        context.Context // ends with the job
	Worker     *turn.Worker    // that carries out the job; nil: it ended before it got one
	Assignment turn.Assignment // its Dir is the project's folder in the job's workspace

	slot   *slots.Slot // nil in the checkout
	away   bool        // its turn is for the fleet
	marked bool        // see slots.Slot.Mark
	queued bool        // its work waits for the merge queue
	// announced is true while the merge queue expects its work.
	announced bool
	message   string
	cancel    context.CancelCauseFunc
	work      slots.Work
	landing   chan landing
	// unchecked is true when no turn has checked the work as it is.
	unchecked bool
}

// BesideRule is what has to be respected.
type BesideRule struct {
	// Busy holds the ids of the tasks that are worked on, or wait to land.
	Busy map[string]bool
	// Any lets tasks run side by side that the plan says nothing about.
	Any bool
	// Skip leaves a task out for now: it was put aside or put off, or waits; nil: none.
	Skip func(task.Task) bool
}

// Next is the task that may start beside those that are busy. While nothing is busy, everything
// may that comes next in the plan.
func (r BesideRule) Next(list task.List) (task.Task, bool) {
	order := r.Any || slices.ContainsFunc(list.Tasks, func(t task.Task) bool { return len(t.DependsOn) > 0 })
	free := func(t task.Task) bool { return t.Parallel || order }
	list.Tasks = slices.Clone(list.Tasks)
	wall := false // an open task stands above that nothing may pass
	for i, t := range list.Tasks {
		if !t.Pending() || !t.Required() {
			continue
		}
		busy := r.Busy[t.ID]
		if busy && !free(t) {
			return task.Task{}, false
		}
		if busy || wall || len(r.Busy) > 0 && !free(t) || r.Skip != nil && r.Skip(t) {
			list.Tasks[i].State = task.Blocked
		}
		wall = wall || !free(t) && len(r.Busy) > 0
	}
	t, ok := list.Next()
	if !ok {
		return task.Task{}, false
	}
	return list.Find(t.ID)
}

// Silent reports whether the plan has several open tasks and says of none that it may run beside another.
func Silent(list task.List) bool {
	open := 0
	for _, t := range list.Tasks {
		if len(t.DependsOn) > 0 {
			return false
		}
		if t.Pending() && t.Required() {
			if t.Parallel {
				return false
			}
			open++
		}
	}
	return open > 1
}

// checkout is the user's own checkout, which holds one job at a time. There is nothing to land.
type checkout struct {
	*jobs
	worker *turn.Worker // of the run itself: nobody else changes the checkout while it works
}

// InCheckout returns a crew of one, which works in the project itself.
func InCheckout(worker *turn.Worker, prefix func(task.Task) string) *Crew {
	b := newJobs(prefix)
	return &Crew{b, &checkout{b, worker}}
}

func (c *checkout) carryOut(j *Job, look ReviewFunc) Done {
	d := Done{Job: j}
	if look != nil {
		d.Result, _, d.Err = look(j.Ctx, Place{Dir: j.Assignment.Dir, Env: c.worker.Env})
	} else {
		d.Result, d.Err = c.worker.Run(j.Ctx, j.Assignment, c.Tell)
	}
	return d
}

func (c *checkout) Ready(ctx context.Context, a turn.Assignment) error { return c.worker.Ready(ctx, a) }

func (c *checkout) InWorktrees() bool                                            { return false }
func (c *checkout) Open() bool                                                   { return len(c.list) == 0 }
func (c *checkout) Room(context.Context) bool                                    { return c.Open() }
func (c *checkout) Place(*Job, *turn.Assignment)                                 {}
func (c *checkout) Settle(d Done, _ func() turn.Plan, _ turn.Checks) turn.Result { return d.Result }
func (c *checkout) Refresh(context.Context, func() turn.Assignment, func(state.Event)) error {
	return nil
}
func (c *checkout) Advance(context.Context, Done) string             { return "" }
func (c *checkout) Unlanded(context.Context) (int, string)           { return 0, "" }
func (c *checkout) Status() ([]state.SlotStatus, *state.FleetStatus) { return nil, nil }
func (c *checkout) Close(context.Context)                            {}
func (c *checkout) giveSlot(j *Job)                                  { j.Worker = c.worker }
func (c *checkout) release(*Job)                                     {}
