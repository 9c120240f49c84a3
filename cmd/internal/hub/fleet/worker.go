package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ralph/cmd/internal/cmdline"
	"ralph/ptyexec"
)

// Work is what a worker needs.
type Work struct {
	Access
	Slots int
	Host  string // for people
	Ralph string // the version of the ralph of Args; empty: unknown
	Args  []string
	Env   []string
	Log   func(format string, args ...any)
	// Carry carries out a turn in place of Args, which is ralph turn --away: it reads what the run says from in, and
	// calls say with its output for the run. why is empty after a success. nil: Args are run.
	Carry func(ctx context.Context, in io.Reader, say func([]byte)) (why string)
}

// worker is Work under way.
type worker struct {
	Work
	conn     *nats.Conn
	js       jetstream.JetStream
	who      string
	busy     atomic.Int64
	warnedAt atomic.Int64 // Unix time at which the fleet last failed to answer

	refused   atomic.Int64 // offers and messages
	discarded atomic.Int64 // results that no run has taken

	mu     sync.Mutex
	queue  jetstream.Consumer // nil: not found yet
	warned bool               // that there is none
}

// Worker takes turns from the fleet until ctx ends.
func Worker(ctx context.Context, o Work) error {
	w := &worker{Work: o}
	var err error
	if w.who, err = w.Access.who(); err != nil {
		return err
	}
	if w.conn, w.js, err = w.connect("ralph worker", w.who); err != nil {
		return err
	}
	defer w.conn.Close()
	if err := w.answerRolls(); err != nil {
		return fmt.Errorf("join the fleet: %w", err)
	}
	w.Env = slices.DeleteFunc(slices.Clone(w.Env), func(e string) bool {
		return strings.HasPrefix(e, TokenVar+"=") || strings.HasPrefix(e, CredsVar+"=")
	})
	var all sync.WaitGroup
	for range w.Slots {
		all.Go(func() {
			for ctx.Err() == nil {
				m, err := w.next(ctx)
				switch {
				case m != nil:
					w.busy.Add(1)
					w.take(ctx, m)
					w.busy.Add(-1)
				case err != nil && ctx.Err() == nil:
					if now := time.Now().Unix(); now-w.warnedAt.Swap(now) > 60 {
						w.Log("the fleet does not answer: %v", err)
					}
					cmdline.Pause(ctx, time.Second) // it may come back
				}
			}
		})
	}
	all.Wait()
	return nil
}

// refuse counts and reports an offer or message that is refused.
func (w *worker) refuse(format string, args ...any) {
	w.Log("%s; refused so far: %d", fmt.Sprintf(format, args...), w.refused.Add(1))
}

const waitFor = 2 * time.Second // for an offer

// offers returns the queue; nil: no run has used this fleet yet.
func (w *worker) offers(ctx context.Context) (jetstream.Consumer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		return w.queue, nil
	}
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	queue, err := w.js.Consumer(ctx, stream, consumer)
	if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		if !w.warned {
			w.warned = true
			w.Log("no run has used this fleet yet")
		}
		return nil, nil
	}
	w.queue = queue
	return queue, err
}

// next waits a while for an offer; nil: there was none.
func (w *worker) next(ctx context.Context) (jetstream.Msg, error) {
	queue, err := w.offers(ctx)
	if err != nil {
		return nil, err
	}
	if queue == nil {
		cmdline.Pause(ctx, waitFor/4)
		return nil, nil
	}
	m, err := queue.Next(jetstream.FetchMaxWait(waitFor))
	if errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages) {
		return nil, nil
	}
	if errors.Is(err, jetstream.ErrConsumerDeleted) || errors.Is(err, jetstream.ErrConsumerNotFound) ||
		errors.Is(err, nats.ErrNoResponders) {
		w.mu.Lock()
		w.queue = nil
		w.mu.Unlock()
	}
	return m, err
}

