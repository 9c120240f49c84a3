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
	"ralph/runner/sandbox"
	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/remote"
	"ralph/state"
	"ralph/state/projectfs"
)

// joinFleet follows the fleet, if the options name one.
func (c *worktrees) joinFleet(ctx context.Context) error {
	if c.o.Fleet == "" {
		return nil
	}
	err := remote.Fit(ctx, c.trunk.slot.Root) // before a server starts
	if err == nil {
		c.hub, err = sandbox.FindHub()
	}
	if err != nil {
		return &slots.UnfitError{Why: err.Error()}
	}
	watch := append([]string{c.hub, "workers", "--watch"}, reach(c.o.SlotOptions)...)
	c.fleet, err = joinFleet(ctx, watch, c.o.Env, c.o.Log, func() {
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

// reach are the arguments of ralph-hub that lead to the fleet.
func reach(o slots.SlotOptions) (args []string) {
	for _, f := range [][2]string{{"--fleet", o.Fleet}, {"--creds", o.FleetCreds}} {
		if f[1] != "" && f[1] != slots.LocalFleet {
			args = append(args, f[0], f[1])
		}
	}
	return args
}

// most is how many jobs may be at work, here and in the fleet.
const most = 1024

// atWork counts the jobs whose work is not done yet, here or in the fleet. One that waits for the merge queue is done.
func (c *worktrees) atWork(away bool) (n int) {
	for _, j := range c.list {
		if j.away == away && !j.queued {
			n++
		}
	}
	return n
}

// lane returns where a job can work now: here, or else in the fleet.
func (c *worktrees) lane() (away, free bool) {
	if c.atWork(false) < c.o.Parallel {
		return false, true
	}
	return true, c.atWork(true) < min(c.fleet.Report().Slots, most-c.o.Parallel)
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
	j.away, _ = c.lane()
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

// joinFleet starts ralph-hub, which reports the workers of the fleet, and waits for the first report.
func joinFleet(ctx context.Context, watch, env []string, log hclog.Logger, changed func()) (*fleetFollower, error) {
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
			err := follow(ctx, watch, env, func(r state.FleetStatus) { heard(r, nil) })
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
func follow(ctx context.Context, watch, env []string, heard func(state.FleetStatus)) error {
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
	_, err := ptyexec.Run(ctx, ptyexec.Command{Args: watch, Env: env, Stdin: in, Pipe: true},
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

// trip is the connection from a slot to a worker.
func (c *worktrees) trip(s *slots.Slot) remote.Trip {
	inside, err := filepath.Rel(s.Root, s.Dir)
	if err != nil || inside == "." {
		inside = ""
	}
	return remote.Trip{Args: append([]string{c.hub, "turn"}, reach(c.o.SlotOptions)...), Env: c.o.Env, Ralph: c.o.Ralph, Repo: filepath.Base(c.home.Dir), Root: s.Root,
		Temp:   s.Temp(),
		Parcel: remote.Parcel{Name: filepath.Base(s.Root), Inside: inside, Setup: c.o.Setup}}
}

// away has the turn carried out by a worker of the fleet, if the job is there. The slot then matches the
// worker's worktree. done is false if the turn must be carried out here instead: a worker that cannot be
// reached does not cost the task an attempt.
func (c *worktrees) away(ctx context.Context, j *Job, d *Done) (done bool) {
	if !j.away {
		return false
	}
	if d.Err = j.Worker.Ready(ctx, j.Assignment); d.Err != nil {
		return true
	}
	trip := c.trip(j.slot)
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
		c.o.Log.Warn("a turn did not come back", "error", d.Err)
		if len(waits) == 0 {
			c.Tell(state.NewEvent(j.Assignment.Origin, time.Now(), state.Finding{Source: state.FoundByChecks,
				Text: fmt.Sprintf("the fleet fails (%s); the task is worked on here", failed.Why)}))
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
