package turn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
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
	decoder := spec.NewDecoder(watch.Listen(followActivity(&cmd, &silence, t.listen(c.transcript))))
	if request.Session != "" {
		decoder.Resume(t.a.Agent.Session.Counted)
	}
	c.exit, err = ptyexec.Run(ctx, cmd, func(p []byte) bool {
		if err := out.Write(p); err != nil {
			cancel(err) // ralph must not spend money on a call that it cannot record
		}
		_, _ = decoder.Write(p) // never fails
		if decoder.Stuck() || c.transcript.Repeats != "" {
			cancel(nil)
		}
		return decoder.Final()
	})
	c.edits, t.w.Size = watch.Stop(), c.exit.Size // the terminal may have been resized
	decoder.Close()
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

// listen returns a function that adds events of the decoder to the transcript and hands them
// on. A flood of text goes only into the transcript and the raw output.
func (t *turn) listen(transcript *agent.Transcript) func(state.Payload) {
	var circles agent.StuckWatch
	var keys logs.PrivateKeys
	redacted := func(p state.Payload) state.Payload {
		if text, ok := p.(state.Text); ok { // perhaps one line of a key
			text.Text = keys.Cut(text.Text)
			p = text
		}
		return t.redacted(p)
	}
	return floodLimit(redacted, t.send, func(p state.Payload) {
		transcript.Add(p)
		transcript.Repeats = circles.See(p)
	})
}

// shownMost is the text of one call after which narration and tool results
// go only into its raw output: the logs rotate, and would keep none of it.
const shownMost = 32 << 20

// floodLimit returns a function that hides the secrets of what a call reports, then keeps and
// shows it. What is beyond what is shown is only kept.
func floodLimit(hide func(state.Payload) state.Payload, show, keep func(state.Payload)) func(state.Payload) {
	shown := 0
	return func(p state.Payload) {
		n, bulk := 0, false
		switch d := p.(type) {
		case state.Text:
			n, bulk = len(d.Text), true
		case state.ToolResult:
			n, bulk = len(d.Text), true
		}
		if shown += n; bulk && shown > shownMost {
			keep(p)
			return
		}
		p = hide(p)
		keep(p)
		show(p)
	}
}
