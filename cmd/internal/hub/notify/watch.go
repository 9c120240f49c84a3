package notify

// This file follows one run and sends what its user wants to hear of: notifications and
// webhooks. It outlives the runner, reports its death, and ends when everything is sent.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/cmd/internal/config"
	"ralph/logs"
	"ralph/state"
	"ralph/state/view"
)

const (
	pollInterval = 500 * time.Millisecond
	grace        = 3 * time.Second // for a runner that starts, or writes its last event
	stale        = 15 * time.Minute
	// tail is how far back the events are followed. All of them are read once before.
	tail = 1 << 20
)

// Watch is the work on one run.
type Watch struct {
	config.HubJob
	Logger hclog.Logger

	r     *state.Reader
	box   outbox
	ended bool      // its end is in the outbox
	gone  time.Time // since when no runner is alive; zero: one is
}

// Run watches until the run has ended and everything is sent, given up, or ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	w.r = state.Open(filepath.Join(w.Dir, state.DirName))
	box, err := openOutbox(w.r.HubDir())
	if err != nil {
		return err
	}
	w.box = box
	if err := view.EachEvent(w.r, w.HubJob.Run, wanted, w.take); err != nil {
		w.Logger.Warn("events unreadable", logs.KeyError, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	delivered := w.deliver(ctx)
	defer func() { stop(); delivered.Wait() }()
	follow := logs.NewTail(w.r.EventsPath(), tail)
	defer follow.Close()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		lines, err := follow.Poll()
		if err != nil {
			w.Logger.Warn("events unreadable", logs.KeyError, err)
		}
		for _, line := range lines {
			if e, ok := state.EventFilter(wanted).Decode(line); ok {
				w.take(e)
			}
		}
		if w.look(time.Now()); w.ended && w.left() == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// wanted are the events that are sent at most.
func wanted(k state.Kind) bool { return !k.Streams() }

// take puts what an event asks for into the outbox. Doing it twice adds nothing.
func (w *Watch) take(e state.Event) {
	if e.Run != w.HubJob.Run {
		return
	}
	start, starts := e.Data.(state.RunStart)
	if starts && start.Killed != "" && time.Since(e.Time) < 24*time.Hour {
		w.reportDeath(start.Killed, e)
	}
	_, ends := e.Data.(state.RunEnd)
	w.ended = ends || w.ended && !starts
	s := view.Gather(w.r, time.Now())
	if m, ok := Of(e, ofRun(s, e.Run), w.Milestone); ok && m.Wanted(w.Notifications) &&
		(ends || time.Since(e.Time) < stale) {
		w.notify(m, e.Run, e.Seq)
	}
	if slices.Contains(w.WebhookEvents, string(e.Kind)) {
		data, err := json.Marshal(e)
		for _, to := range w.Webhooks {
			w.put(err, outboxEntry{To: digest(to), Run: e.Run, Seq: e.Seq, Kind: string(e.Kind), Data: data})
		}
	}
}

// ofRun is a snapshot without what belongs to another run, which may have begun by now.
func ofRun(s view.Snapshot, run string) view.Snapshot {
	if s.Status.RunID != run {
		s.Status = state.Status{RunID: run}
	}
	return s
}

// reportDeath reports the death of a run that nobody has watched, such as in a power cut.
func (w *Watch) reportDeath(run string, next state.Event) {
	last := next.Seq - 1
	if run != next.Run {
		e, err := w.r.LastEvent(run)
		if err != nil || e.Seq == 0 {
			return
		}
		last = e.Seq
	}
	w.death(Died(ofRun(view.Gather(w.r, time.Now()), run)), run, last)
}

func (w *Watch) death(m Message, run string, seq int64) {
	if m.Wanted(w.Notifications) {
		w.notify(m, run, seq)
	}
	data, err := json.Marshal(map[string]any{"v": state.EventVersion, "seq": seq, "time": time.Now(),
		"kind": "runner_died", "run": run})
	for _, to := range w.Webhooks {
		w.put(err, outboxEntry{To: digest(to), Run: run, Seq: seq, Kind: "runner_died", Data: data})
	}
}

func (w *Watch) notify(m Message, run string, seq int64) {
	for _, to := range w.Notify {
		w.put(nil, outboxEntry{To: digest(to), Run: run, Seq: seq, Kind: m.On, Title: m.Title, Text: m.Text})
	}
}

func (w *Watch) put(err error, e outboxEntry) {
	if err = errors.Join(err, w.box.Put(e)); err != nil {
		w.Logger.Error("a message is lost", logs.KeyError, err)
	}
}

// look notices that the runner has died, or that the run belongs to another watcher now.
func (w *Watch) look(now time.Time) {
	owner, alive := w.r.Owner()
	if alive && owner.RunID == w.HubJob.Run {
		w.gone = time.Time{}
		return
	}
	if w.gone.IsZero() {
		w.gone = now
	}
	if w.ended || now.Sub(w.gone) < grace {
		return
	}
	w.ended = true // whatever follows, nobody writes its events any more
	s := view.Gather(w.r, now)
	last, err := w.r.LastEvent(w.HubJob.Run)
	if err != nil || s.Status.RunID != w.HubJob.Run || s.Status.Ending() != state.EndingKilled {
		return
	}
	w.death(Died(s), w.HubJob.Run, last.Seq)
}

// deliver sends what is due until ctx ends. No target waits for another: one may hang.
func (w *Watch) deliver(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	for _, to := range w.Notify {
		all.Go(func() {
			w.keepSending(ctx, to, func(ctx context.Context, e outboxEntry) error {
				return Send(ctx, to, w.TTY, Message{On: e.Kind, Title: e.Title, Text: e.Text})
			})
		})
	}
	for _, to := range w.Webhooks {
		all.Go(func() {
			w.keepSending(ctx, to, func(ctx context.Context, e outboxEntry) error {
				id := fmt.Sprintf("%s-%d-%s", e.Run, e.Seq, e.Kind)
				return sendWebhook(ctx, to, w.WebhookSecret, webhookMessage{ID: id, Body: e.Data})
			})
		})
	}
	return &all
}

func (w *Watch) keepSending(ctx context.Context, to string, do func(context.Context, outboxEntry) error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		_, err := w.box.Deliver(ctx, digest(to), func(ctx context.Context, e outboxEntry) error {
			err := do(ctx, e)
			if err != nil && ctx.Err() == nil {
				w.Logger.Warn("not sent, will be tried again", "kind", e.Kind, "try", e.Tries+1, logs.KeyError, err)
			}
			return err
		})
		if err != nil {
			w.Logger.Error("a message is lost", logs.KeyError, err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// left is how much is not sent yet.
func (w *Watch) left() (n int) {
	for _, to := range slices.Concat(w.Notify, w.Webhooks) {
		left, err := w.box.Left(digest(to))
		if err != nil {
			w.Logger.Error("messages cannot be read", logs.KeyError, err)
		}
		n += left
	}
	return n
}

// digest stands for an address, which may hold a key.
func digest(to string) string {
	sum := sha256.Sum256([]byte(to))
	return hex.EncodeToString(sum[:6])
}
