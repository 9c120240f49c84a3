package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// Turn is the side of the run: it offers one turn, and passes lines on between the run and the worker
// that claims it. It ends with the result, or when in ends.
func Turn(ctx context.Context, a Access, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conn, js, err := a.connect("ralph turn")
	if err != nil {
		return err
	}
	defer conn.Close()
	t := &client{conn: conn, id: nuid.Next(), out: out, over: cancel}
	claims, err := conn.Subscribe(claimOf(t.id), t.claimed)
	if err != nil {
		return fmt.Errorf("offer the turn: %w", err)
	}
	defer claims.Unsubscribe()
	hello, err := t.hello(in)
	if err != nil {
		return err
	}
	t.first = hello
	if _, err := queue(ctx, js); err != nil {
		return err
	}
	data, _ := json.Marshal(offer{V: version, ID: t.id}) // plain values: it cannot fail
	if _, err := js.Publish(ctx, offers, data); err != nil {
		return fmt.Errorf("offer the turn: %w", err)
	}
	t.offer = data
	go t.pass()
	defer t.tell(frame{End: true})
	go t.beats(ctx)
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, errDone) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

var errDone = errors.New("the turn is over")

// client is a turn that wants or has a worker.
//
// size: the run on one side, and the session of a worker on the other.
type client struct {
	conn *nats.Conn
	id   string
	out  io.Writer
	over context.CancelCauseFunc
	in   *bufio.Reader
	// offer is made again when no worker is heard.
	offer []byte

	mu      sync.Mutex
	first   []byte // the run's hello, for each worker
	session string // of the worker; empty if there is none
	sub     *nats.Subscription
	sent    uint64
	heard   uint64
	last    time.Time // when the worker was heard
}

func (t *client) hello(in io.Reader) ([]byte, error) {
	t.in = bufio.NewReaderSize(in, part)
	line, err := t.in.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("read from the run: %w", err)
	}
	return line, nil
}

// claimed begins the session of a worker. The one before is not listened to any more.
func (t *client) claimed(m *nats.Msg) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session != "" && time.Since(t.last) < silence {
		_ = m.Respond([]byte("no")) // one is at it
		return
	}
	if t.sub != nil {
		_ = t.sub.Unsubscribe()
	}
	session := string(m.Data)
	sub, err := t.conn.Subscribe(wayOf(t.id, session, "out"), func(m *nats.Msg) { t.hear(session, m) })
	if err == nil {
		err = sub.SetPendingLimits(-1, -1)
	}
	if err == nil {
		err = t.conn.FlushTimeout(beat)
	}
	if err != nil {
		t.over(fmt.Errorf("listen to the worker: %w", err))
		return
	}
	t.send(frame{End: true}) // to the one before
	t.sub, t.session, t.sent, t.heard, t.last = sub, session, 0, 0, time.Now()
	_ = m.Respond([]byte("yes"))
	t.send(frame{Data: t.first})
}

// hear takes what the worker says.
func (t *client) hear(session string, m *nats.Msg) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var f frame
	switch err := json.Unmarshal(m.Data, &f); {
	case session != t.session:
		return
	case err != nil || f.Seq != t.heard+1:
		t.over(errors.New("a message of the worker is lost"))
		return
	}
	t.heard, t.last = t.heard+1, time.Now()
	if _, err := t.out.Write(f.Data); err != nil {
		t.over(fmt.Errorf("write to the run: %w", err))
	}
	if f.End {
		_ = m.Respond(nil)
		_ = t.conn.FlushTimeout(beat)
		if f.Why != "" {
			t.over(errors.New(f.Why))
		}
		t.over(errDone)
	}
}

// send is for the worker there is. The lock is held.
func (t *client) send(f frame) {
	if t.session == "" {
		return
	}
	t.sent++
	f.Seq = t.sent
	data, _ := json.Marshal(f) // plain values: it cannot fail
	if err := t.conn.Publish(wayOf(t.id, t.session, "in"), data); err != nil {
		t.over(fmt.Errorf("write to the worker: %w", err))
	}
}

func (t *client) tell(f frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send(f)
	if f.End {
		_ = t.conn.FlushTimeout(beat)
	}
}

// pass sends on what the run says, until it ends.
func (t *client) pass() {
	buffer := make([]byte, part)
	for {
		n, err := t.in.Read(buffer)
		if n > 0 {
			t.tell(frame{Data: buffer[:n]})
		}
		if err != nil {
			t.over(errDone)
			return
		}
	}
}

// waits reports whether no worker is at the turn.
func (t *client) waits(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session == "" || now.Sub(t.last) > silence
}

// silent reports whether a worker began, and neither it nor another one was heard for long.
func (t *client) silent(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session != "" && now.Sub(t.last) > answers
}

func (t *client) beats(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	seen, offered := time.Now(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if t.conn.IsConnected() {
				seen = now
			}
			if now.Sub(seen) > gone {
				t.over(errors.New("the server of the fleet is gone"))
			} else if t.silent(now) {
				t.over(errors.New("no worker goes on with the turn"))
			}
			if t.waits(now) && now.Sub(offered) > gone { // an offer may be lost with a worker
				offered = now
				_ = t.conn.Publish(offers, t.offer)
			}
			t.tell(frame{})
		}
	}
}
