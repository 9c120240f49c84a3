// Package crew carries out the turns of a run side by side, each in a slot of its own. Finished work
// goes through the merge queue.
//
//	Start --> slot --> turn --> work kept --> done? --> merge queue --> landed, or back with the reason
//	                    |                                                   |
//	                    +---------------- News (events, then Done) <--------+
//
// The run decides which turn starts, and what follows from its Result. Only the run's own goroutine may
// call the methods, except Alone and Tell, which are for the goroutines of turns.
package crew

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/runner/carrier"
	"ralph/runner/crew/fleet"
	"ralph/runner/git/command"
	"ralph/runner/git/history"
	"ralph/runner/merge"
	"ralph/runner/sandbox"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// Options are what a crew works with.
type Options struct {
	slots.SlotOptions
	Dir    string // the user's project
	Plan   store.File
	Run    string
	Prefix func(task.Task) string // of the message of a commit for a task; empty: none
	Env    []string               // of the run
	Secure []string               // the variables that filters of git get
	Log    hclog.Logger
	// Worker makes a worker for turns with this environment.
	Worker func(env []string) *turn.Worker
	// Merge is called, on the goroutine of the run, before finished work goes into the merge queue.
	// It says why the work must not; empty: it may. nil: all work may.
	Merge    func(j *Job, commit string, files []string) (why string)
	Ralph    string // version of this ralph, which workers elsewhere have to fit
	Numbered int    // the last number that an iteration has had; new ones get higher numbers
}

// Crew is the slots of one run, and the turns in them.
type Crew struct {
	o     Options
	home  *slots.Home
	trust *command.Trust
	trunk trunk
	queue *queue
	news  chan News

	free   []*slots.Slot
	jobs   []*Job                  // in the order in which they were taken
	ways   map[int]carrier.Carrier // by slot; not of those in this process
	way    carrier.Way             // to the fleet
	fleet  *fleet.Follower         // nil: the run has none
	source source

	opened time.Time

	later map[string]time.Time // by task: not before then
	files map[string][]string  // by task: what its turns changed
	last  int                  // number of the latest iteration
}

// trunk is what results are merged into.
type trunk struct {
	slot    *slots.Slot // the worktree
	branch  *merge.Branch
	checker *turn.Worker // of the merge queue; nil: not needed yet
	synced  string       // the commit that Sync has prepared
	why     string       // why the user's checkout does not follow, as reported last
}

// landing is the merge queue's answer.
type landing struct {
	merge.Outcome
	held string // why it must not land; empty: it may
	// unjoined are files of the work with conflicts that are not resolved.
	unjoined []string
	err      error
}

// News is one event of a turn, or its end, or something that the run has to do for it.
type News struct {
	Event *state.Event
	Done  *Done
	Do    func()
}

// Done is a turn that is over.
type Done struct {
	Job    *Job
	Result turn.Result
	Work   slots.Work
	Landed string   // the commit; empty: nothing has landed
	Err    error    // ralph's own failure
	Files  []string // of the commit, if it was reviewed or Merge was asked
	// Conflict names files in which work that was to be reviewed conflicts with what has landed.
	Conflict []string
}

// Open makes or finds the worktrees.
func Open(ctx context.Context, o Options) (*Crew, error) {
	home, err := slots.HomeOf(o.Env, o.Dir, o.Plan)
	if err != nil {
		return nil, err
	}
	if err := home.Check(ctx, o.Setup); err != nil {
		return nil, err
	}
	c := &Crew{o: o, home: home, opened: time.Now(), later: map[string]time.Time{}, files: map[string][]string{},
		news: make(chan News), ways: map[int]carrier.Carrier{}}
	if c.trust, err = command.NewTrust(ctx, o.Dir, o.Secure); err != nil {
		return nil, err
	}
	ctx = command.With(ctx, c.trust)
	root, _ := command.Root(o.Dir)
	c.trunk.branch = &merge.Branch{User: root, Name: "ralph/" + o.Run, Leave: o.Land == slots.LandBranch,
		Note: filepath.Join(home.Dir, "following")}
	if err := c.trunk.branch.Recover(ctx); err != nil {
		return nil, err
	}
	if c.last, err = latest(ctx, o.Dir, o.Run); err != nil {
		return nil, err
	}
	c.last = max(c.last, o.Numbered)
	for n := range c.o.Parallel + 1 {
		s, err := home.Open(ctx, n, "HEAD")
		if err != nil {
			return nil, err
		}
		if err := s.Salvage(ctx); err != nil {
			o.Log.Warn("what a killed run left cannot be kept", "slot", n, "error", err)
		}
		if n == 0 {
			c.trunk.slot, c.trunk.branch.Root = s, s.Root
			continue
		}
		c.free = append(c.free, s)
	}
	if err := c.sendable(ctx); err != nil {
		return nil, err
	}
	c.findSource(ctx)
	if err := c.joinFleet(ctx); err != nil {
		return nil, err
	}
	if err := c.reach(ctx); err != nil {
		c.fleet.Leave()
		return nil, err
	}
	if err := c.trunk.branch.Open(ctx); err != nil {
		c.fleet.Leave()
		return nil, err
	}
	c.queue = openQueue(ctx, c.trunk.branch, c.checkTogether)
	return c, nil
}

// Env is the environment of the worktree into which results are merged.
func (c *Crew) Env() []string { return c.trunk.slot.Env(c.o.Env) }

// contained is the sandbox for the folder of an assignment. After a failure it is still that
// of the project, which refuses to run anything in this folder.
func contained(a turn.Assignment) sandbox.Contained {
	if !a.Sandbox.On() {
		return a.Sandbox // no sandbox: nothing to adapt
	}
	if s, err := a.Sandbox.For(a.Dir); err == nil {
		return s
	}
	return a.Sandbox
}

