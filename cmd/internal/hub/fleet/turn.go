package fleet

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Offer is a turn that wants a worker.
type Offer struct {
	Access
	// Fits says why a worker with this version of ralph cannot work for the run, whose first line is given; nil: all
	// can.
	Fits func(hello []byte, theirs string) error
	// Refused is called for each claim and message that is refused, with the number so far; nil: not called.
	Refused func(n int, why string)
}

// Turn is the side of the run: it offers one turn, and passes lines on between the run and the worker
// that claims it. It ends with the result, or when in ends.
func Turn(ctx context.Context, o Offer, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conn, js, err := o.connect("ralph turn", "")
	if err != nil {
		return err
	}
	defer conn.Close()
	t := &client{conn: conn, id: rand.Text(), out: out, over: cancel, o: o}
	defer t.leave()
	t.in = bufio.NewReaderSize(in, part)
	if t.first, err = t.in.ReadBytes('\n'); err != nil {
		return fmt.Errorf("read from the run: %w", err)
	}
	claims, err := conn.Subscribe(claimOf(t.id, "*"), t.claimed)
	if err != nil {
		return fmt.Errorf("offer the turn: %w", err)
	}
	defer claims.Unsubscribe()
	if err := queue(ctx, conn, js); err != nil {
		return err
	}
	data, _ := json.Marshal(offer{V: version, ID: t.id}) // plain values: it cannot fail
	subject := offerOf(t.id)
	err = persist(ctx, func(ctx context.Context) error { // offered twice, it is carried out once
		_, err := js.Publish(ctx, subject, data)
		return err
	})
	if err != nil {
		return fmt.Errorf("offer the turn: %w", err)
	}
	go t.pass()
	go t.heartbeats(ctx, func() { _ = conn.Publish(subject, data) })
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, errDone) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

var errDone = errors.New("the turn is over")

// claim is what a worker says to get a turn. The run answers yes, no, or no with a reason.
type claim struct {
	V       int    `json:"v"`
	Session string `json:"session"`
	Ralph   string `json:"ralph,omitempty"` // version; empty: unknown
}

const yes, no = "yes", "no"

// client is a turn that wants or has a worker.
type client struct {
	conn  *nats.Conn
	id    string
	over  context.CancelCauseFunc
	in    *bufio.Reader
	first []byte // the run's hello, for each worker
	o     Offer

	writing sync.Mutex // of out
	out     io.Writer

	mu      sync.Mutex
	link    *link                // the session of the worker; nil: there is none
	subs    []*nats.Subscription // of the session
	missed  int                  // heartbeats in a row that nobody received
	refused int
}

// refuse counts. The lock is held.
func (t *client) refuse(why string) {
	t.refused++
	if t.o.Refused != nil {
		t.o.Refused(t.refused, why)
	}
}

// asks reads a claim. why says that it cannot be served.
func (t *client) asks(m *nats.Msg) (c claim, why string) {
	switch err := json.Unmarshal(m.Data, &c); {
	case len(m.Data) > 4096, err != nil, c.Session == "":
		return c, "a claim that cannot be read"
	case c.V != version:
		return c, fmt.Sprintf("a claim of version %d; this is version %d", c.V, version)
	case t.o.Fits != nil:
		if err := t.o.Fits(t.first, c.Ralph); err != nil {
			return c, err.Error()
		}
	}
	return c, ""
}

// claimed begins the session of a worker. The one before is not listened to any more.
func (t *client) claimed(m *nats.Msg) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, why := t.asks(m)
	if why != "" {
		t.refuse(why)
		_ = m.Respond([]byte(no + ": " + why))
		return
	}
	if t.link != nil && !t.alone(time.Now()) {
		_ = m.Respond([]byte(no)) // another worker has the turn
		return
	}
	who := m.Subject[len(claimOf(t.id, "")):]
	missing := t.conn.NewInbox()
	l := linked(t.conn, inOf(who, t.id, c.Session), missing)
	out, err := t.conn.Subscribe(outOf(t.id, who, c.Session), func(m *nats.Msg) { t.hear(l, m) })
	if err == nil {
		err = out.SetPendingLimits(-1, -1) // the link bounds what is on the way
	}
	lost, err2 := t.conn.Subscribe(missing, func(*nats.Msg) { t.miss(l) })
	if err = errors.Join(err, err2); err == nil {
		err = t.conn.FlushTimeout(beatEvery)
	}
	if err != nil {
		t.over(fmt.Errorf("listen to the worker: %w", err))
		return
	}
	t.dismiss("the run has given up on this worker")
	t.subs, t.link, t.missed = []*nats.Subscription{out, lost}, l, 0
	_ = m.Respond([]byte(yes))
	_ = l.Send(linkFrame{Data: t.first}) // never waits: the link is new
	go t.write(l)
}

