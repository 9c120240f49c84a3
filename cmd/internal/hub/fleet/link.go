package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
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
	// Got is the number of the last frame that the sender has received from the other side, and Ack of the last one
	// that it has processed.
	Got uint64 `json:"o,omitempty"`
	Ack uint64 `json:"a,omitempty"`
	// Again asks for all frames after Got: one was lost.
	Again bool `json:"g,omitempty"`
}

const (
	ackEvery = 16 // frames
	again    = time.Second
	// window is how many bytes may be on the way: a slow side makes the other one wait, so nothing piles up.
	window       = 4 << 20
	windowFrames = 1024
)

var errOver = errors.New("the session is over")

// link is one end of a session. NATS may lose messages when a server or a connection goes down: each end keeps
// what the other one has not acknowledged, and sends it again.
//
// size: what both ends have sent, heard and done is one state, under one lock.
type link struct {
	conn *nats.Conn
	to   string // the subject of the other end
	// missing is the subject for notices that nobody listens to the other end; empty: no notices.
	missing string
	queue   chan frame    // heard, and not done
	ended   chan struct{} // closed by close

	mu     sync.Mutex
	room   *sync.Cond // signalled when there is more of it
	kept   []frame    // sent, and not acknowledged
	size   int        // of kept, in bytes
	over   bool
	sent   uint64
	theirs uint64 // the number that the other end has heard last
	heard  uint64
	done   uint64 // of heard
	acked  uint64 // of done
	last   time.Time
	resent time.Time
}

func newLink(conn *nats.Conn, to, missing string) *link {
	l := &link{conn: conn, to: to, missing: missing, last: time.Now(), queue: make(chan frame, windowFrames+1),
		ended: make(chan struct{})}
	l.room = sync.NewCond(&l.mu)
	return l
}

// send sends a frame. The other end gets frames once, and in order. It waits while the other end is behind.
func (l *link) send(f frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.over && !f.End && len(l.kept) > 0 && (l.size+len(f.Data) > window || len(l.kept) >= windowFrames) {
		l.room.Wait()
	}
	if l.over {
		return errOver
	}
	l.sent++
	f.Seq = l.sent
	l.kept = append(l.kept, f)
	l.size += len(f.Data)
	return l.publish(f)
}

// close wakes everybody who waits for room or for a frame.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.over = true
		close(l.ended)
		l.room.Broadcast()
	}
}

// heartbeat tells the other end that this one lives, and sends again what it has not heard for long.
func (l *link) heartbeat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) > 0 && time.Since(l.resent) > 2*beatEvery {
		l.resend()
	}
	_ = l.publish(frame{})
}

// publish sends a frame as it is. The lock is held. While there is no server, the client keeps some frames; the
// rest is sent again later.
func (l *link) publish(f frame) error {
	f.Got, f.Ack, l.acked = l.heard, l.done, l.done
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
		if f.Seq > l.theirs {
			_ = l.publish(f)
		}
	}
}

// take puts a message of the other end into the queue, unless it is a sign of life, or has been heard before, or
// comes too early. The error says why the message is refused.
func (l *link) take(data []byte) error {
	if len(data) > maxFrame {
		return fmt.Errorf("a message of %d bytes is refused: at most %d are allowed", len(data), maxFrame)
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		return errors.New("a message is refused: it cannot be read")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Now()
	if f.Got > l.theirs && f.Got <= l.sent {
		l.theirs, l.resent = f.Got, l.last
	}
	for len(l.kept) > 0 && l.kept[0].Seq <= f.Ack {
		l.size -= len(l.kept[0].Data)
		l.kept = l.kept[1:]
		l.room.Broadcast()
	}
	if f.Again && l.last.Sub(l.resent) > again/2 {
		l.resend()
	}
	switch {
	case f.Seq == l.heard+1:
		select {
		case l.queue <- f:
			l.heard++
		default:
			return errors.New("a message is refused: more than allowed are on the way")
		}
	case f.Seq > l.heard:
		_ = l.publish(frame{Again: true})
	}
	return nil
}

// finish records that a frame of the queue was processed.
func (l *link) finish(f frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = f.Seq
	if l.done-l.acked >= ackEvery || f.End || len(l.queue) == 0 && len(f.Data) > window/8 {
		_ = l.publish(frame{})
	}
}

// silent is the time since the last message of the other end.
func (l *link) silent(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.last)
}

// settled reports whether the other end has done everything.
func (l *link) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kept) == 0
}
