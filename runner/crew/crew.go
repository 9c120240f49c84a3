// Package crew carries out the jobs of a run, each in a workspace: the user's checkout, one at a time, or a git worktree
// for each, side by side.
//
//	Take --> Start or Review --> its turn --> work kept --> done? --> merge queue --> landed, or back with the reason
//	                               |          (only in worktrees)                             |
//	                               +------------- News (events, then Done) <------------------+
//
// The run decides which job starts, and what follows from its Result. Only the run's own goroutine may call the methods,
// except Alone and Tell, which are for the goroutines of jobs.
package crew

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Crew holds the jobs under way and their workspaces.
type Crew struct {
	space  workspace
	prefix func(task.Task) string // of the message of a commit for a task; empty: none
	news   chan News

	jobs  []*Job               // in the order in which they were taken
	later map[string]time.Time // by task: not before then
	files map[string][]string  // by task: what its turns changed
	last  int                  // number of the latest iteration
}

// workspace is where jobs are carried out.
type workspace interface {
	open() bool                                // another job may start
	room(ctx context.Context, t task.Task) int // for so many turns for the task
	suits(t task.Task) bool                    // there is, or can be, room for the task
	enter(j *Job)                              // gives the job its place
	release(j *Job)
	place(j *Job, a *turn.Assignment) // into the workspace of the job; nil: into that of the run itself
	carryOut(j *Job) Done
	review(j *Job, look Look) Done
	ready(ctx context.Context, a turn.Assignment) error
	settle(d Done, k Known) turn.Result
	sync(ctx context.Context, own func() turn.Assignment, emit func(state.Event)) error
	landed(ctx context.Context, d Done) (why string)
	unlanded(ctx context.Context) (commits int, branch string)
	status() ([]state.SlotStatus, *state.FleetStatus)
	close(ctx context.Context)
}

func newCrew(prefix func(task.Task) string) *Crew {
	return &Crew{prefix: prefix, news: make(chan News, maxNews), later: map[string]time.Time{},
		files: map[string][]string{}}
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
	Files  []string // of the commit, if it was reviewed or Merge was asked
	// Conflict names files in which work that was to be reviewed conflicts with what has landed.
	Conflict []string
}

// Known is what the run knows when a job ends.
type Known struct {
	Plan   func() turn.Plan // reads it as it is now
	Checks turn.Checks
	Busy   func(id string) bool // another job works on the task
}

// Apart reports whether jobs work apart from the user's files, which get only what has landed.
func (c *Crew) Apart() bool {
	_, ok := c.space.(*worktrees)
	return ok
}

// Enter gives a job that was taken its place. There must be room.
func (c *Crew) Enter(j *Job) { c.space.enter(j) }

// Place puts an assignment into the place of a job; nil: into that of the run itself, where it runs checks of its own.
func (c *Crew) Place(j *Job, a *turn.Assignment) { c.space.place(j, a) }

// Sync brings the workspace of the run itself up to date. own returns an assignment for that workspace. No job may be
// under way.
func (c *Crew) Sync(ctx context.Context, own func() turn.Assignment, emit func(state.Event)) error {
	return c.space.sync(ctx, own, emit)
}

// Ready records the user's files as they are now, so that what the run changes before the turn begins does not count as
// the turn's work.
func (c *Crew) Ready(ctx context.Context, a turn.Assignment) error { return c.space.ready(ctx, a) }

// Settle returns the Result of a job, adapted to what the run knows by now.
func (c *Crew) Settle(d Done, k Known) turn.Result { return c.space.settle(d, k) }

// Landed forgets what was kept of work that has landed, and moves the user's checkout forward to it. why says what
// prevents the move, once for each reason.
func (c *Crew) Landed(ctx context.Context, d Done) (why string) { return c.space.landed(ctx, d) }

// Unlanded counts the commits on a branch that the user's checkout does not have. It tries to move the checkout first.
func (c *Crew) Unlanded(ctx context.Context) (commits int, branch string) {
	return c.space.unlanded(ctx)
}

// Status returns the jobs in worktrees, and the fleet (nil: the run has none), for people.
func (c *Crew) Status() ([]state.SlotStatus, *state.FleetStatus) { return c.space.status() }

// Close releases the workspaces. No job may be under way.
func (c *Crew) Close(ctx context.Context) { c.space.close(ctx) }

// Busy returns the ids of the tasks that are worked on.
func (c *Crew) Busy() map[string]bool {
	busy := map[string]bool{}
	for _, j := range c.jobs {
		busy[j.Task.ID] = true
	}
	return busy
}

// Open reports whether another job may start.
func (c *Crew) Open() bool { return c.space.open() }

// Room returns the number of turns for the task that can start.
func (c *Crew) Room(ctx context.Context, t task.Task) int { return c.space.room(ctx, t) }

// Suits reports whether there is, or can be, a workspace that the task needs.
func (c *Crew) Suits(t task.Task) bool { return c.space.suits(t) }

// Files returns, by task, the files that its turns have changed.
func (c *Crew) Files() map[string][]string { return c.files }

// Touched records which files a turn for the task has changed.
func (c *Crew) Touched(id string, files []string) {
	all := append(c.files[id], files...)
	slices.Sort(all)
	c.files[id] = slices.Compact(all)
}

// Wait returns when the first of the waiting tasks may start; zero: no task waits.
func (c *Crew) Wait(now time.Time) (first time.Time) {
	for id, until := range c.later {
		if !until.After(now) {
			delete(c.later, id)
		} else if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

// Go lets all waiting tasks start.
func (c *Crew) Go() { clear(c.later) }

// Waits reports whether the task has to wait.
func (c *Crew) Waits(id string, now time.Time) bool { return c.later[id].After(now) }

// Later keeps a task from starting until then.
func (c *Crew) Later(id string, until time.Time) { c.later[id] = until }

// Alone runs a function on the goroutine of the run, and waits for it. Call it from another goroutine.
func (c *Crew) Alone(f func()) {
	done := make(chan struct{})
	c.news <- News{Do: func() { f(); close(done) }}
	<-done
}

// Tell hands an event to the run. It waits until the run has handled the beginning of a phase: a call begins only once it
// is counted, and a turn looks at its files only once the state directory is whole again.
func (c *Crew) Tell(e state.Event) {
	n := News{Event: &e}
	if _, begins := e.Data.(state.Phase); begins {
		n.taken = make(chan struct{})
	}
	c.news <- n
	if n.taken != nil {
		<-n.taken
	}
}

// message returns the commit message for a turn whose agent wrote none.
func (c *Crew) message(a turn.Assignment) string {
	title := strings.TrimPrefix(a.Task.Title, "[P] ")
	if title == "" {
		title = fmt.Sprintf("iteration %d", a.Origin.Iteration)
	}
	if prefix := c.prefix(a.Task); prefix != "" {
		title = prefix + " " + title
	}
	return fmt.Sprintf("%s\n\nRalph-Run: %s\nRalph-Iteration: %d\nRalph-Task: %s\n", title, a.Origin.Run,
		a.Origin.Iteration, a.Task.ID)
}

// News returns the channel of the events and ends of all jobs.
func (c *Crew) News() <-chan News { return c.news }
