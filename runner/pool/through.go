package pool

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"ralph/runner/agent"
	"ralph/runner/sandbox"
)

// Through completes an agent that another program starts: with the path of that program, and with the keys and the
// state of the CLI that speaks the protocol, if ralph knows it.
func (a Agent) Through() Agent {
	if len(a.Spec.Through) == 0 {
		return a
	}
	if hub, err := sandbox.FindHub(); err == nil {
		a.Spec.Through = append([]string{hub}, a.Spec.Through[1:]...)
	}
	known, bin := agent.Specs(), a.Spec.Bin
	if len(a.Program) > 0 {
		bin = filepath.Base(a.Program[0])
	}
	if i := slices.IndexFunc(known, func(s agent.Spec) bool { return s.Bin == cmp.Or(bin, "-") }); i >= 0 {
		env := known[i].Env
		env.Set, env.Keys = append(env.Set, a.Spec.Env.Set...), append(env.Keys, a.Spec.Env.Keys...)
		a.Spec.Env = env
	}
	return a
}

// Reachable returns an error if another program must start the agent and cannot.
func (a Agent) Reachable(inContainer bool) error {
	if len(a.Spec.Through) == 0 {
		return nil
	}
	if inContainer {
		return errors.New("ralph-hub speaks its protocol, but does not run in a container; " +
			"use SANDBOX=bwrap or landlock")
	}
	_, err := sandbox.FindHub()
	return err
}
