package fleet

import (
	"bufio"
	"bytes"
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
	if _, err := queue(ctx, conn, js); err != nil {
		return err
	}
	data, _ := json.Marshal(offer{V: version, ID: t.id}) // plain values: it cannot fail
	err = persist(ctx, func(ctx context.Context) error { // offered twice, it is carried out once
		_, err := js.Publish(ctx, offers, data)
		return err
	})
	if err != nil {
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
	link    *link
	subs    []*nats.Subscription // of the session
	missed  int                  // signs of life in a row that nobody listened to
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
	if t.session != "" && !t.alone(time.Now()) {
		_ = m.Respond([]byte("no")) // one is at it
		return
	}
	for _, s := range t.subs {
		_ = s.Unsubscribe()
	}
	session := string(m.Data)
	missing := wayOf(t.id, session, "missing")
	out, err := t.conn.Subscribe(wayOf(t.id, session, "out"), func(m *nats.Msg) { t.hear(session, m) })
	if err == nil {
		err = out.SetPendingLimits(-1, -1)
	}
	lost, err2 := t.conn.Subscribe(missing, func(*nats.Msg) { t.miss(session) })
	if err = errors.Join(err, err2); err == nil {
		err = t.conn.FlushTimeout(beat)
	}
	if err != nil {
		t.over(fmt.Errorf("listen to the worker: %w", err))
		return
	}
	t.send(frame{End: true}) // to the one before
	t.subs, t.session, t.missed = []*nats.Subscription{out, lost}, session, 0
	t.link = &link{conn: t.conn, to: wayOf(t.id, session, "in"), missing: missing, last: time.Now()}
	_ = m.Respond([]byte("yes"))
	t.send(frame{Data: t.first})
}

// hear takes what the worker says.
func (t *client) hear(session string, m *nats.Msg) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if session != t.session {
		return
	}
	f, fresh, err := t.link.take(m.Data)
	if err != nil {
		t.over(errors.New("a message of the worker cannot be read"))
	}
	if t.missed = 0; !fresh {
		return
	}
	if _, err := t.out.Write(f.Data); err != nil {
		t.over(fmt.Errorf("write to the run: %w", err))
	}
	if f.End {
		_ = t.conn.FlushTimeout(beat)
		if f.Why != "" {
			t.over(errors.New(f.Why))
		}
		t.over(errDone)
	}
}

// miss counts signs of life that nobody listened to. A worker that is killed is known to be gone after a few,
// and one that lost its connection has time to come back.
func (t *client) miss(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if session == t.session {
		t.missed++
	}
}

// alone reports whether the worker of the session is gone. The lock is held.
func (t *client) alone(now time.Time) bool { return t.missed >= misses || t.link.silent(now) > silence }

// send is for the worker there is. The lock is held.
func (t *client) send(f frame) {
	if t.session == "" {
		return
	}
	if err := t.link.send(f); err != nil {
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
			t.tell(frame{Data: bytes.Clone(buffer[:n])})
		}
		if err != nil {
			t.over(errDone)
			return
		}
	}
}

// waits reports whether no worker is at the turn. gone is true when one was.
func (t *client) waits(now time.Time) (waits, gone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session == "" {
		return true, false
	}
	return t.alone(now), t.alone(now)
}

// silent reports whether a worker began, and neither it nor another one was heard for long.
func (t *client) silent(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session != "" && t.link.silent(now) > answers
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
			waits, lost := t.waits(now)
			if waits && (now.Sub(offered) > gone || lost && now.Sub(offered) > silence/2) { // an offer may be lost with a worker
				offered = now
				_ = t.conn.Publish(offers, t.offer)
			}
			t.mu.Lock()
			if t.session != "" {
				t.link.beat()
			}
			t.mu.Unlock()
		}
	}
}
