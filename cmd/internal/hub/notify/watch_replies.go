package notify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ralph/logs"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/question"
)

const (
	lookEvery  = 3 * time.Second
	lookSeldom = 5 * time.Minute // for a server that fails
	watchWaits = 24 * time.Hour  // for answers, after the end of the run
)

// listen does what people send back, until ctx ends.
func (w *Watch) listen(ctx context.Context) {
	for _, to := range w.Replies {
		inbox, err := openInbox(to, w.ReplyToken)
		if err != nil {
			w.Logger.Error("no replies", logs.KeyError, err)
			continue
		}
		go w.keepLooking(ctx, inbox.Look)
	}
}

// keepLooking does the replies that come until ctx ends. Its pauses grow while look fails.
func (w *Watch) keepLooking(ctx context.Context, look func(context.Context) ([]received, error)) {
	for pause := lookEvery; ctx.Err() == nil; {
		all, err := look(ctx)
		if err == nil {
			pause = lookEvery
		} else if ctx.Err() == nil {
			w.Logger.Warn("replies cannot be read", logs.KeyError, err)
			pause = min(2*pause, lookSeldom)
		}
		for _, r := range all {
			w.obey(ctx, r)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// obey runs the verb that a reply asks for, once, and records both.
func (w *Watch) obey(ctx context.Context, r received) {
	claim, err := state.Project(w.r.Dir()).OpenFile(filepath.Join(w.r.HubDir(), "reply-"+digest(r.Source+" "+r.ID)),
		os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return // another watcher does it
	}
	_ = claim.Close()
	args, living, ok := r.Verb()
	_, alive := w.r.Owner()
	said := "refused: a reply is pause, resume, stop, or answer ID TEXT"
	switch {
	case ok && living && !alive:
		said = "refused: no run is alive"
	case ok:
		answer := act.Ralph{Command: w.Ralph}.Run(ctx, args...)
		if said = answer.Line(); answer.Err != nil {
			said = "failed: " + said
		}
	}
	w.Logger.Info("reply", "source", r.Source, "verb", strings.Join(args, " "), "said", said)
	RecordReply(w.r.HubDir(), ReplyEntry{Source: r.Source, ID: r.ID, Args: args, Said: said})
}

// awaits reports whether an answer may still come after the end of the run.
func (w *Watch) awaits(now time.Time) bool {
	if owner, alive := w.r.Owner(); len(w.Replies) == 0 || alive && owner.RunID != w.HubJob.Run || !w.gone.IsZero() &&
		now.Sub(w.gone) > watchWaits {
		return false
	}
	all, _ := question.In(w.r).List()
	for _, q := range all {
		if q.Open() {
			return true
		}
	}
	return false
}
