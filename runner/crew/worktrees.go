package crew

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/runner/git/command"
	"ralph/runner/git/history"
	"ralph/runner/sandbox"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// Options are what worktrees need from the run.
type Options struct {
	slots.SlotOptions
	Dir    string // the user's project
	Plan   store.File
	Run    string
	Prefix func(task.Task) string // of the message of a commit for a task; empty: none
	Env    []string               // of the run
	Secure []string               // the variables that filters of git get
	Log    hclog.Logger
	// Base is the worker of the run itself. It works in the worktree into which results are merged.
	Base *turn.Worker
	// Worker makes a worker for turns with this environment.
	Worker           func(env []string) *turn.Worker
	Ralph            string // version of this ralph, which workers elsewhere have to fit
	HighestIteration int    // the last number that an iteration has had; new ones get higher numbers
}

// worktrees are slots beside the user's checkout. Finished work goes through the merge queue.
type worktrees struct {
	*jobs
	o     Options
	home  *slots.Home
	trust *command.Trust
	trunk trunk
	queue *queue

	free  []*slots.Slot
	hub   string         // the path of ralph-hub, which leads to the fleet
	fleet *fleetFollower // nil: the run has none
	noted sync.Once      // files that worktrees do not get were named

	opened time.Time
}

// trunk is what results are merged into.
type trunk struct {
	slot    *slots.Slot // the worktree
	branch  *branch
	checker *turn.Worker // of the merge queue; nil: not needed yet
	synced  string       // the commit that Refresh has prepared
	why     string       // why the user's checkout does not follow, as reported last
}

