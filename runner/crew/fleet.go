package crew

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/agent/wire"
	"ralph/runner/carrier"
	"ralph/runner/sandbox"
	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/remote"
	"ralph/state"
	"ralph/state/projectfs"
)

// joinFleet follows the fleet, if the options name one.
func (c *worktrees) joinFleet(ctx context.Context) error {
	if !c.o.OnFleet() {
		return nil
	}
	if err := c.fit(ctx); err != nil { // before a server starts
		return err
	}
	hub, err := sandbox.FindHub()
	if err != nil {
		return &slots.UnfitError{Why: err.Error()}
	}
	c.way = carrier.Way{Hub: hub, WorkerOptions: c.o.WorkerOptions}
	c.ways[fleetLane] = carrier.Carrier{Kind: carrier.Fleet}
	c.fleet, err = joinFleet(ctx, c.way, c.o.Env, c.o.Log, func() {
		select {
		case c.news <- News{Do: func() {}}: // wakes the run
		default: // it is awake
		}
	})
	if err != nil {
		return &slots.UnfitError{Why: fmt.Sprintf("the fleet cannot be used: %v", err)}
	}
	return nil
}

// spare is how many more turns the workers of the fleet can have.
func (c *worktrees) spare() int {
	if c.o.Fleet == "" || c.o.Fixed() {
		return 0
	}
	return max(min(c.fleet.Report().Slots, carrier.Most-c.o.Parallel)-c.atWork(fleetLane), 0)
}

// fleetLane is the lane of all turns that go to workers which come and go.
const fleetLane = 0

// atWork counts the jobs in a lane whose work is not done yet.
func (c *worktrees) atWork(lane int) (n int) {
	for _, j := range c.list {
		if j.lane == lane && !j.queued {
			n++
		}
	}
	return n
}

// lane returns where a job can work now: the first free one of PARALLEL lanes, else the fleet's. A job whose work waits
// for the merge queue has left its lane.
func (c *worktrees) lane() (lane int, free bool) {
	for lane := 1; lane <= c.o.Parallel; lane++ {
		if c.atWork(lane) == 0 {
			return lane, true
		}
	}
	return fleetLane, c.spare() > 0
}

func (c *worktrees) followed() *state.FleetStatus {
	if c.fleet == nil {
		return nil
	}
	r := c.fleet.Report()
	return &r
}

// Open implements Workspace.
func (c *worktrees) Open() bool {
	_, free := c.lane()
	return free
}

// Room implements Workspace. Work that waits for the merge queue stays in its slot, so there may be nearly twice as many
// slots as jobs at work; one job at a time needs only one.
func (c *worktrees) Room(ctx context.Context) bool {
	if !c.Open() || len(c.free) > 0 {
		return c.Open()
	}
	if len(c.list) >= 2*(c.o.Parallel+c.fleet.Report().Slots)-1 {
		return false
	}
	n := 0
	for _, j := range c.list { // they have all slots
		n = max(n, j.slot.N)
	}
	s, err := c.home.Open(ctx, n+1)
	if err != nil {
		c.o.Log.Warn("no other slot can be opened", "error", err)
		return false
	}
	c.free = append(c.free, s)
	return true
}

// giveSlot gives a job a lane and the first free slot.
func (c *worktrees) giveSlot(j *Job) {
	j.slot, c.free = c.free[0], c.free[1:]
	j.lane, _ = c.lane()
	j.way, j.away = c.ways[j.lane]
}

func (c *worktrees) release(j *Job) {
	if j.Worker != nil {
		j.Worker.Close()
	}
	c.free = append(c.free, j.slot)
	slices.SortStableFunc(c.free, func(a, b *slots.Slot) int { return a.N - b.N })
}

const (
	answers = 30 * time.Second // how long the run waits for the fleet when it starts
	pause   = time.Second      // between two tries to follow the fleet
)

// fleetFollower knows the latest report. nil is that of a run without a fleet.
type fleetFollower struct {
	changed func() // called after each report
	end     context.CancelFunc
	ended   chan struct{} // closed when nobody follows any more

	mu     sync.Mutex
	report state.FleetStatus
}

