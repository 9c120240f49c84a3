package forge

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Outbox sends what a run has to say to a forge, in a goroutine of its own: no turn waits for it. Of what has the same key,
// only the latest is sent. What fails is sent again until it works or the run ends.
type Outbox struct {
	Tell func(line string) // gets what failed, in a line, from that goroutine
	// Pause is how long it waits before it sends something again.
	Pause time.Duration

	mu      sync.Mutex
	letters []letter  // in the order in which their keys came first
	end     time.Time // of the last tries, when it closes; zero: it does not
	news    chan struct{}
	done    chan struct{}
	ctx     context.Context    // of the goroutine
	stop    context.CancelFunc // nil: nothing was put into it yet
}

type letter struct {
	key  string // names it to people
	send func(context.Context) error
	told string // what was said about it
}

// ErrLater is what send returns when there is nothing to send yet.
var ErrLater = errors.New("later")

// Put queues what has to be sent.
func (b *Outbox) Put(key string, send func(context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop == nil {
		b.news, b.done = make(chan struct{}, 1), make(chan struct{})
		b.ctx, b.stop = context.WithCancel(context.Background())
		go b.work()
	}
	b.keep(letter{key: key, send: send}, true)
	b.wake()
}

// keep queues a letter, unless there is a newer one with its key.
func (b *Outbox) keep(l letter, newest bool) {
	i := slices.IndexFunc(b.letters, func(o letter) bool { return o.key == l.key })
	switch {
	case i < 0:
		b.letters = append(b.letters, l)
	case newest:
		b.letters[i] = l
	}
}

func (b *Outbox) wake() {
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// work sends all letters when there is news, and what failed again after a pause.
func (b *Outbox) work() {
	defer close(b.done)
	var quiet time.Time // the end of a rate limit
	for {
		b.mu.Lock()
		all, end := b.letters, b.end
		b.letters = nil
		b.mu.Unlock()
		for _, l := range all {
			again := true
			if b.ctx.Err() == nil && !time.Now().Before(quiet) {
				err := l.send(b.ctx)
				if limit := (*Error)(nil); errors.As(err, &limit) && limit.Until.After(quiet) {
					quiet = limit.Until
				}
				again = err != nil && (end.IsZero() || time.Now().Before(quiet))
				if err != nil && !errors.Is(err, ErrLater) && l.told != err.Error() {
					l.told = err.Error()
					b.Tell(l.key + ": " + l.told)
				}
			}
			if again {
				b.mu.Lock()
				b.keep(l, false)
				b.mu.Unlock()
			}
		}
		pause := time.Until(quiet)
		if !end.IsZero() && (b.ctx.Err() != nil || pause <= 0 || quiet.After(end)) {
			return
		}
		if pause <= 0 {
			pause = b.Pause
		}
		select {
		case <-b.news:
		case <-time.After(pause):
		}
	}
}

// Close sends what is left, waits for that at most so long, and says what was not sent.
func (b *Outbox) Close(grace time.Duration) {
	b.mu.Lock()
	b.end = time.Now().Add(grace)
	b.mu.Unlock()
	if b.stop == nil {
		return
	}
	defer b.stop()
	b.wake()
	select {
	case <-b.done:
	case <-time.After(grace):
		b.stop()
		<-b.done
	}
	for _, l := range b.letters {
		b.Tell(l.key + ": not sent before the run ended")
	}
}
