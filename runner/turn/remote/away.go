package remote

// This file is the worker's end of `ralph turn --away`: it carries out a turn for a run on
// another machine. It keeps the project and its worktrees in the user's cache.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

const lockPoll = 20 * time.Millisecond

// Host is the machine that carries turns out.
type Host struct {
	Ralph string // its version
	Cache string // the user's cache folder
	Env   []string
	// Worker makes a worker with this environment.
	Worker func(env []string) *turn.Worker
}

// Turn carries out one turn. When in ends, so does its agent. If this machine cannot serve the run, Turn tells the run
// why and returns a *BadAssignmentError.
func (h Host) Turn(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, w := NewReader(in, MaxParcel), NewWriter(out)
	p, err := h.greet(ctx, r, w)
	if err != nil {
		_ = w.Send(Line{Hello: &Hello{Protocol: Protocol, Ralph: h.Ralph, Error: err.Error()}})
		return &BadAssignmentError{Why: err.Error()}
	}
	parcel, pack, err := receive(r)
	if err != nil || parcel == nil { // the run only probed this worker
		return err
	}
	p.ahead = ahead(parcel.Now)
	go obey(r, cancel)
	end := End{}
	err = p.prepare(ctx, *parcel, pack)
	if err == nil {
		end, err = h.carryOut(ctx, p, *parcel, w)
	}
	back := ""
	if err == nil {
		late, done := stop.Outlast(ctx)
		defer done()
		if end.Head, end.Left, err = p.left(late); err == nil {
			back, err = Pack(late, p.root, []string{end.Head, end.Left}, []string{parcel.Head})
		}
	}
	if err != nil {
		end.Error, end.Head, end.Left = err.Error(), "", ""
	}
	if sent := w.SendPack(back); sent != nil {
		return errors.Join(err, sent)
	}
	return errors.Join(err, w.Send(Line{End: &end}))
}

// greet answers the run's hello.
func (h Host) greet(ctx context.Context, r *Reader, w *Writer) (*place, error) {
	l, err := r.Next()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read assignment: %w", err)
	case l.Hello == nil:
		return nil, errors.New("read assignment: the first line is not a greeting; only a run of ralph can use --away")
	}
	if err := Greet(*l.Hello, h.Ralph); err != nil {
		return nil, err
	}
	p, err := openPlace(ctx, h.Cache, l.Hello.Repo)
	if err != nil {
		return nil, err
	}
	has, err := p.has(ctx)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // empty: nobody knows
	return p, w.Send(Line{Hello: &Hello{Protocol: Protocol, Ralph: h.Ralph, Has: has, Host: host}})
}

// receive reads what the turn needs; nil: the run wants no turn.
func receive(r *Reader) (*Parcel, string, error) {
	var pack strings.Builder
	for {
		l, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, "", nil
		case err != nil:
			return nil, "", err
		case l.Pack != nil:
			if err := Collect(&pack, l.Pack); err != nil {
				return nil, "", err
			}
		case l.Do != "": // the run cancelled the turn
			return nil, "", nil
		case l.Parcel != nil:
			return l.Parcel, pack.String(), nil
		}
	}
}

// ahead returns by how much the clock here is ahead of the run's. It ignores less than a minute, because the message
// takes time, too.
func ahead(now time.Time) time.Duration {
	if by := time.Since(now); by.Abs() > time.Minute {
		return by
	}
	return 0
}

// obey ends the turn as the lines that follow its assignment say, and when they end. A newer run may send other lines,
// and more in a line.
func obey(r *Reader, cancel context.CancelCauseFunc) {
	for {
		text, err := r.message()
		var control struct{ Do string }
		_ = json.Unmarshal(text, &control) // a line that cannot be read asks for nothing
		switch control.Do {
		case "skip":
			cancel(&stop.Stopped{By: state.RequestSkip})
		case "abort":
			cancel(&stop.Stopped{By: state.RequestAbort})
		}
		if err != nil {
			cancel(&stop.Stopped{By: state.RequestAbort})
			return
		}
	}
}

// carryOut carries out the turn itself.
func (h Host) carryOut(ctx context.Context, p *place, parcel Parcel,
	w *Writer) (end End, err error) {
	a, err := p.localize(parcel)
	if err != nil {
		return end, err
	}
	tmp := filepath.Join(p.dir, "tmp")
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o700)); err != nil {
		return end, fmt.Errorf("prepare slot: %w", err)
	}
	worker := h.Worker(append(h.Env, "RALPH_SLOT="+strconv.Itoa(p.n), "TMPDIR="+tmp))
	worker.ClockOffset = p.ahead
	defer worker.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tell := func(e state.Event) {
		if err := w.Send(Line{Event: &e}); err != nil {
			cancel(err) // nobody is listening any more
		}
	}
	if err := (slots.Setup{Line: parcel.Setup, Root: p.root, Done: filepath.Join(p.dir, "setup")}).Run(ctx, worker, a, tell); err != nil {
		return end, err
	}
	res, err := worker.Run(ctx, a, tell)
	return End{Result: &res}, err
}

// localize returns the assignment with the paths of this machine.
func (p *place) localize(parcel Parcel) (turn.Assignment, error) {
	a := parcel.Assignment
	a.Dir = filepath.Join(p.root, parcel.Inside)
	a.LogDir = filepath.Join(p.dir, "logs")
	_ = os.RemoveAll(a.LogDir) // left by the previous turn
	if err := os.MkdirAll(a.LogDir, 0o700); err != nil {
		return a, fmt.Errorf("prepare slot: %w", err)
	}
	within := func(path string) (string, error) {
		if !local(path) {
			return "", fmt.Errorf("the assignment names %q, which is outside the worktree", path)
		}
		return filepath.Join(p.root, path), nil
	}
	var err error
	if a.Plan.Path != "" {
		if a.Plan.Path, err = within(a.Plan.Path); err != nil {
			return a, err
		}
	}
	for i, path := range a.Protect {
		if a.Protect[i], err = within(path); err != nil {
			return a, err
		}
	}
	if a.Sandbox.On() {
		a.Sandbox, err = a.Sandbox.For(a.Dir)
	}
	return a, err
}
