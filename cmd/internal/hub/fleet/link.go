package fleet

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// frame is a message of a session.
type frame struct {
	Seq  uint64 `json:"n,omitempty"` // from 1 on; 0: a sign of life
	Data []byte `json:"d,omitempty"`
	End  bool   `json:"e,omitempty"`
	Why  string `json:"w,omitempty"` // of an End that is not a success
	// Ack is the number up to which the sender of this frame has heard the other side.
	Ack uint64 `json:"a,omitempty"`
	// Again asks for all frames behind Ack: one was lost.
	Again bool `json:"g,omitempty"`
}

const (
	ackEvery = 16 // frames
	again    = time.Second
)

// link is one end of a session. NATS may lose messages when a server or a connection goes down: each end keeps
// what the other one has not acknowledged, and sends it again.
type link struct {
	conn *nats.Conn
	to   string // the subject of the other end
	// missing gets a message when nobody listens to the other end; empty: nobody wants to know.
	missing string

	mu     sync.Mutex
	kept   []frame // sent, and not acknowledged
	sent   uint64
	heard  uint64
	acked  uint64 // of heard
	last   time.Time
	resent time.Time
}

// send sends a frame. It comes to the other end once, and in order.
func (l *link) send(f frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent++
	f.Seq = l.sent
	l.kept = append(l.kept, f)
	return l.publish(f)
}

// beat tells the other end that this one lives, and sends again what was not acknowledged for long.
func (l *link) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) > 0 && time.Since(l.resent) > 2*beat {
		l.resend()
	}
	_ = l.publish(frame{})
}

// publish sends a frame as it is. The lock is held. While there is no server, the client keeps some frames; the
// rest is sent again later.
func (l *link) publish(f frame) error {
	f.Ack, l.acked = l.heard, l.heard
	data, err := json.Marshal(f)
	switch {
	case err != nil:
		return err
	case f.Seq == 0 && l.missing != "":
		err = l.conn.PublishRequest(l.to, l.missing, data)
	default:
		err = l.conn.Publish(l.to, data)
	}
	if err == nats.ErrReconnectBufExceeded { //nolint:errorlint // it is never wrapped
		return nil
	}
	return err
}

func (l *link) resend() {
	l.resent = time.Now()
	for _, f := range l.kept {
		_ = l.publish(f)
	}
}

// take reads a message of the other end. fresh is false for a sign of life, and for what has been heard before or
// comes too early.
func (l *link) take(data []byte) (f frame, fresh bool, err error) {
	if err := json.Unmarshal(data, &f); err != nil {
		return f, false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Now()
	for len(l.kept) > 0 && l.kept[0].Seq <= f.Ack {
		l.kept, l.resent = l.kept[1:], l.last
	}
	if f.Again && l.last.Sub(l.resent) > again/2 {
		l.resend()
	}
	switch {
	case f.Seq == l.heard+1:
		l.heard++
		if l.heard-l.acked >= ackEvery || f.End {
			_ = l.publish(frame{})
		}
		return f, true, nil
	case f.Seq > l.heard:
		_ = l.publish(frame{Again: true})
	}
	return f, false, nil
}

// silent is how long the other end has not been heard.
func (l *link) silent(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.last)
}

// settled reports whether the other end has heard everything.
func (l *link) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kept) == 0
}
