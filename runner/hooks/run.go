package hooks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
	"ralph/runner/sandbox"
	"ralph/runner/sandbox/gitkeep"
	"ralph/state"
	"ralph/state/projectfs"
)

// How much of an output is kept, in bytes.
const (
	headKept, tailKept = 2 << 10, 6 << 10
	maxScript          = 1 << 20 // of a script
)

// Set is the hooks of a run, and where they run. The zero value has none.
type Set struct {
	Hooks     []Hook
	Dir       string // the project
	Plan      string // its file; a sandbox leaves it writable
	Env       []string
	Filter    agent.EnvFilter
	Sandbox   sandbox.Contained
	Logs      string          // of the run; empty: none yet
	Kill      <-chan struct{} // closed: kill the hook
	Responder Responder
	// Emit gets an event for each hook.
	Emit    func(state.Payload)
	scripts map[string]string // content of the files that the commands name, at the start of the run
	sending sync.Mutex
}

// Verdict is what the hooks of a point say about what happens next. The zero value: continue.
type Verdict struct {
	Ran   bool     // at least one hook ran: files may have changed
	Block bool     // what Row.Veto names does not happen
	Skip  bool     // the task is put aside
	Abort bool     // the run ends
	Why   string   // of Block, Skip or Abort; empty: none of them
	Ends  string   // why the run is complete for the user; empty: no hook says so
	Notes []string // for the next prompt
	Calls int      // of agents
	Usage state.Usage
}

// At runs the hooks of a point, one after the other, until one blocks, puts the task
// aside or ends the run, or the context is cancelled. Without hooks it does nothing.
func (s *Set) At(ctx context.Context, p Point, facts func() Facts) Verdict {
	var v Verdict
	if s.scripts == nil {
		s.scripts = s.readScripts()
	}
	hooks := at(s.Hooks, p)
	if len(hooks) == 0 {
		return v
	}
	f := facts()
	f.Point, f.Project = p, s.Dir
	for _, h := range hooks {
		if ctx.Err() != nil || v.Block || v.Skip || v.Abort {
			break
		}
		if gate.Touched(f.Files, h.When) {
			changed := s.rewritten() // a script may put itself back
			o := s.runOne(ctx, h, f)
			if o.answer.Complete && (changed || s.rewritten()) {
				o.answer.Complete, o.answer.Note = false, "the script of a hook was changed in this run, so no hook ends it"
			}
			v.add(h, o)
			v.Ran = true
		}
	}
	return v
}

// readScripts reads the files of the project that the commands name.
func (s *Set) readScripts() map[string]string {
	all := map[string]string{}
	for _, h := range s.Hooks {
		for _, word := range strings.FieldsFunc(h.Command, func(r rune) bool { return strings.ContainsRune(" \t;&|<>()\"'", r) }) {
			if data, err := projectfs.In(s.Dir).Read(filepath.Join(s.Dir, word), maxScript); err == nil {
				all[word] = string(data)
			}
		}
	}
	return all
}

// rewritten reports whether one of them was changed since.
func (s *Set) rewritten() bool {
	now := s.readScripts()
	for name, text := range s.scripts {
		if now[name] != text {
			return true
		}
	}
	return false
}

// outcome is how one hook ended.
type outcome struct {
	text   string // the beginning and the end of its output, or an agent's final message
	exit   ptyexec.Exit
	failed string // why; empty: it did not fail
	answer Answer
	ended  bool // the run, or a person, ended it
	calls  int
	usage  state.Usage
}

// add adds the outcome of one hook.
func (v *Verdict) add(h Hook, o outcome) {
	v.Calls, v.Usage = v.Calls+o.calls, v.Usage.Add(o.usage)
	if o.answer.Note != "" {
		v.Notes = append(v.Notes, fmt.Sprintf("A hook of the user (%s) says: %s", h.Point, o.answer.Note))
	}
	if o.ended {
		return
	}
	name := fmt.Sprintf("the %s hook %q", h.Point, logs.Redact(termtext.Fit(termtext.Unwrap(h.Line()), 80)))
	if o.answer.Complete && o.failed == "" && h.Type != Agent {
		v.Ends = name + " says that the run is complete"
		if o.answer.Reason != "" {
			v.Ends += ": " + o.answer.Reason
		}
	}
	if o.answer.Block {
		why := name + " blocks"
		if o.answer.Reason != "" {
			why += ": " + o.answer.Reason
		}
		if v.Block = h.Point.row().Veto != ""; v.Block {
			v.Why = why
		} else {
			v.Notes = append(v.Notes, "A hook of the user objects: "+why)
		}
	}
	if o.failed == "" {
		return
	}
	why := name + " " + o.failed
	switch h.OnFailure {
	case SkipTask:
		v.Skip, v.Why = true, why
	case AbortLoop:
		v.Abort, v.Why = true, why
	case AskAgent:
		v.Notes = append(v.Notes, "A hook of the user failed, and you must deal with it: "+why)
	}
}