// dismiss ends the session of the worker, if there is one. why says that its result is discarded; empty: the run has
// heard enough. The lock is held.
func (t *client) dismiss(why string) {
	if t.link == nil {
		return
	}
	for _, s := range t.subs {
		_ = s.Unsubscribe()
	}
	_ = t.link.Send(linkFrame{End: true, Why: why})
	t.link.Close()
}

// leave tells the worker that the run no longer listens.
func (t *client) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dismiss("")
	_ = t.conn.FlushTimeout(beatEvery)
}

// hear handles a message of the worker.
func (t *client) hear(l *link, m *nats.Msg) {
	err := l.Take(m.Data)
	t.mu.Lock()
	defer t.mu.Unlock()
	if l != t.link {
		return
	}
	t.missed = 0
	if err != nil {
		t.refuse(err.Error())
		t.over(fmt.Errorf("from the worker: %w", err))
	}
}

// current returns the session of the worker; nil: there is none.
func (t *client) current() *link {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.link
}

// write passes on what the worker says until its session is over: whole lines only, since another worker may take over
// after any of them.
func (t *client) write(l *link) {
	var line []byte
	for {
		var f linkFrame
		select {
		case f = <-l.Queue:
		case <-l.Ended:
			return
		}
		if line = append(line, f.Data...); len(line) > longest+len(f.Data) {
			t.over(fmt.Errorf("from the worker: a line of more than %d MiB", longest>>20))
			return
		}
		whole := bytes.LastIndexByte(line, '\n') + 1
		if f.End {
			whole = len(line)
		}
		if err := t.print(l, line[:whole]); err != nil {
			t.over(fmt.Errorf("write to the run: %w", err))
			return
		}
		if whole > 0 {
			line = bytes.Clone(line[whole:])
		}
		l.Finish(f)
		if f.End {
			_ = t.conn.FlushTimeout(beatEvery)
			if f.Why != "" {
				t.over(errors.New(f.Why))
			}
			t.over(errDone)
			return
		}
	}
}

// print writes what a session says, unless another one has begun.
func (t *client) print(l *link, text []byte) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	if len(text) == 0 || t.current() != l {
		return nil
	}
	_, err := t.out.Write(text)
	return err
}

// miss counts heartbeats that nobody received. After a few in a row the worker is gone; until then, one that lost
// its connection can come back.
func (t *client) miss(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l == t.link {
		t.missed++
	}
}

// alone reports whether the worker of the session is gone. The lock is held.
func (t *client) alone(now time.Time) bool { return t.missed >= misses || t.link.Silent(now) > silence }

// pass sends on what the run says to the current worker, if there is one, until the run ends. It waits while that
// worker is behind.
func (t *client) pass() {
	buffer := make([]byte, part)
	for {
		n, err := t.in.Read(buffer)
		if l := t.current(); l != nil && n > 0 {
			if err := l.Send(linkFrame{Data: bytes.Clone(buffer[:n])}); err != nil && !errors.Is(err, errOver) {
				t.over(fmt.Errorf("write to the worker: %w", err))
			}
		}
		if err != nil {
			t.over(errDone)
			return
		}
	}
}

// heartbeats sends heartbeats, and repeats the offer when no worker is heard: it may be lost with a worker.
func (t *client) heartbeats(ctx context.Context, offer func()) {
	tick := time.Tick(beatEvery)
	seen, offered := time.Now(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick:
			if t.conn.IsConnected() {
				seen = now
			}
			t.mu.Lock()
			l := t.link
			lost := l != nil && t.alone(now)
			t.mu.Unlock()
			if now.Sub(seen) > gone {
				t.over(errors.New("the server of the fleet is gone"))
			} else if l != nil && l.Silent(now) > answers {
				t.over(errors.New("no worker goes on with the turn"))
			}
			if l == nil && now.Sub(offered) > gone || lost && now.Sub(offered) > silence/2 {
				offered = now
				offer()
			}
			if l != nil {
				l.Heartbeat()
			}
		}
	}
}
