package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/logs"
	"ralph/state"
	"ralph/state/view"
)

// This file follows one run and sends what its user wants to hear of. It outlives the runner, reports its death, and ends when everything is sent.

const (
	pollInterval = 500 * time.Millisecond
	grace        = 3 * time.Second  // for a runner that starts, or writes its last event
	stale        = 15 * time.Minute // what was longer ago when the watcher began is no news
	// tail is how far back the events are followed. All of them are read once before.
	tail = 1 << 20

	tries     = 24 * time.Hour // then a message is given up
	firstWait = 5 * time.Second
	maxWait   = 15 * time.Minute // between two tries
)

// runnerDied is the kind of an event that the runner could not write.
const runnerDied state.Kind = "runner_died"

// Watch is the work on one run.
type Watch struct {
	config.HubJob
	Logger hclog.Logger

	r     *state.Reader
	began time.Time
}

// sender sends one message.
type sender func(context.Context) error

// Run watches until the run has ended and everything is sent, given up, or ctx ends. No address waits for another: one
// may hang.
func (w *Watch) Run(ctx context.Context) error {
	w.r, w.began = state.Open(filepath.Join(w.Dir, state.DirName)), time.Now()
	if err := forgetOld(w.r); err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, to := range w.Notify {
		all.Go(func() { w.follow(ctx, to, func(e state.Event) sender { return w.notification(to, e) }) })
	}
	all.Wait()
	return nil
}

// notification sends the message about an event; nil: there is none, or the user does not want it.
func (w *Watch) notification(to string, e state.Event) sender {
	s := view.Gather(w.r, time.Now())
	if s.Status.RunID != e.Run { // the next one may have begun by now
		s.Status = state.Status{RunID: e.Run}
	}
	m, ok := Of(e, s)
	if e.Kind == runnerDied {
		m, ok = Died(s), true
	}
	if _, ends := e.Data.(state.RunEnd); !ok || !slices.Contains(w.NotifyOn, m.On) || !ends && w.began.Sub(e.Time) > stale {
		return nil
	}
	return func(ctx context.Context) error { return Send(ctx, to, m) }
}

// follower tells one address about the run.
type follower struct {
	*Watch
	about func(state.Event) sender
	told  *told
	to    string

	ended  bool      // its end was told
	waited bool      // a message did: all events must be read again
	gone   time.Time // since when no runner is alive; zero: one is
}

// wanted are the events that are sent at most.
func wanted(k state.Kind) bool { return !k.Streams() }

// follow tells an address about the run until nothing more can come.
func (w *Watch) follow(ctx context.Context, to string, about func(state.Event) sender) {
	f := &follower{Watch: w, about: about, to: to}
	for f.told == nil { // another watcher tells it
		var err error
		if f.told, err = openTold(w.r, to, w.HubJob.Run); err != nil {
			w.Logger.Error("no messages", logs.KeyError, err)
			return
		}
		if f.told == nil && !cmdline.Pause(ctx, pollInterval) {
			return
		}
	}
	defer f.told.Close()
	for f.catchUp(ctx) {
	}
}

// catchUp tells what is on disk, then what comes, until a message had to wait: by then, events may be in files that were
// rotated away. It returns false if nothing more can come.
func (f *follower) catchUp(ctx context.Context) (again bool) {
	f.waited = false
	if err := view.EachEvent(f.r, f.HubJob.Run, wanted, func(e state.Event) { f.take(ctx, e) }); err != nil {
		f.Logger.Warn("events unreadable", logs.KeyError, err)
	}
	events := logs.NewTail(f.r.EventsPath(), tail)
	defer events.Close()
	for !f.waited {
		lines, err := events.Poll()
		if err != nil {
			f.Logger.Warn("events unreadable", logs.KeyError, err)
		}
		for _, line := range lines {
			if e, ok := state.EventFilter(wanted).Decode(line); ok {
				f.take(ctx, e)
			}
		}
		if !f.waited && (f.over(ctx, time.Now()) || !cmdline.Pause(ctx, pollInterval)) {
			return false
		}
	}
	return ctx.Err() == nil
}

// take tells an event, once.
func (f *follower) take(ctx context.Context, e state.Event) {
	if e.Run != f.HubJob.Run || ctx.Err() != nil || f.waited { // then it is read again, after those before it
		return
	}
	start, starts := e.Data.(state.RunStart)
	_, ends := e.Data.(state.RunEnd)
	if f.ended = ends || f.ended && !starts; e.Seq <= f.told.Seq {
		return
	}
	if start.Killed != "" && time.Since(e.Time) < 24*time.Hour {
		f.reportDeath(ctx, start.Killed, e.Seq-1)
	}
	if f.deliver(ctx, e) {
		f.told.Seq = e.Seq
		f.save(f.told)
	}
}

