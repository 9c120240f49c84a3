package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"ralph/ptyexec"
)

// Work is what a worker needs.
type Work struct {
	Access
	Slots int
	Args  []string // carries a turn out: ralph turn --away
	Env   []string
	Log   func(format string, args ...any)
	// Carry carries a turn out instead of Args: it reads what the run says, and says what the run hears. why is empty
	// after a success. nil: Args do.
	Carry func(ctx context.Context, in io.Reader, say func([]byte)) (why string)
}

// Worker takes turns from the fleet until ctx ends.
func Worker(ctx context.Context, w Work) error {
	conn, js, err := w.connect("ralph worker")
	if err != nil {
		return err
	}
	defer conn.Close()
	q, err := queue(ctx, conn, js)
	if err != nil {
		return err
	}
	var c jetstream.Consumer
	err = persist(ctx, func(ctx context.Context) error {
		c, err = q.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: ackWait, MaxDeliver: deliver, MaxAckPending: 10000})
		return err
	})
	if err != nil {
		return fmt.Errorf("join the fleet: %w", err)
	}
	w.Env = slices.DeleteFunc(slices.Clone(w.Env), func(e string) bool { return strings.HasPrefix(e, TokenVar+"=") })
	var all sync.WaitGroup
	for range w.Slots {
		all.Go(func() {
			for ctx.Err() == nil {
				m, err := c.Next(jetstream.FetchMaxWait(2 * time.Second))
				switch {
				case err == nil:
					w.take(ctx, conn, m)
				case !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, jetstream.ErrNoMessages):
					w.Log("the fleet does not answer: %v", err)
					select { // it may come back
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
				}
			}
		})
	}
	all.Wait()
	return nil
}

// take carries out the turn of an offer, if its run still wants it.
func (w Work) take(ctx context.Context, conn *nats.Conn, m jetstream.Msg) {
	var o offer
	if err := json.Unmarshal(m.Data(), &o); err != nil || o.V != version {
		w.Log("an offer has version %d; this ralph speaks version %d", o.V, version)
		_ = m.Nak() // another worker may understand it
		return
	}
	s := &session{w: w, conn: conn, id: o.ID, name: nuid.Next()}
	s.link = &link{conn: conn, to: wayOf(s.id, s.name, "out"), last: time.Now()}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	inR, inW := io.Pipe()
	lines := make(chan []byte, 64)
	sub, err := conn.Subscribe(wayOf(s.id, s.name, "in"), func(m *nats.Msg) { s.hear(ctx, m, lines, cancel) })
	if err != nil {
		_ = m.Nak()
		return
	}
	defer sub.Unsubscribe()
	_ = sub.SetPendingLimits(-1, -1)
	answer, err := conn.Request(claimOf(s.id), []byte(s.name), claimWait)
	switch {
	case errors.Is(err, nats.ErrNoResponders), err == nil && string(answer.Data) != "yes":
		_ = m.Term() // nobody waits for the turn any more, or another worker has it
		return
	case err != nil:
		_ = m.NakWithDelay(beat)
		return
	}
	w.Log("turn %s begins", s.id)
	go func() {
		for {
			select {
			case <-ctx.Done():
				_ = inW.Close()
				return
			case p := <-lines:
				_, _ = inW.Write(p)
			}
		}
	}()
	go s.alive(ctx, m, cancel)
	carry := w.Carry
	if carry == nil {
		carry = w.program
	}
	why := carry(ctx, inR, func(p []byte) { s.say(frame{Data: p}) })
	_ = inR.Close()
	s.end(ctx, why)
	_ = m.Ack()
	if err := context.Cause(ctx); err != nil && why == "" && !s.link.settled() {
		why = err.Error()
	}
	w.Log("turn %s is over: %s", s.id, cmp.Or(why, "done"))
}

// program carries a turn out with Args.
func (w Work) program(ctx context.Context, in io.Reader, say func([]byte)) (why string) {
	exit, err := ptyexec.Run(ctx, ptyexec.Command{Args: append([]string{"/bin/sh", "-c", `exec "$@" 2>/dev/null`, "sh"}, w.Args...),
		Env: w.Env, Stdin: in, Pipe: true, KillGrace: 10 * time.Second}, func(p []byte) bool { say(p); return false })
	switch {
	case err != nil:
		return err.Error()
	case exit.Code != 0:
		return fmt.Sprintf("%s ended with exit code %d on the machine of the worker", w.Args[0], exit.Code)
	}
	return ""
}

// session is a turn that this worker carries out.
type session struct {
	w    Work
	conn *nats.Conn
	id   string
	name string
	link *link
}

// hear takes what the run says.
func (s *session) hear(ctx context.Context, m *nats.Msg, lines chan []byte, end context.CancelFunc) {
	f, fresh, err := s.link.take(m.Data)
	if err != nil || fresh && f.End {
		end()
		return
	}
	if fresh && len(f.Data) > 0 {
		select {
		case lines <- f.Data:
		case <-ctx.Done():
		}
	}
}

// say sends a frame to the run.
func (s *session) say(f frame) {
	for first := true; first || len(f.Data) > 0; first = false {
		piece := f
		piece.Data = bytes.Clone(f.Data[:min(part, len(f.Data))])
		f.Data = f.Data[len(piece.Data):]
		_ = s.link.send(piece)
	}
}

// end tells the run that nothing follows, and waits until it has heard everything, or is gone.
func (s *session) end(ctx context.Context, why string) {
	s.say(frame{End: true, Why: why})
	for ctx.Err() == nil && !s.link.settled() {
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	_ = s.conn.FlushTimeout(beat)
}

// alive says that the turn goes on, and ends it when the run is gone.
func (s *session) alive(ctx context.Context, m jetstream.Msg, end context.CancelFunc) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	told := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if s.link.silent(now) > silence {
				end()
				return
			}
			if now.Sub(told) >= progress {
				told = now
				_ = m.InProgress()
			}
			s.link.beat()
		}
	}
}
