package fleet

// This file has one end of a session over a way that may lose messages: each arrives once, and in order.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// linkFrame is a message of a session: a line of JSON, and the data as it is.
type linkFrame struct {
	Seq  uint64 `json:"n,omitempty"` // from 1 on; 0: a sign of life
	Data []byte `json:"-"`
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
	// linkBeatEvery is the time between heartbeats.
	linkBeatEvery = 3 * time.Second
	// maxFrame is the size of a message. A larger one is refused.
	maxFrame = 1 << 20
	// linkWindow is how many bytes may be on the way: a slow side makes the other one wait, so nothing piles up.
	linkWindow = 4 << 20

	windowFrames = 1024
	ackEvery     = 16 // frames
	linkAgain    = time.Second
)

// errOver is the error of Send when the session is over.
var errOver = errors.New("the session is over")

// link is one end of a session. Each end keeps what the other one has not acknowledged, and sends it again.
type link struct {
	Queue chan linkFrame // heard, and not finished
	Ended chan struct{}  // closed by Close

	publish func(data []byte, alive bool) error

	mu      sync.Mutex
	room    *sync.Cond  // signalled when there is more of it
	kept    []linkFrame // sent, and not acknowledged
	size    int         // of kept, in bytes
	over    bool
	sent    uint64
	theirs  uint64 // the number that the other end has heard last
	heard   uint64
	done    uint64 // of heard
	acked   uint64 // of done
	waiting int    // bytes heard and not done
	last    time.Time
	resent  time.Time
}

// newLink begins a session. publish sends a message to the other end, and may lose it; alive is true for a heartbeat.
func newLink(publish func(data []byte, alive bool) error) *link {
	l := &link{publish: publish, last: time.Now(), Queue: make(chan linkFrame, windowFrames+1), Ended: make(chan struct{})}
	l.room = sync.NewCond(&l.mu)
	return l
}

// Send sends a frame. The other end gets frames once, and in order. It waits while the other end is behind.
func (l *link) Send(f linkFrame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.over && !f.End && len(l.kept) > 0 && (l.size+len(f.Data) > linkWindow || len(l.kept) >= windowFrames) {
		l.room.Wait()
	}
	if l.over {
		return errOver
	}
	l.sent++
	f.Seq = l.sent
	l.kept = append(l.kept, f)
	l.size += len(f.Data)
	return l.put(f)
}

// Close wakes everybody who waits for room or for a frame.
func (l *link) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.over = true
		close(l.Ended)
		l.room.Broadcast()
	}
}

// Heartbeat tells the other end that this one lives, and sends again what it has not heard for long.
func (l *link) Heartbeat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) > 0 && time.Since(l.resent) > 2*linkBeatEvery {
		l.resend()
	}
	_ = l.put(linkFrame{})
}

// put sends a frame as it is. The lock is held.
func (l *link) put(f linkFrame) error {
	f.Got, f.Ack, l.acked = l.heard, l.done, l.done
	data, err := f.encode()
	if err != nil {
		return err
	}
	return l.publish(data, f.Seq == 0)
}

func (f linkFrame) encode() ([]byte, error) {
	head, err := json.Marshal(f)
	return slices.Concat(head, []byte("\n"), f.Data), err
}

func (l *link) resend() {
	l.resent = time.Now()
	for _, f := range l.kept {
		if f.Seq > l.theirs {
			_ = l.put(f)
		}
	}
}

// Take puts a message of the other end into the queue, unless it is a sign of life, or has been heard before, or
// comes too early. The error says why the message is refused.
func (l *link) Take(data []byte) error {
	if len(data) > maxFrame {
		return fmt.Errorf("a message of %d bytes is refused: at most %d are allowed", len(data), maxFrame)
	}
	var f linkFrame
	head, rest, found := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(head, &f); err != nil || !found {
		return errors.New("a message is refused: it cannot be read")
	}
	f.Data = rest
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
	if f.Again && l.last.Sub(l.resent) > linkAgain/2 {
		l.resend()
	}
	switch {
	case f.Seq == l.heard+1:
		if l.waiting+len(f.Data) > linkWindow+maxFrame { // the last frame does not wait
			return errors.New("a message is refused: more than allowed are on the way")
		}
		select {
		case l.Queue <- f:
			l.heard++
			l.waiting += len(f.Data)
		default:
			return errors.New("a message is refused: more than allowed are on the way")
		}
	case f.Seq > l.heard:
		_ = l.put(linkFrame{Again: true})
	}
	return nil
}

// Finish records that a frame of the queue was processed.
func (l *link) Finish(f linkFrame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = f.Seq
	l.waiting -= len(f.Data)
	if l.done-l.acked >= ackEvery || f.End || len(l.Queue) == 0 && len(f.Data) > linkWindow/8 {
		_ = l.put(linkFrame{})
	}
}

// Silent is the time since the last message of the other end.
func (l *link) Silent(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.last)
}

// Settled reports whether the other end has done everything.
func (l *link) Settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kept) == 0
}