// reportDeath reports the death of the run before, such as in a power cut, unless its watcher has.
func (f *follower) reportDeath(ctx context.Context, run string, last int64) {
	t := f.told
	if run != f.HubJob.Run {
		e, err := f.r.LastEvent(run)
		if err != nil || e.Seq == 0 {
			return
		}
		if t, err = openTold(f.r, f.to, run); t == nil || err != nil {
			return // its watcher is alive
		}
		defer t.Close()
		last = e.Seq
	}
	f.died(ctx, t, run, last)
}

// died reports the death of a run whose last event this was.
func (f *follower) died(ctx context.Context, t *told, run string, last int64) {
	if t.Died >= last {
		return
	}
	if f.deliver(ctx, state.Event{V: state.EventVersion, Seq: last, Time: time.Now(), Kind: runnerDied, Origin: state.Origin{Run: run}}) {
		t.Died = last
		f.save(t)
	}
}

func (f *follower) save(t *told) {
	if err := t.save(); err != nil {
		f.Logger.Error("a message may be sent again", logs.KeyError, err)
	}
}

// deliver sends the message about an event, if there is one, and tries for a day. It returns false if ctx ends before.
func (f *follower) deliver(ctx context.Context, e state.Event) (settled bool) {
	send, began := f.about(e), time.Now()
	for wait := firstWait; send != nil; wait = min(2*wait, maxWait) {
		err := send(ctx)
		if err == nil {
			break
		}
		if time.Since(began) > tries {
			f.Logger.Error("a message is lost: given up after a day", "kind", e.Kind, logs.KeyError, err)
			break
		}
		if ctx.Err() == nil {
			f.Logger.Warn("not sent, will be tried again", "kind", e.Kind, logs.KeyError, err)
		}
		f.waited = true
		if !cmdline.Pause(ctx, wait) {
			return false
		}
	}
	return true
}

// over reports whether nothing more can come. It notices that the runner has died.
func (f *follower) over(ctx context.Context, now time.Time) bool {
	owner, alive := f.r.Owner()
	switch {
	case f.ended:
		return true
	case alive && owner.RunID == f.HubJob.Run:
		f.gone = time.Time{}
		return false
	case f.gone.IsZero():
		f.gone = now
	}
	if now.Sub(f.gone) < grace {
		return false
	}
	s := view.Gather(f.r, now).Status // maybe that of the next run, whose watcher leaves a death to this one
	last, err := f.r.LastEvent(f.HubJob.Run)
	_, ends := last.Data.(state.RunEnd)
	if err == nil && !ends && (s.RunID != f.HubJob.Run || s.Ending() == state.EndingKilled) {
		f.died(ctx, f.told, f.HubJob.Run, last.Seq)
	}
	return true
}

// digest stands for an address, which may hold a key.
func digest(to string) string {
	sum := sha256.Sum256([]byte(to))
	return hex.EncodeToString(sum[:6])
}

// plain reports whether a run's id can be part of a file's name.
func plain(run string) bool { return run != "" && !strings.ContainsAny(run, "/\x00") }

const (
	toldEnd = ".told"
	kept    = 30 * 24 * time.Hour // how long it is known what was told
)

// told is what an address was told of a run. It is a file that a watcher keeps locked: of two, one waits, and then tells
// the rest.
type told struct {
	Seq  int64 // of the last event that was told, given up, or not wanted
	Died int64 // the last event before a death that was told; 0: none
	file *os.File
}

// openTold reads and locks the file; nil: another watcher has it.
func openTold(r *state.Reader, to, run string) (*told, error) {
	if !plain(run) {
		return nil, fmt.Errorf("%q is not the id of a run", run)
	}
	path := filepath.Join(r.HubDir(), digest(to)+"."+run+toldEnd)
	file, err := state.Project(r.Dir()).OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("read what was told: %w", err)
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil, file.Close()
	}
	t := &told{file: file}
	_, _ = fmt.Fscanf(file, "%d %d", &t.Seq, &t.Died) // an empty file: nothing was told
	return t, nil
}

// save writes the same bytes at the same place, so the file is never half of one and half of another.
func (t *told) save() error {
	_, err := t.file.WriteAt(fmt.Appendf(nil, "%019d %019d\n", t.Seq, t.Died), 0)
	return err
}

func (t *told) Close() { _ = t.file.Close() }

// forgetOld makes the folder where needed, and removes what is not needed any more.
func forgetOld(r *state.Reader) error {
	project := state.Project(r.Dir())
	if err := project.MkdirAll(r.HubDir(), 0o700); err != nil {
		return fmt.Errorf("follow the run: %w", err)
	}
	entries, err := project.ReadDir(r.HubDir())
	if err != nil {
		return fmt.Errorf("follow the run: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), toldEnd) && time.Since(info.ModTime()) > kept {
			_ = project.Remove(filepath.Join(r.HubDir(), e.Name())) // if it fails, the next one tries again
		}
	}
	return nil
}
