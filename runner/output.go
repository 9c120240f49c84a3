package runner

import (
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/view"
)

const (
	eventsMiB, eventsKept = 20, 5
	liveMiB, liveKept     = 10, 3
)

// output is everything that a run writes for those who watch it: status.json,
// events.jsonl, live.log, and the screen of whoever started it.
type output struct {
	w    *state.Writer
	log  hclog.Logger
	show func(state.Event) // nil: nobody watches

	events, live *logs.File
	seq          int64

	mu sync.Mutex // for what follows
	s  state.Status
}

// openOutput opens the files. Those of an earlier run are rotated, unless this
// one resumes it: then the numbers of the events continue.
func openOutput(d Deps) (*output, error) {
	o := &output{w: d.State, log: d.Log, show: d.Show}
	var err error
	if o.events, err = logs.OpenFile(d.State.EventsPath(), eventsMiB, eventsKept); err != nil {
		return nil, err
	}
	if o.live, err = logs.OpenFile(d.State.LiveLogPath(), liveMiB, liveKept); err != nil {
		return nil, err
	}
	if d.Resumed {
		last, err := d.State.LastEvent(d.RunID)
		o.lost(err)
		o.seq = last.Seq
		return o, nil
	}
	if info, statErr := os.Stat(d.State.EventsPath()); statErr == nil && info.Size() > 0 {
		err = o.events.Rotate()
	}
	return o, err
}

// status changes status.json in memory; save or the next beat writes it.
func (o *output) status(change func(*state.Status)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.s)
}

// save writes status.json with a fresh timestamp.
func (o *output) save() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.s.Timestamp = time.Now()
	return o.w.SaveStatus(o.s)
}

// event numbers an event, writes it and shows it.
func (o *output) event(e state.Event) {
	o.seq++
	e.Seq = o.seq
	if data, err := json.Marshal(e); err == nil {
		_, err = o.events.Write(append(data, '\n'))
		o.lost(err)
	}
	if text := view.Render(e); text != "" { // people read it in a terminal
		_, err := o.live.Write([]byte(text))
		o.lost(err)
	}
	if o.show != nil {
		o.show(e)
	}
}

// reopen follows the logs after somebody removed them.
func (o *output) reopen() {
	for _, f := range []*logs.File{o.events, o.live} {
		o.lost(f.Reopen())
	}
}

func (o *output) flush() {
	for _, f := range []*logs.File{o.events, o.live} {
		o.lost(f.Flush())
	}
}

func (o *output) lost(err error) {
	if err != nil {
		o.log.Warn("log lost", logs.KeyError, err)
	}
}

// tell reports something of the run itself.
func (r *Run) tell(p state.Payload) { r.tellOf(r.last.Task, p) }

func (r *Run) tellOf(t task.Task, p state.Payload) {
	r.out.event(state.NewEvent(r.origin(t), time.Now(), turn.Redacted(p)))
}

// heard follows a turn: its events go into status.json, and on.
func (r *Run) heard(e state.Event) {
	switch d := e.Data.(type) {
	case state.Phase:
		if d.Name == state.PhaseObserving {
			r.repairState()
		}
		r.out.status(func(s *state.Status) { showPhase(s, d) })
	case state.SessionStart:
		r.out.status(func(s *state.Status) {
			s.SessionID = d.ID
			if d.Model != "" {
				s.Model = d.Model
			}
		})
	case state.Tool:
		r.out.status(func(s *state.Status) { s.LastTool = termtext.Line(d.Name + " " + d.Arg) })
	case state.Usage:
		r.out.status(func(s *state.Status) {
			s.Usage = r.mem.Usage.Add(d)
			s.TokensThisHour = r.calls.Tokens + d.Total()
		})
	case state.Limit:
		r.out.status(func(s *state.Status) { s.Limit = &d })
	case state.Check:
		r.out.status(func(s *state.Status) { showCheck(s, d) })
	}
	r.out.event(e)
}

func showPhase(s *state.Status, p state.Phase) {
	s.Phase = p.Name
	if p.Name != state.PhaseChecking {
		return
	}
	s.LastTool = "check " + p.Check
	switch p.Run {
	case state.CheckAgain:
		s.LastTool += ", second run"
	case state.CheckBaseline:
		s.LastTool += ", before the work"
	}
	c := checkStatus(s, p.Check)
	c.Result, c.StartedAt = "running", time.Now()
}

func showCheck(s *state.Status, check state.Check) {
	c := checkStatus(s, check.Name)
	c.Result, c.Seconds = "passed", check.Seconds
	switch {
	case check.Passed:
		c.RedSince = time.Time{}
	default:
		c.Result = "failed"
		if c.RedSince.IsZero() {
			c.RedSince = time.Now()
		}
	}
}

// checkStatus finds the row of a check, and makes it the first time.
func checkStatus(s *state.Status, name string) *state.CheckStatus {
	for i := range s.Checks {
		if s.Checks[i].Name == name {
			return &s.Checks[i]
		}
	}
	s.Checks = append(s.Checks, state.CheckStatus{Name: name})
	return &s.Checks[len(s.Checks)-1]
}

// repairState makes the state directory whole again after an agent damaged it.
func (r *Run) repairState() {
	lost, err := r.d.State.Ensure()
	if err != nil {
		r.inbox.Fail(err)
		return
	}
	r.out.reopen()
	r.past.lostState = lost
}
