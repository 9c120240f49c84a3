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
	letters []letter // in the order in which their keys came first
	quiet   time.Time
	closing bool
	started bool
	news    chan struct{}
	done    chan struct{}
	ctx     context.Context // of the goroutine
	cancel  context.CancelFunc
}

type letter struct {
	key  string // names it to people
	send func(context.Context) error
	at   time.Time // not before
	told string
}

// ErrLater is what send returns when there is nothing to send yet.
var ErrLater = errors.New("later")

// Put queues what has to be sent.
func (b *Outbox) Put(key string, send func(context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.started {
		b.started, b.news, b.done = true, make(chan struct{}, 1), make(chan struct{})
		b.ctx, b.cancel = context.WithCancel(context.Background())
		go b.work()
	}
	b.put(letter{key: key, send: send})
	select {
	case b.news <- struct{}{}:
	default:
	}
}

func (b *Outbox) put(l letter) {
	if i := slices.IndexFunc(b.letters, func(o letter) bool { return o.key == l.key }); i >= 0 {
		b.letters[i] = l
		return
	}
	b.letters = append(b.letters, l)
}

// next takes the letter that may be sent now, or says how long there is none. When the Outbox closes, each gets one try.
func (b *Outbox) next(now time.Time) (l letter, wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait = time.Hour
	for i, l := range b.letters {
		at := l.at
		if at.Before(b.quiet) {
			at = b.quiet
		}
		if b.closing {
			at = b.quiet
		}
		if !at.After(now) {
			b.letters = slices.Delete(b.letters, i, i+1)
			return l, 0, true
		}
		wait = min(wait, at.Sub(now))
	}
	return letter{}, wait, false
}

func (b *Outbox) work() {
	defer close(b.done)
	for b.ctx.Err() == nil {
		l, wait, ok := b.next(time.Now())
		if !ok {
			b.mu.Lock()
			over := b.closing && len(b.letters) == 0
			b.mu.Unlock()
			if over {
				return
			}
			select {
			case <-time.After(wait):
			case <-b.news:
			case <-b.ctx.Done():
			}
			continue
		}
		if err := l.send(b.ctx); err != nil {
			b.failed(l, err)
		}
	}
}

// failed queues a letter again, unless there is a newer one.
func (b *Outbox) failed(l letter, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var limit *Error
	limited := errors.As(err, &limit) && !limit.Until.IsZero()
	if limited {
		b.quiet = limit.Until
	}
	later := errors.Is(err, ErrLater)
	if !later && l.told != err.Error() {
		l.told = err.Error()
		b.Tell(l.key + ": " + l.told)
	}
	l.at = time.Now().Add(b.Pause)
	switch {
	case b.closing && !limited: // it had its last try
	case !slices.ContainsFunc(b.letters, func(o letter) bool { return o.key == l.key }):
		b.letters = append(b.letters, l)
	}
}

// Close sends what is left, waits for that at most so long, and says what was not sent.
func (b *Outbox) Close(grace time.Duration) {
	b.mu.Lock()
	b.closing = true
	started := b.started
	b.mu.Unlock()
	if !started {
		return
	}
	select {
	case b.news <- struct{}{}:
	default:
	}
	select {
	case <-b.done:
	case <-time.After(grace):
		b.cancel()
		<-b.done
	}
	for _, l := range b.letters {
		b.Tell(l.key + ": not sent before the run ended")
	}
}
