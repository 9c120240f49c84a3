package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/cmd/internal/config"
	"ralph/state"
)

// receiver is a service on loopback that fails first.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
	bad int // answers to come that are failures
}

func newReceiver(t *testing.T, bad int) *receiver {
	t.Helper()
	r := &receiver{bad: bad}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.bad > 0 {
			r.bad--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.got = append(r.got, q.Header.Get("Title")+"\n"+string(body))
		_, _ = io.WriteString(w, "{}") // ntfy answers in JSON
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.got...)
}

// project is a run whose runner is this test.
type project struct {
	t   *testing.T
	dir string
	w   *state.Writer
	seq int64
	run string
	ago time.Duration // how long ago the events to come were
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{t: t, dir: filepath.Join(t.TempDir(), "shop"), run: "run-1"}
	w, _, err := state.Acquire(filepath.Join(p.dir, ".ralph"), state.Owner{PID: os.Getpid(), RunID: p.run, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	p.w = w
	p.save(state.StatusRunning)
	p.event(state.RunStart{Agent: "claude"})
	return p
}

func (p *project) save(status string) {
	p.t.Helper()
	s := state.Status{RunID: p.run, Status: status, LoopCount: 2, Timestamp: time.Now(), Usage: state.Usage{CostUSD: 1.5}, Task: state.TaskStatus{Done: 2, Total: 3}}
	if err := p.w.SaveStatus(s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) event(d state.Payload) {
	p.t.Helper()
	p.seq++
	e := state.NewEvent(state.Origin{Run: p.run}, time.Now().Add(-p.ago), d)
	e.Seq = p.seq
	data, err := json.Marshal(e)
	if err != nil {
		p.t.Fatal(err)
	}
	f, err := os.OpenFile(p.w.EventsPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(data, '\n'))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	_ = f.Close()
}

// watch starts a watcher; the func waits for its end.
func (p *project) watch(s config.Notifications) func() {
	if s.NotifyOn == nil {
		s.NotifyOn = []string{"ended", "halted", "question", "review"}
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	done := make(chan error, 1)
	w := &Watch{HubJob: config.HubJob{Notifications: s, Dir: p.dir, Run: p.run}, Logger: hclog.NewNullLogger()}
	go func() { done <- w.Run(ctx) }()
	return func() {
		p.t.Helper()
		defer cancel()
		if err := <-done; err != nil || ctx.Err() != nil {
			p.t.Errorf("the watcher did not end by itself: %v, %v", err, ctx.Err())
		}
	}
}

// outage follows the run for an address that cannot be reached for 20 minutes. It returns the kinds of what was sent.
func (p *project) outage(meanwhile func()) (sent []state.Kind) {
	p.t.Helper()
	if err := forgetOld(p.w.Reader); err != nil {
		p.t.Fatal(err)
	}
	began := time.Now()
	w := &Watch{HubJob: config.HubJob{Notifications: config.Notifications{NotifyOn: []string{"ended", "waiting", "question"}}, Dir: p.dir, Run: p.run},
		Logger: hclog.NewNullLogger(), r: p.w.Reader, began: began}
	go meanwhile()
	w.follow(p.t.Context(), "an address", func(e state.Event) sender {
		if w.notification("", e) == nil {
			return nil
		}
		return func(context.Context) error {
			if time.Since(began) < 20*time.Minute {
				return errors.New("no network")
			}
			sent = append(sent, e.Kind)
			return nil
		}
	})
	return sent
}

// rotate starts a new file of events.
func (p *project) rotate() {
	p.t.Helper()
	path := p.w.EventsPath()
	if err := os.Rename(path, filepath.Join(filepath.Dir(path), "events-"+time.Now().Format("2006-01-02T15-04-05.000")+".jsonl")); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) end() {
	p.save(state.StatusCompleted)
	p.event(state.RunEnd{Decision: state.Decision{Rule: "complete", Reason: "all done"}})
	if err := p.w.Release(); err != nil {
		p.t.Fatal(err)
	}
}

func ntfy(r *receiver) string {
	return "ntfy://" + strings.TrimPrefix(r.URL, "http://") + "/topic?scheme=http"
}

func TestWatch_end_isReportedOnceByTwoWatchersAndAfterARestart(t *testing.T) {
	r, p := newReceiver(t, 0), newProject(t)
	s := config.Notifications{Notify: []string{ntfy(r)}}
	first, second := p.watch(s), p.watch(s)
	p.event(state.Question{ID: "q1", Ask: state.Ask{Text: "Which database?", Options: []string{"a", "b"}}})
	p.end()
	first()
	second()
	p.watch(s)()
	got := r.texts()
	if len(got) != 2 || !strings.Contains(got[0], "Which database?") || !strings.Contains(got[0], "ralph answer q1") {
		t.Fatalf("%d messages: %q", len(got), got)
	}
	for _, want := range []string{"ralph: shop: completed", "2 of 3 tasks done", "$1.50", "all done", "Next: ralph report"} {
		if !strings.Contains(got[1], want) {
			t.Errorf("no %q in %q", want, got[1])
		}
	}
}

func TestWatch_runnerThatDies_isReportedOnce(t *testing.T) {
	r, p := newReceiver(t, 0), newProject(t)
	s := config.Notifications{Notify: []string{ntfy(r)}}
	end := p.watch(s)
	if err := p.w.Release(); err != nil { // its status still says running
		t.Fatal(err)
	}
	end()
	p.watch(s)()
	if got := r.texts(); len(got) != 1 || !strings.Contains(got[0], "the runner died") || !strings.Contains(got[0], "Next: ralph resume") {
		t.Errorf("%q", got)
	}
}

// The next run may start before the watcher of the dead one is sure: it still has the lock, so nobody else tells it.
func TestWatch_runnerThatDies_isReportedOnceIfTheNextRunStartsSoon(t *testing.T) {
	r, p := newReceiver(t, 0), newProject(t)
	s := config.Notifications{Notify: []string{ntfy(r)}}
	first := p.watch(s)
	p.event(state.Question{ID: "q1"})
	for deadline := time.Now().Add(20 * time.Second); len(r.texts()) == 0 && time.Now().Before(deadline); {
		<-time.After(10 * time.Millisecond)
	}
	if err := p.w.Release(); err != nil {
		t.Fatal(err)
	}
	p.run, p.seq = "run-2", 0
	w, _, err := state.Acquire(filepath.Join(p.dir, ".ralph"), state.Owner{PID: os.Getpid(), RunID: p.run, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	p.w = w
	p.save(state.StatusRunning)
	p.rotate()
	p.event(state.RunStart{Agent: "claude", Killed: "run-1"})
	second := p.watch(s)
	first()
	p.end()
	second()
	got := strings.Join(r.texts(), "\n")
	if len(r.texts()) != 3 || strings.Count(got, "the runner died") != 1 || strings.Count(got, "completed") != 1 {
		t.Errorf("%s", got)
	}
}

func TestWatch_eventsLongBeforeIt_areNotSent(t *testing.T) {
	r, p := newReceiver(t, 0), newProject(t)
	p.ago = 20 * time.Minute
	p.event(state.Question{ID: "q1"})
	p.end()
	p.watch(config.Notifications{Notify: []string{ntfy(r)}})()
	if got := r.texts(); len(got) != 1 || !strings.Contains(got[0], "completed") {
		t.Errorf("%q", got)
	}
}

func TestFollow_outage_nothingIsLost(t *testing.T) {
	for name, rotates := range map[string]bool{"one file": false, "rotated": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProject(t)
				p.event(state.Paused{})
				if rotates {
					p.rotate()
				}
				sent := p.outage(func() {
					for _, d := range []state.Payload{state.Question{ID: "q1"}, state.Question{ID: "q2"}} {
						<-time.After(2 * time.Minute)
						p.event(d)
						if rotates {
							p.rotate()
						}
					}
					<-time.After(time.Minute)
					p.end()
				})
				if got := fmt.Sprint(sent); got != "[paused question question run_end]" {
					t.Error(got)
				}
			})
		})
	}
}

func TestWatch_messages_keepTheirOrder(t *testing.T) {
	r, p := newReceiver(t, 0), newProject(t)
	end := p.watch(config.Notifications{Notify: []string{ntfy(r)}})
	var want []string
	for i := range 5 {
		p.event(state.Question{ID: fmt.Sprint("q", i)})
		p.event(state.Paused{}) // nobody asked for it
		want = append(want, fmt.Sprint("q", i))
	}
	p.end()
	end()
	got := r.texts()
	if len(got) != len(want)+1 {
		t.Fatalf("%d messages: %q", len(got), got)
	}
	for i, id := range want {
		if !strings.Contains(got[i], "ralph answer "+id+" ") {
			t.Errorf("message %d is not about %s: %q", i, id, got[i])
		}
	}
}

// What hangs holds up nobody else: it is let go only when the others have all.
func TestWatch_targetThatHangs_holdsUpNoOther(t *testing.T) {
	good, p := newReceiver(t, 0), newProject(t)
	told := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer func() { _, _ = io.WriteString(w, "{}") }()
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Error("the others got nothing meanwhile")
		}
	}))
	t.Cleanup(hanging.Close)
	end := p.watch(config.Notifications{Notify: []string{ntfy(&receiver{Server: hanging}), ntfy(good)}})
	p.end()
	for deadline := time.Now().Add(9 * time.Second); len(good.texts()) < 1 && time.Now().Before(deadline); {
		<-time.After(10 * time.Millisecond)
	}
	close(told)
	end()
	if got := good.texts(); len(got) != 1 {
		t.Errorf("%d messages: %q", len(got), got)
	}
}

// The watcher may see the end of a run when the next one has begun.
func TestWatch_end_hasTheFiguresOfItsOwnRun(t *testing.T) {
	r, p := newReceiver(t, 0), newProject(t)
	p.event(state.RunEnd{Decision: state.Decision{Rule: "ceilings", Reason: "1 of 1 iterations are used"}, Exit: 4,
		Status: state.StatusStopped, Done: 1, Total: 6, Iterations: 1, Usage: state.Usage{CostUSD: 2}, Next: "to continue: ralph resume"})
	next := state.Status{RunID: "run-2", Status: state.StatusRunning, Timestamp: time.Now(), Task: state.TaskStatus{Done: 2, Total: 6}}
	if err := p.w.SaveStatus(next); err != nil {
		t.Fatal(err)
	}
	if err := p.w.Release(); err != nil {
		t.Fatal(err)
	}
	p.watch(config.Notifications{Notify: []string{ntfy(r)}})()
	got := strings.Join(r.texts(), "\n")
	for _, want := range []string{"shop: stopped", "1 of 6 tasks done, 1 iteration, $2.00", "Next: to continue: ralph resume"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