// take carries out the turn of an offer, if its run still wants it.
func (w *worker) take(ctx context.Context, m jetstream.Msg) {
	var o offer
	if err := json.Unmarshal(m.Data(), &o); err != nil || o.V != version || strings.ContainsAny(o.ID, " .*>") {
		w.refuse("an offer has version %d; this is version %d", o.V, version)
		_ = m.Term()
		return
	}
	s := &session{w: w, id: o.ID, name: rand.Text()}
	s.link = linked(w.conn, outOf(s.id, w.who, s.name), "")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, s.link.Close)()
	sub, err := w.conn.Subscribe(inOf(w.who, s.id, s.name), func(m *nats.Msg) {
		if err := s.link.Take(m.Data); err != nil {
			w.refuse("from the run: %v", err)
			cancel(err)
		}
	})
	if err != nil {
		_ = m.NakWithDelay(beatEvery)
		return
	}
	defer sub.Unsubscribe()
	_ = sub.SetPendingLimits(-1, -1) // the link bounds what is on the way
	if !s.claim(m) {
		return
	}
	w.Log("turn %s begins", s.id)
	inR, inW := io.Pipe()
	go s.hear(ctx, inW, cancel)
	go s.alive(ctx, m, cancel)
	carry := w.Carry
	if carry == nil {
		carry = w.program
	}
	why := carry(ctx, inR, s.say)
	_ = inR.Close()
	s.end(ctx, why)
	_ = m.Ack()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, errEnded) {
		why = fmt.Sprintf("%s; results discarded so far: %d", cmp.Or(why, err.Error()), w.discarded.Add(1))
	}
	w.Log("turn %s is over: %s", s.id, cmp.Or(why, "done"))
}

// program carries out a turn with Args.
func (w *worker) program(ctx context.Context, in io.Reader, say func([]byte)) (why string) {
	exit, err := ptyexec.Run(ctx,
		ptyexec.Command{Args: append([]string{"/bin/sh", "-c", `exec "$@" 2>/dev/null`, "sh"}, w.Args...),
			Env: w.Env, Stdin: in, Pipe: true, KillGrace: 10 * time.Second},
		func(p []byte) bool { say(p); return false })
	switch {
	case err != nil:
		return err.Error()
	case exit.Code != 0:
		return fmt.Sprintf("%s ended with exit code %d on the machine of the worker", w.Args[0], exit.Code)
	}
	return ""
}

// errEnded is why a session ends whose run has heard enough.
var errEnded = errors.New("the run has ended the turn")

// session is a turn that this worker carries out.
type session struct {
	w    *worker
	id   string
	name string
	link *link
}

// claim asks the run for the turn.
func (s *session) claim(m jetstream.Msg) bool {
	data, _ := json.Marshal(claim{V: version, Session: s.name, Ralph: s.w.Ralph}) // plain values: it cannot fail
	answer, err := s.w.conn.Request(claimOf(s.id, s.w.who), data, claimWait)
	switch {
	case errors.Is(err, nats.ErrNoResponders), err == nil && string(answer.Data) == no:
		_ = m.Term() // nobody waits for the turn any more, or another worker has it
	case err != nil:
		_ = m.NakWithDelay(beatEvery)
	case string(answer.Data) == yes:
		return true
	default:
		s.w.refuse("the run does not want this worker: %.200s", answer.Data)
		_ = m.NakWithDelay(beatEvery) // it may want another one
	}
	return false
}

// hear passes on what the run says, until the run ends the session.
func (s *session) hear(ctx context.Context, to *io.PipeWriter, end context.CancelCauseFunc) {
	defer to.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-s.link.Queue:
			if f.End {
				if f.Why != "" {
					end(errors.New(f.Why))
				}
				end(errEnded)
				return
			}
			_, _ = to.Write(f.Data)
			s.link.Finish(f)
		}
	}
}

// say sends output of the turn to the run. It waits while the run is behind.
func (s *session) say(p []byte) {
	for len(p) > 0 {
		n := min(part, len(p))
		_ = s.link.Send(linkFrame{Data: bytes.Clone(p[:n])})
		p = p[n:]
	}
}

// end tells the run that nothing follows, and waits until it has heard everything, or is gone.
func (s *session) end(ctx context.Context, why string) {
	_ = s.link.Send(linkFrame{End: true, Why: why})
	for ctx.Err() == nil && !s.link.Settled() {
		cmdline.Pause(ctx, 10*time.Millisecond)
	}
	_ = s.w.conn.FlushTimeout(beatEvery)
}

// alive sends heartbeats while the turn runs, and ends it when the run is gone.
func (s *session) alive(ctx context.Context, m jetstream.Msg, end context.CancelCauseFunc) {
	tick := time.Tick(beatEvery)
	reported := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick:
			if s.link.Silent(now) > silence {
				end(errors.New("the run is gone"))
				return
			}
			if now.Sub(reported) >= progress {
				reported = now
				_ = m.InProgress()
			}
			s.link.Heartbeat()
		}
	}
}