// runOne runs one hook and reports it.
func (s *Set) runOne(ctx context.Context, h Hook, f Facts) outcome {
	hide := logs.NewValues(s.Filter.Secrets(agent.Spec{}, agent.Request{Env: s.Env})).Redact
	event := state.Hook{Point: string(h.Point), Command: hide(h.Line())}
	s.emit(state.Phase{Name: state.PhaseHook, Check: string(h.Point)})
	before, errBefore := git.Observe(ctx, s.Dir)
	run := s.shell
	if h.Type == Agent {
		run = s.ask
	}
	o, err := run(ctx, h, f)
	event.Output, event.Seconds = hide(o.text), o.exit.Duration.Seconds()
	o.answer = parseAnswer(event.Output)
	o.ended = err == nil && o.exit.Cause == ptyexec.CauseCancelled || ctx.Err() != nil
	switch {
	case o.ended:
		event.Says, o.failed = "ended with the run", ""
	case err != nil:
		o.failed = "cannot run: " + err.Error()
	case o.exit.Cause == ptyexec.CauseTimeout:
		o.failed = fmt.Sprintf("was ended after %s", h.timeout())
	case o.failed != "":
		if line := report.ErrorLine(event.Output); line != "" {
			o.failed += ": " + termtext.Fit(termtext.Unwrap(line), 400)
		}
	}
	if o.failed != "" {
		event.Failed, event.Then = o.failed, string(cmp.Or(h.OnFailure, WarnContinue))
	}
	event.Note, event.Blocks, event.Reason = o.answer.Note, o.answer.Block, o.answer.Reason
	if after, err := git.Observe(ctx, s.Dir); err == nil && errBefore == nil {
		event.Files = before.Compare(after).Files
	}
	s.emit(event)
	return o
}

// shell runs a command.
func (s *Set) shell(ctx context.Context, h Hook, f Facts) (o outcome, err error) {
	out := &report.Excerpt{Head: headKept, Tail: tailKept}
	o.exit, err = s.run(ctx, h, ptyexec.Command{
		Args: []string{"/bin/sh", "-c", h.Command}, Dir: s.Dir,
		Env:   slices.Concat(s.Filter.Checks(s.Env), f.environment()),
		Stdin: bytes.NewReader(f.stdin()), Pipe: true,
	}, agent.Variables{}, func(p []byte) bool { _, _ = out.Write(p); return false })
	o.text = out.String()
	if o.exit.Code != 0 {
		o.failed = fmt.Sprintf("failed with exit code %d", o.exit.Code)
	}
	return o, err
}

// run starts a hook's program in the run's sandbox. of has the variables of the agent that the program is; zero: it is none.
func (s *Set) run(ctx context.Context, h Hook, c ptyexec.Command, of agent.Variables, output func([]byte) bool) (ptyexec.Exit, error) {
	via, err := sandbox.StartProxy(ctx, s.Sandbox.Settings, func(host string) { s.emit(state.Blocked{Host: host}) })
	if err != nil {
		return ptyexec.Exit{}, err
	}
	defer via.Stop()
	box := s.Sandbox.Box(s.Dir, s.Plan)
	box.Route, box.Agent, box.Keep.Logs = via.Route, of, s.Logs
	box.PutBack = func(r gitkeep.Replaced) {
		s.emit(state.Finding{Source: state.FoundByAudit, Name: string(audit.KindStateChanged), Text: r.String()})
	}
	cmd, err := box.Wrap(c)
	if err != nil {
		return ptyexec.Exit{}, err
	}
	cmd.Timeout, cmd.Kill = h.timeout(), s.Kill
	exit, err := ptyexec.Run(ctx, cmd, output)
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return exit, err
}

// emit passes an event on. A proxy emits from another goroutine than the hook.
func (s *Set) emit(p state.Payload) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.Emit(p)
}
