package crew

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"ralph/runner/carrier"
	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/remote"
	"ralph/state"
	"ralph/state/projectfs"
)

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