// Report is the latest one; zero: there is none.
func (f *fleetFollower) Report() state.FleetStatus {
	if f == nil {
		return state.FleetStatus{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report
}

// joinFleet starts ralph-hub, which reports the workers of the fleet, and is the server if there is no other. It waits for
// the first report.
func joinFleet(ctx context.Context, way carrier.Way, env []string, log hclog.Logger, changed func()) (*fleetFollower, error) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	f := &fleetFollower{changed: changed, end: end, ended: make(chan struct{})}
	first := make(chan error, 1)
	heard := func(r state.FleetStatus, err error) {
		f.mu.Lock()
		f.report = r
		f.mu.Unlock()
		f.changed()
		select {
		case first <- err:
		default: // nobody waits any more
		}
	}
	go func() {
		defer close(f.ended)
		for ctx.Err() == nil {
			err := follow(ctx, way, env, func(r state.FleetStatus) { heard(r, nil) })
			if ctx.Err() == nil {
				log.Warn("the fleet is out of reach", "error", err)
			}
			heard(state.FleetStatus{}, err)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
	var err error
	select {
	case err = <-first:
	case <-time.After(answers):
		err = errors.New("it does not answer")
	}
	if err != nil {
		f.Leave()
		return nil, err
	}
	return f, nil
}

// maxReport is how many bytes a line of ralph-hub may have.
const maxReport = 4 << 20

// follow passes on the reports of ralph-hub until ralph-hub ends, and returns why it did.
func follow(ctx context.Context, way carrier.Way, env []string, heard func(state.FleetStatus)) error {
	in, held := io.Pipe() // ralph-hub ends with it
	defer held.Close()
	why := "ralph-hub has ended"
	lines := wire.Lines{Max: maxReport, Long: func() {}, Line: func(line string) {
		var r state.FleetStatus
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			why = strings.TrimPrefix(termtext.Line(line), "ralph-hub: ")
		} else {
			heard(r)
		}
	}}
	args := append([]string{way.Hub, "workers", "--watch", "--serve"}, way.Reach()...)
	_, err := ptyexec.Run(ctx, ptyexec.Command{Args: args, Env: env, Stdin: in, Pipe: true},
		func(p []byte) bool { _, _ = lines.Write(p); return false })
	return cmp.Or(err, errors.New(why))
}

// Leave ends ralph-hub.
func (f *fleetFollower) Leave() {
	if f != nil {
		f.end()
		<-f.ended
	}
}

// pauses are the waits between tries to reach a worker.
func pauses() []time.Duration { return []time.Duration{time.Second, 3 * time.Second} }

// reach checks that a worker answers on each carrier that the options name, and that the commits can be sent to other
// machines, if they are to.
func (c *worktrees) reach(ctx context.Context) error {
	all, err := carrier.Parse(c.o.Workers)
	if err != nil {
		return &slots.UnfitError{Why: err.Error()}
	}
	for i, way := range all {
		if way.Args(c.way) != nil {
			c.ways[i+1] = way
		}
	}
	if len(c.ways) == 0 {
		return nil
	}
	if !c.o.OnFleet() { // else joinFleet has looked
		if err := c.fit(ctx); err != nil {
			return err
		}
	}
	for i, way := range all {
		if c.ways[i+1] != way || slices.Index(all, way) < i { // here, or tried already
			continue
		}
		if err := c.trip(c.trunk.slot, way).Probe(ctx); err != nil {
			return &slots.UnfitError{Why: fmt.Sprintf("the worker %s cannot be used: %v", way.Name(), err)}
		}
	}
	return nil
}

// fit checks that the commits of this repository can be sent to other machines.
func (c *worktrees) fit(ctx context.Context) error {
	if err := remote.Fit(ctx, c.trunk.slot.Root); err != nil {
		return &slots.UnfitError{Why: err.Error()}
	}
	return nil
}

// trip is the connection from a slot to its worker.
func (c *worktrees) trip(s *slots.Slot, way carrier.Carrier) remote.Trip {
	inside, err := filepath.Rel(s.Root, s.Dir)
	if err != nil || inside == "." {
		inside = ""
	}
	return remote.Trip{Args: way.Args(c.way), Env: c.o.Env, Ralph: c.o.Ralph, Repo: filepath.Base(c.home.Dir), Root: s.Root,
		Temp:   s.Temp(),
		Parcel: remote.Parcel{Name: filepath.Base(s.Root), Inside: inside, Setup: c.o.Setup}}
}

// away has the turn carried out by the worker of the slot, if it has one. The slot then matches the
// worker's worktree. done is false if the turn must be carried out here instead: a worker that cannot be
// reached does not cost the task an attempt.
func (c *worktrees) away(ctx context.Context, j *Job, d *Done) (done bool) {
	way := j.way
	if !j.away {
		return false
	}
	if d.Err = j.Worker.Ready(ctx, j.Assignment); d.Err != nil {
		return true
	}
	trip := c.trip(j.slot, way)
	trip.Parcel.Files, d.Err = filesOf(j.slot)
	waits := pauses()
	for d.Err == nil {
		var res turn.Result
		res, d.Err = trip.Send(ctx, j.Assignment, c.Tell)
		failed := (*remote.FailedError)(nil)
		if why := remote.Unusable(res); d.Err == nil && why != "" {
			d.Err = &remote.FailedError{Why: why} // it may work elsewhere, or here
		}
		if d.Err == nil {
			d.Result, j.unchecked = res, true // checked here before it lands
			j.Worker.Forget()
			return true
		}
		if ctx.Err() != nil || !errors.As(d.Err, &failed) {
			break
		}
		c.o.Log.Warn("a turn did not come back", "worker", way.Name(), "error", d.Err)
		if len(waits) == 0 {
			c.Tell(state.NewEvent(j.Assignment.Origin, time.Now(), state.Finding{Source: state.FoundByChecks,
				Text: fmt.Sprintf("the worker %s fails (%s); the task is worked on here", way.Name(), failed.Why)}))
			d.Err = nil
			return false
		}
		select {
		case <-ctx.Done():
		case <-time.After(waits[0]):
		}
		waits, d.Err = waits[1:], nil
	}
	if ctx.Err() != nil {
		d.Err, d.Result = nil, c.notBegun(ctx, j)
	}
	return true
}

const maxSent = 64 << 20 // bytes of a file

// filesOf are the user's files in a slot that git does not have.
func filesOf(s *slots.Slot) (all []remote.File, err error) {
	for _, rel := range s.Copied() {
		path := filepath.Join(s.Root, rel)
		slot := projectfs.In(s.Root)
		info, err := slot.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue // it was gone when the slot was prepared
		}
		data, err := slot.Read(path, maxSent)
		if err != nil {
			return nil, fmt.Errorf("send files: %w", err)
		}
		all = append(all, remote.File{Path: filepath.ToSlash(rel), Mode: uint32(info.Mode().Perm()), Data: data})
	}
	return all, nil
}