// InWorktrees makes or finds the worktrees. landed names the tasks that landed before the plan could say so.
func InWorktrees(ctx context.Context, o Options) (crew *Crew, landed []string, err error) {
	c, err := openWorktrees(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	o.Base.Env, o.Base.Trust = c.trunk.slot.Env(o.Env), c.trust
	return &Crew{c.jobs, c}, c.recall(ctx), nil
}

func openWorktrees(ctx context.Context, o Options) (*worktrees, error) {
	home, err := slots.HomeOf(o.Env, o.Dir, o.Plan)
	if err != nil {
		return nil, err
	}
	if err := home.Check(ctx, o.Setup); err != nil {
		return nil, err
	}
	c := &worktrees{jobs: newJobs(o.Prefix), o: o, home: home, opened: time.Now()}
	if c.trust, err = command.NewTrust(ctx, o.Dir, o.Secure); err != nil {
		return nil, err
	}
	ctx = command.With(ctx, c.trust)
	root, _ := command.Root(o.Dir)
	b := &branch{User: root, Name: o.LandsOn(o.Run), Leave: o.Land != slots.LandCheckout, Note: filepath.Join(home.Dir, "following")}
	if on, err := b.onBranch(ctx); err == nil && o.Land == slots.LandPull && on == b.ref() {
		b.Name, b.Leave = "ralph/"+o.Run, false // what lands moves the user's branch forward, and is pushed from there
	}
	b.Named, c.trunk.branch = b.Name != "ralph/"+o.Run, b
	if err := c.trunk.branch.Recover(ctx); err != nil {
		return nil, err
	}
	if c.last, err = latest(ctx, o.Dir, o.Run); err != nil {
		return nil, err
	}
	c.last = max(c.last, o.HighestIteration)
	for _, n := range home.Numbers(c.o.Parallel) {
		s, err := home.Open(ctx, n)
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
	if err := c.joinFleet(ctx); err != nil {
		return nil, err
	}
	if err = c.trunk.branch.Open(ctx); err != nil {
		c.fleet.Leave()
		return nil, err
	}
	c.queue = openQueue(ctx, c.trunk.branch, c.checkTogether)
	return c, nil
}

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

// InWorktrees implements Workspace.
func (c *worktrees) InWorktrees() bool { return true }

// Place implements Workspace.
func (c *worktrees) Place(j *Job, a *turn.Assignment) {
	a.State = "" // it is not in the worktree
	if j == nil {
		a.Dir = c.trunk.slot.Dir
		return
	}
	a.Dir, a.Plan, a.Origin.Iteration = j.slot.Dir, j.slot.Plan(), j.Origin.Iteration
	a.Sandbox = contained(*a)
	protect := a.Protect
	a.Protect = nil
	for _, path := range protect {
		a.Protect = append(a.Protect, j.slot.Path(path))
	}
}

// Ready has nothing to do: the turn begins in another folder.
func (c *worktrees) Ready(context.Context, turn.Assignment) error { return nil }

// Settle returns the Result with the plan and the checks as they are now: the turn saw a copy of the plan.
func (c *worktrees) Settle(d Done, plan func() turn.Plan, checks turn.Checks) turn.Result {
	c.o.Base.Forget()
	busy := func(id string) bool { return id != d.Job.Task.ID && c.Of(id) != nil }
	res := turn.WithCurrentPlan(d.Result, plan(), d.Landed != "", busy)
	if !res.Checks.Detect && checks.Detect { // it found the project's first checks
		return res
	}
	return turn.WithChecks(res, checks)
}

// Status implements Workspace.
func (c *worktrees) Status() (all []state.SlotStatus, of *state.FleetStatus) {
	for _, j := range c.list {
		phase := ""
		if j.queued {
			phase = "landing"
		}
		all = append(all, state.SlotStatus{Phase: phase, Slot: j.slot.N, Iteration: j.Origin.Iteration,
			Worker: c.where(j), TaskID: j.Task.ID, Title: j.Task.Title, Since: j.Since, LastTool: j.Tool})
	}
	slices.SortStableFunc(all, func(a, b state.SlotStatus) int { return a.Slot - b.Slot })
	return all, c.followed()
}

// where is the machine that a job is on; empty: this one.
func (c *worktrees) where(j *Job) string {
	if !j.away {
		return ""
	}
	return cmp.Or(j.Host, "fleet")
}

// Advance implements Workspace.
func (c *worktrees) Advance(ctx context.Context, d Done) (why string) {
	c.forget(ctx, d.Work.Key)
	return c.follow(ctx)
}

// follow moves the user's checkout to the end of the branch. why says what prevents that, once for each reason.
func (c *worktrees) follow(ctx context.Context) (why string) {
	why = c.trunk.branch.Follow(command.With(ctx, c.trust))
	if why == c.trunk.why {
		return ""
	}
	c.trunk.why = why
	return why
}

// Unlanded implements Workspace.
func (c *worktrees) Unlanded(ctx context.Context) (commits int, branch string) {
	c.follow(ctx)
	return c.trunk.branch.Behind(ctx), c.trunk.branch.Name
}

// forget removes what is kept of a task that has landed.
func (c *worktrees) forget(ctx context.Context, key string) {
	if err := c.home.Landed(command.With(ctx, c.trust), key); err != nil {
		c.o.Log.Warn("a ref of finished work stays", "error", err)
	}
}

// recall returns the tasks that landed before the plan could say so.
func (c *worktrees) recall(ctx context.Context) (ids []string) {
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
		c.forget(ctx, key)
		ids = append(ids, id)
	}
	return ids
}

// Close implements Workspace.
func (c *worktrees) Close(ctx context.Context) {
	c.fleet.Leave()
	c.queue.close()
	if c.trunk.checker != nil {
		c.trunk.checker.Close()
	}
	c.trunk.branch.Close(command.With(ctx, c.trust))
}

// latest returns the number of the run's latest kept iteration. After a kill, it may be higher than the run's own count,
// because turns side by side may end in another order than they began.
func latest(ctx context.Context, dir, run string) (n int, err error) {
	kept, err := history.List(ctx, dir, run)
	for _, k := range kept {
		if !k.Start { // a start has the number of the next iteration
			n = max(n, k.Iteration)
		}
	}
	return n, err
}
