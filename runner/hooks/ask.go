package hooks

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/state"
)

// finalGrace is how long an agent may keep running after its final record.
const finalGrace = 10 * time.Second

// Responder says which agent answers the prompts of hooks, and with which rights.
type Responder struct {
	// Find finds an agent by name, and the program to run instead of its own; nil: its own.
	Find           func(name string) (agent.Spec, []string, error)
	Agent, Model   string // for a hook that names no agent
	AllowedTools   []string
	PermissionMode string
}

// answerForm tells an agent how to answer. ralph only shows any other text.
const answerForm = `

These are the facts at this point of the run:

%s
End your final message with one line of JSON, and nothing after it:
{"block": false, "reason": "", "note": ""}
Set block to true, with a reason, only if the text above asks you to judge and the answer is no. The developer gets
the note in the next prompt; leave it empty if there is nothing to say.
`

// ask asks an agent.
func (s *Set) ask(ctx context.Context, h Hook, f Facts) (o outcome, err error) {
	name, model := h.Agent, h.Model
	if name == "" {
		name, model = s.Responder.Agent, cmp.Or(model, s.Responder.Model)
	}
	spec, program, err := s.Responder.Find(name)
	if err != nil {
		return o, err
	}
	request := agent.Request{
		ArgvCall: agent.ArgvCall{Prompt: h.promptFor(f), Model: model, AllowedTools: s.Responder.AllowedTools,
			PermissionMode: s.Responder.PermissionMode, Contained: s.Sandbox.On()},
		Program: program, Dir: s.Dir, Env: slices.Concat(s.Env, []string{state.InsideVar + "=" + f.Run}),
		Filter: s.Filter, Root: os.Geteuid() == 0,
	}
	cmd, clean, err := spec.Prepare(request)
	if err != nil {
		return o, err
	}
	defer clean()
	cmd.FinalGrace = finalGrace
	t := &agent.Transcript{}
	decoder := spec.NewDecoder(t.Add)
	o.exit, err = s.run(ctx, h, cmd, spec.Env, func(p []byte) bool { _, _ = decoder.Write(p); return decoder.Final() })
	decoder.Close()
	o.text, o.usage, o.calls = t.Final, t.Usage, 1
	if end := spec.Classify(t, o.exit, time.Now()); err == nil && o.exit.Cause != ptyexec.CauseTimeout &&
		!end.Class.Success() {
		o.failed = "failed: " + end.Reason
	} else if o.exit.Cause == ptyexec.CauseFinal {
		o.exit.Cause = ptyexec.CauseExited
	}
	return o, err
}
