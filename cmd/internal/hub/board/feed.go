package board

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"ralph/state"
	"ralph/state/act"
	"ralph/state/report"
	"ralph/state/view"
	"ralph/state/view/follow"
)

const (
	redraw = 150 * time.Millisecond // between two updates of a busy run
	linger = 30 * time.Second       // how long a feed waits for another viewer
)

// feed follows the run of one project. All of its viewers share it.
type feed struct {
	*topic
	project
	board *Board
	ready chan struct{} // closed after the first look

	mu    sync.Mutex
	model view.Model
	slow  slow
	poke  func() // draws again
}

// feed returns the feed of a project, once it has read the run; nil: the client has gone.
func (b *Board) feed(r *http.Request, p project) *feed {
	b.mu.Lock()
	f := b.feeds[p.Dir]
	if f == nil {
		f = &feed{topic: newTopic(), project: p, board: b, ready: make(chan struct{})}
		b.feeds[p.Dir] = f
		go f.follow(b.ctx) //nolint:contextcheck // it serves the viewers that come later, too
	}
	f.enter()() // for a viewer who may follow
	b.mu.Unlock()
	select {
	case <-f.ready:
		return f
	case <-r.Context().Done():
		return nil
	}
}

// over ends a feed that nobody looks at.
func (f *feed) over() bool {
	f.board.mu.Lock()
	defer f.board.mu.Unlock()
	if f.idle() < linger {
		return false
	}
	delete(f.board.feeds, f.Dir)
	return true
}

func (f *feed) follow(ctx context.Context) {
	from, ready := follow.New(f.Dir, time.Now), sync.OnceFunc(func() { close(f.ready) })
	defer from.Close()
	log, drawn := view.Log{LineOptions: view.LineOptions{Dir: f.Dir}}, time.Time{}
	f.poke = from.Poke
	again := time.AfterFunc(time.Hour, from.Poke)
	defer again.Stop()
	for {
		up := from.Poll()
		f.mu.Lock()
		f.model.Apply(up)
		var lines []view.Line
		for _, e := range up.LogEvents() {
			_, ends := e.Data.(state.IterationEnd)
			f.slow.due = f.slow.due || ends
			lines = append(lines, log.Lines(e)...)
		}
		f.mu.Unlock()
		lines = lines[max(0, len(lines)-maxLog):]
		var parts []part
		if wait := redraw - time.Since(drawn); wait > 0 {
			again.Reset(wait)
		} else if !from.More() || drawn.IsZero() { // a long log is shown before all of it is read
			drawn = time.Now()
			parts = f.draw(ctx, drawn)
		}
		f.put(parts, lines)
		if !drawn.IsZero() {
			ready()
		}
		if f.over() || !from.Wait(ctx) {
			return
		}
	}
}

// draw renders the parts of the page of a run.
func (f *feed) draw(ctx context.Context, now time.Time) (parts []part) {
	d := f.data(ctx, now)
	for _, id := range runParts() {
		parts = append(parts, part{ID: id, HTML: render(id, d)})
	}
	return parts
}

// slowEvery is how old the slow parts of a page may get.
const slowEvery = 15 * time.Second

// slow has the parts of a page that take long: the plan, as ralph reads it, and a fold of all events.
type slow struct {
	tasks  []act.Task
	report *report.Report // nil: nothing is known
	found  time.Time
	busy   bool
	due    bool // to be read again, such as after an iteration
}

// fresh returns the slow parts as last read. If they are old, it starts to read them again in the background.
func (f *feed) fresh(ctx context.Context, now time.Time) slow {
	s := &f.slow
	if !s.busy && (s.due || now.Sub(s.found) > slowEvery) {
		s.busy, s.due = true, false
		run := f.model.Status.RunID
		go func() {
			tasks := f.tasks(ctx)
			rep := f.board.reportOf(f.project, run)
			f.mu.Lock()
			f.slow.tasks, f.slow.report, f.slow.found, f.slow.busy = tasks, rep, time.Now(), false
			f.mu.Unlock()
			f.poke()
		}()
	}
	return *s
}

// tasks asks ralph for the plan. Without one, there are none.
func (f *feed) tasks(ctx context.Context) (all []act.Task) {
	out, err := act.In(f.board.Ralph, f.Dir).Output(ctx, "task", "list", "--json")
	if err != nil || json.Unmarshal(out, &all) != nil {
		return nil
	}
	return all
}
