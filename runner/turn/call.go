package turn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ralph/logs"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/prompt"
	"ralph/runner/task/store"
	"ralph/runner/turn/edits"
	"ralph/runner/turn/protect"
	"ralph/state"
)

// call is what is known of the agent call once it is over.
type call struct {
	made       bool
	notStarted string
	cancelled  bool
	outcome    agent.Outcome
	transcript *agent.Transcript
	counted    state.Usage
	withheld   []string
	exit       ptyexec.Exit
	printed    int64
	edits      []edits.Edit[Plan] // of the plan, by people
}

// Request is what the agent's row needs to build the command of the call.
func (a Assignment) Request(env []string) agent.Request {
	a.Prompt.Locked = a.Sandbox.Locks()
	return agent.Request{
		ArgvCall: agent.ArgvCall{Prompt: prompt.Build(a.Prompt), Model: a.Agent.Model, AllowedTools: a.Agent.AllowedTools,
			PermissionMode: a.Agent.PermissionMode, Session: a.Agent.Session.ID, Settings: a.Agent.Settings,
			Contained: a.Sandbox.On()},
		Program: a.Agent.Program, Dir: a.Dir, Env: env, Filter: a.Agent.Filter, Root: os.Geteuid() == 0,
	}
}

// call runs the agent in its pty and folds what it prints.
func (t *turn) call(ctx context.Context, before Plan) (call, error) {
	spec, request := t.a.Agent.Spec, t.a.Request(slices.Concat(t.w.env(), []string{state.InsideVar + "=" + t.a.Origin.Run}))
	out, err := OpenRawLog(t.a.LogDir, t.a.Origin.Iteration, request.Prompt, t.secrets)
	if err != nil {
		return call{}, err
	}
	defer out.Close() // its error is in Err, too
	cmd, clean, err := spec.Prepare(request)
	if err != nil {
		return call{}, err
	}
	defer clean()
	box := t.box()
	box.Open, box.Notes = t.plan.Open(), state.AgentNotes()
	box.Agent = spec.Env
	t.awaitProgram(ctx, cmd)
	if cmd, err = box.Wrap(cmd); err != nil {
		return call{notStarted: err.Error()}, nil
	}
	cmd.Size, cmd.Resize, cmd.Kill, cmd.Spare = t.w.Size, t.w.Resize, t.w.Kill, &t.w.spare
	cmd.Timeout, cmd.IdleTimeout, cmd.FinalGrace, cmd.KillGrace = t.a.Bounds.Timeout, t.a.Bounds.IdleTimeout,
		finalGrace, killGrace
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.tell(state.Phase{Name: state.PhaseAgent})
	t.plan.CallStarts(cmd.Cover)
	c := call{transcript: &agent.Transcript{Resumed: request.Session != ""}}
	watch := edits.Follow(protect.Watched(t.a.Plan, before), edits.Place{Below: box.Below(), Hidden: box.InContainer()}, func() Plan { return store.Read(t.a.Plan) })
	cmd.Started = watch.Started
	silence := activity{Dir: t.a.Dir, Plain: spec.Format == agent.FormatText}
	listener := t.listener(c.transcript)
	decoder := spec.NewDecoder(watch.Listen(followActivity(&cmd, &silence, listener.take)))
	if request.Session != "" {
		decoder.Resume(t.a.Agent.Session.Counted)
	}
	c.exit, err = ptyexec.Run(ctx, cmd, func(p []byte) bool {
		recorded := make(chan error, 1)
		go func() { recorded <- out.Write(p) }() // beside the decoder: in a flood each takes about as long
		_, _ = decoder.Write(p)                  // never fails
		if err := <-recorded; err != nil {
			cancel(err) // ralph must not spend money on a call that it cannot record
		}
		if decoder.Stuck() || c.transcript.Repeats != "" {
			cancel(nil)
		}
		return decoder.Final()
	})
	c.edits, t.w.Size = watch.Stop(), c.exit.Size // the terminal may have been resized
	decoder.Close()
	listener.spent.tell()
	if errors.Is(err, ptyexec.ErrNotFound) || errors.Is(err, ptyexec.ErrNotExecutable) || errors.Is(err, ptyexec.ErrNotConfined) {
		return call{notStarted: err.Error()}, nil
	}
	if err == nil {
		err = out.Close()
	}
	c.made, c.counted, c.printed = true, decoder.Counted(), out.Printed
	c.cancelled = c.exit.Cause == ptyexec.CauseCancelled && !decoder.Stuck() && c.transcript.Repeats == ""
	c.outcome = spec.Classify(c.transcript, c.exit, time.Now().Add(-t.w.ClockOffset))
	if c.outcome.Class == ending.Auth {
		c.withheld = request.Filter.Withheld(spec, request)
	}
	return c, err
}

// How long a program may be gone while it updates itself, and how often ralph looks for it.
const (
	gonePatience = 5 * time.Minute
	gonePoll     = 200 * time.Millisecond
)

// awaitProgram waits for the agent's program if it was there in an earlier turn of this run.
func (t *turn) awaitProgram(ctx context.Context, cmd ptyexec.Command) {
	if t.w.Shared == nil { // the only turn of its worker
		return
	}
	found := &t.w.Shared.found
	_, err := ptyexec.LookUp(cmd)
	if _, known := found.Load(cmd.Args[0]); err != nil && known {
		t.tell(state.Retry{Text: fmt.Sprintf("%v; it was there before: waiting for it, at most %s", err, gonePatience)})
		for began := time.Now(); err != nil && ctx.Err() == nil && time.Since(began) < gonePatience; time.Sleep(gonePoll) {
			_, err = ptyexec.LookUp(cmd)
		}
	}
	if err == nil {
		found.Store(cmd.Args[0], true)
	}
}

