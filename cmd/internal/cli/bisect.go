package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/gate"
	"ralph/runner/git/history"
)

// bisect finds the iteration that broke a check.
func (a *app) bisect(run string, args []string, dash int) error {
	sig := cmdline.HandleSignals(a.In)
	defer sig.Stop()
	past, err := a.past(sig.Ctx, run)
	if err != nil {
		return err
	}
	p, loader, err := preflight.Open(a.Factory, nil)
	if err != nil {
		return err
	}
	check, err := checkNamed(p, args, dash)
	if err != nil {
		return err
	}
	if err := a.Trust(loader); err != nil {
		return err
	}
	states, err := past.states()
	if err != nil {
		return err
	}
	fails := func(k history.Kept) (bool, error) {
		name, result := fmt.Sprintf("after iteration %d", k.Iteration), "fails "
		if k.Start {
			name = "at the start"
		}
		passes, took, err := p.PassesIn(k.OID, check, sig)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		if passes {
			result = "passes"
		}
		a.Say("%-20s %s  %s", name, result, took.Round(time.Millisecond))
		return !passes, nil
	}
	for _, end := range []struct {
		state history.Kept
		bad   bool // as it must be, so that an iteration in between broke the check
		text  string
	}{
		{states[len(states)-1], true, "the check passes in the last kept state"},
		{states[0], false, "the check fails in the first kept state already"},
	} {
		if bad, err := fails(end.state); err != nil {
			return err
		} else if bad != end.bad {
			a.Say("%s: no iteration of run %s broke it", end.text, past.run)
			return nil
		}
	}
	found, err := history.Bisect(states, fails)
	if err != nil {
		return err
	}
	a.Say("iteration %d broke it: %s\nsee: ralph diff %[1]d; undo it with: ralph undo %[1]d", found.Iteration, past.task(found))
	return nil
}

// states returns the state before the run and the one after each iteration.
func (p *past) states() ([]history.Kept, error) {
	start, err := p.end("0")
	states := append([]history.Kept{start}, slices.DeleteFunc(slices.Clone(p.kept), func(k history.Kept) bool { return k.Start })...)
	if err == nil && len(states) < 2 {
		err = cmdline.UsageError("run %s has no kept iteration; see: ralph iterations", p.run)
	}
	return states, err
}

// checkNamed returns the project's check of this name, or the command after --.
func checkNamed(p *preflight.Project, args []string, dash int) (gate.Check, error) {
	switch {
	case dash == 0 && len(args) == 1:
		return gate.Check{Command: args[0]}, nil // a whole command line in one word
	case dash == 0:
		return gate.Check{Command: cmdline.Quote(args...)}, nil
	case len(args) != 1:
		return gate.Check{}, cmdline.UsageError("bisect takes the name of one check, or a command after --")
	}
	var names []string
	for _, c := range p.AllChecks() {
		if c.Name == args[0] {
			return c, nil
		}
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return gate.Check{}, cmdline.UsageError("no check is named %q here; known: %s; or write: ralph bisect -- COMMAND",
		args[0], strings.Join(slices.Compact(names), ", "))
}