// Place puts an assignment into the slot.
func (j *Job) Place(a *turn.Assignment) {
	a.Dir, a.Plan, a.Origin.Iteration = j.Slot.Dir, j.Slot.Plan(), j.Origin.Iteration
	a.Sandbox = contained(*a)
	protect := a.Protect
	a.Protect = nil
	for _, path := range protect {
		a.Protect = append(a.Protect, j.Slot.Path(path))
	}
}

// Worker is the worker that carries out the job; nil: the job ended before it got one.
func (j *Job) Worker() *turn.Worker { return j.worker }

// Context ends with the job.
func (j *Job) Context() context.Context { return j.ctx }

// Base is the project's folder in the worktree into which results are merged.
func (c *Crew) Base() string { return c.trunk.slot.Dir }

// Trust names the programs that git may start.
func (c *Crew) Trust() *command.Trust { return c.trust }

// Busy are the ids of the tasks that are worked on.
func (c *Crew) Busy() map[string]bool {
	busy := map[string]bool{}
	for _, j := range c.jobs {
		busy[j.Task.ID] = true
	}
	return busy
}

// Room is the number of turns for the task that can start.
func (c *Crew) Room(ctx context.Context, t task.Task) int {
	c.grow(ctx)
	return len(c.fit(t))
}

// Open reports whether another task can be worked on.
func (c *Crew) Open() bool { return len(c.jobs) < c.o.Parallel+c.fleetJobs() || c.spare("") > 0 }

// Files holds, by task, the files that its turns have changed.
func (c *Crew) Files() map[string][]string { return c.files }

// Touched remembers which files a turn for the task has changed.
func (c *Crew) Touched(id string, files []string) {
	all := append(c.files[id], files...)
	slices.Sort(all)
	c.files[id] = slices.Compact(all)
}

// Wait is when the first of the tasks that wait may go on; zero: none waits.
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

// Slots are the turns under way, for people.
func (c *Crew) Slots() (all []state.SlotStatus) {
	for _, j := range c.Jobs() {
		phase := ""
		if j.queued {
			phase = "landing"
		}
		all = append(all, state.SlotStatus{Phase: phase, Slot: j.Slot.N, Iteration: j.Origin.Iteration,
			Worker: c.where(j), TaskID: j.Task.ID, Title: j.Task.Title, Since: j.Since, LastTool: j.Tool})
	}
	return all
}

// where is the machine that a job is on; empty: this one.
func (c *Crew) where(j *Job) string {
	if way := c.ways[j.Slot.N]; !way.OnFleet() || j.Host == "" {
		return way.Name()
	}
	return j.Host
}

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

// Tell hands an event on. The run takes it as soon as it can.
func (c *Crew) Tell(e state.Event) { c.news <- News{Event: &e} }

// message is the message for the commit of a turn that made none.
func (c *Crew) message(a turn.Assignment) string {
	title := strings.TrimPrefix(a.Task.Title, "[P] ")
	if title == "" {
		title = fmt.Sprintf("iteration %d", a.Origin.Iteration)
	}
	if prefix := c.o.Prefix(a.Task); prefix != "" {
		title = prefix + " " + title
	}
	return fmt.Sprintf("%s\n\nRalph-Run: %s\nRalph-Iteration: %d\nRalph-Task: %s\n", title, a.Origin.Run,
		a.Origin.Iteration, a.Task.ID)
}

// News are the events and ends of all turns.
func (c *Crew) News() <-chan News { return c.news }

// Follow moves the user's checkout to the end of the branch. why says what prevents that, once for each reason.
func (c *Crew) Follow(ctx context.Context) (why string) {
	why = c.trunk.branch.Follow(command.With(ctx, c.trust))
	if why == c.trunk.why {
		return ""
	}
	c.trunk.why = why
	return why
}

// Left counts the commits that the user does not have, on Branch.
func (c *Crew) Left(ctx context.Context) int { return c.trunk.branch.Behind(ctx) }

// Branch is the name of the run's branch.
func (c *Crew) Branch() string { return c.trunk.branch.Name }

// Landed forgets what was kept of a task.
func (c *Crew) Landed(ctx context.Context, w slots.Work) {
	if err := c.home.Landed(command.With(ctx, c.trust), w.Key); err != nil {
		c.o.Log.Warn("a ref of finished work stays", "error", err)
	}
}

// Recall names the tasks that landed before the plan could say so.
func (c *Crew) Recall(ctx context.Context) (ids []string) {
	ctx = command.With(ctx, c.trust)
	tip, err := c.trunk.branch.Tip(ctx)
	var landed map[string]string
	if err == nil {
		landed, err = c.home.Recall(ctx, tip)
	}
	if err != nil {
		c.o.Log.Warn("what has landed is not known", "error", err)
	}
	for key, id := range landed {
		c.Landed(ctx, slots.Work{Key: key})
		ids = append(ids, id)
	}
	return ids
}

// Close ends the merge queue. No turn may be under way.
func (c *Crew) Close(ctx context.Context) {
	c.fleet.Leave()
	c.queue.close()
	if c.trunk.checker != nil {
		c.trunk.checker.Close()
	}
	c.trunk.branch.Close(command.With(ctx, c.trust))
}

// latest is the highest number of an iteration of the run. After a kill, it may be higher than the run's count: of
// turns side by side, a later one may have ended first.
func latest(ctx context.Context, dir, run string) (n int, err error) {
	kept, err := history.List(ctx, dir, run)
	for _, k := range kept {
		if !k.Start { // a start has the number of the next iteration
			n = max(n, k.Iteration)
		}
	}
	return n, err
}