func (w *Worker) env() []string {
	if w.Env == nil {
		return os.Environ()
	}
	return w.Env
}

// mostRaw bounds the output that is kept of one call, in bytes.
const mostRaw = 256 << 20

// RawLog takes the output of one call. It is not safe for concurrent use.
type RawLog struct {
	Printed int64 // bytes so far
	Err     error // why nothing more can be kept; nil: more can

	file *os.File // nil: nothing is kept
	out  *logs.Redactor
}

// OpenRawLog keeps the prompt of a call in dir and returns the log for its output. Secrets
// are hidden in both. An empty dir keeps nothing.
func OpenRawLog(dir string, iteration int, prompt string, secrets logs.Values) (*RawLog, error) {
	if dir == "" {
		return &RawLog{}, nil
	}
	kept := state.RunLogs{Dir: dir}
	if err := kept.SavePrompt(iteration, secrets.Redact(prompt)); err != nil {
		return nil, err
	}
	file, err := kept.OpenRaw(iteration)
	if err != nil {
		return nil, err
	}
	return &RawLog{file: file, out: logs.NewRedactor(file, secrets)}, nil
}

// Write keeps p while the call has printed at most mostRaw bytes. It returns Err.
func (l *RawLog) Write(p []byte) error {
	room := mostRaw - l.Printed
	l.Printed += int64(len(p))
	if l.file == nil || l.Err != nil || room <= 0 {
		return l.Err
	}
	_, err := l.out.Write(p[:min(int64(len(p)), room)])
	if err == nil && int64(len(p)) >= room {
		_, err = l.out.Write([]byte("\n[ralph keeps no more of what this call prints]\n"))
	}
	return l.fail(err)
}

// Close writes the rest. It returns Err.
func (l *RawLog) Close() error {
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.out.Close(), l.file.Close())
	l.file = nil
	return l.fail(err)
}

func (l *RawLog) fail(err error) error {
	if err != nil && l.Err == nil {
		l.Err = fmt.Errorf("keep raw output: %w", err)
	}
	return l.Err
}

const (
	// silentToolFactor is how much longer a call may be silent while a tool call is open:
	// a build or a test may take that long.
	silentToolFactor = 3
	// mostFiles bounds the look at the workspace, so that it takes a second at most.
	mostFiles = 200_000
)

// activity tells whether a silent agent still works: it waits for a tool, or to try its call to the model again, or
// files of its workspace change. It follows one agent call. It is safe for concurrent use.
type activity struct {
	Dir   string        // the workspace
	Idle  time.Duration // silence after which a call without any activity is stuck
	Plain bool          // the agent prints no records, so that its CLI's lines are as its own words

	mu    sync.Mutex
	open  map[string]bool // ids of tool calls without an answer
	again time.Time       // when its CLI tries again, as it has announced; zero: it has not
}

// followActivity makes cmd ask w for the agent's activity, and returns a function that listens for
// it and hands everything on.
func followActivity(cmd *ptyexec.Command, w *activity, listen func(state.Payload)) func(state.Payload) {
	w.Idle, cmd.More = cmd.IdleTimeout, w.More
	return func(p state.Payload) { w.See(p); listen(p) }
}

// See takes what the agent reports.
func (w *activity) See(p state.Payload) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch d := p.(type) {
	case state.Retry:
		w.announced(d.Text)
	case state.AgentError:
		w.said(d.Text)
	case state.Tool:
		w.again = time.Time{}
		if w.open == nil {
			w.open = map[string]bool{}
		}
		w.open[d.ID] = true
	case state.ToolResult:
		if delete(w.open, d.Tool.ID); d.Tool.ID == "" {
			clear(w.open)
		}
	case state.Text: // not every agent reports what its tools answered
		clear(w.open)
		if d.Source == state.FromModel {
			w.again = time.Time{}
		}
		if d.Source == state.FromCLI || w.Plain {
			w.said(d.Text)
		}
	case state.FinalMessage:
		clear(w.open)
	}
}

// said takes a line of the CLI's own, which may announce another try.
func (w *activity) said(line string) {
	if ending.AnnouncesRetry(line) {
		w.announced(line)
	}
}

// mostAnnounced bounds what a notice can ask for: it may be the model's own words.
const mostAnnounced = time.Hour

// announced takes a retry notice, which may say when the CLI tries again.
func (w *activity) announced(notice string) {
	if delay := ending.Delay(notice); delay > 0 {
		w.again = time.Now().Add(min(delay, mostAnnounced))
	}
}

// More is how much longer an agent may be silent that has been so for this time.
// Zero or less: it is stuck.
func (w *activity) More(silent time.Duration) time.Duration {
	w.mu.Lock()
	busy, again := len(w.open) > 0, w.again
	w.mu.Unlock()
	if wait := time.Until(again) + w.Idle; !again.IsZero() && wait > 0 {
		return wait
	}
	if more := silentToolFactor*w.Idle - silent; busy && more > 0 {
		return more
	}
	now := time.Now()
	changed := newest(w.Dir, now.Add(-w.Idle))
	return min(changed.Sub(now)+w.Idle, w.Idle)
}

// newest returns when a file below dir last changed. It stops at the first time after since.
// What ralph and git keep for themselves does not count, and neither does what
// package managers install.
func newest(dir string, since time.Time) time.Time {
	skipped := []string{".git", ".ralph", "node_modules"}
	var latest time.Time
	files := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if files++; files > mostFiles || latest.After(since) {
			return fs.SkipAll
		}
		if err != nil {
			return nil // it may have just been removed
		}
		if d.IsDir() && slices.Contains(skipped, d.Name()) {
			return fs.SkipDir
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(latest) {
			latest = info.ModTime()
		}
		return nil
	})
	return latest
}
