package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/ptyexec"
	"ralph/runner/gate"
	"ralph/runner/git/history"
	"ralph/runner/git/replica"
	"ralph/runner/sandbox"
	"ralph/state"
)

const (
	bisectTimeout = 10 * time.Minute // of one run of the check
	outputKept    = 4 << 10          // of the check's output, bytes
)

type bisectOptions struct {
	pastOptions
	args []string // the name of a check, or a command
	dash int      // how many of them stand before --; below zero: there is none
}

// newBisectCmd returns ralph bisect.
func newBisectCmd(f *cmdline.Factory) *cobra.Command {
	o := &bisectOptions{pastOptions: pastOptions{Factory: f}}
	cmd := &cobra.Command{
		Use: "bisect CHECK | -- COMMAND...", Short: "Find the iteration that broke a check",
		Args: cmdline.Takes("the name of a check, or a command after --", cobra.MinimumNArgs(1)),
		Long: "Find the iteration that broke a check: the lint, build or test command of the project, or any command after --.\n" +
			"The command runs in copies of the kept states below your cache folder, in the sandbox if SANDBOX names one. Your files\n" +
			"stay as they are.",
		Example: "  ralph bisect test\n  ralph bisect -- go test ./pkg/...",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.dash = args, cmd.ArgsLenAtDash()
			return bisectRun(o)
		},
		ValidArgsFunction: completeChecks(f),
	}
	o.flag(cmd)
	return cmd
}

func bisectRun(o *bisectOptions) error {
	sig := cmdline.HandleSignals(o.In)
	defer sig.Stop()
	p, err := o.read(sig.Ctx)
	if err != nil {
		return err
	}
	project, loader, err := preflight.Open(o.Factory, nil)
	if err != nil {
		return err
	}
	if err := o.Trust(loader); err != nil {
		return err
	}
	replica.Sweep(replica.Home(o.Env)) // what a killed program left
	b := bisection{Factory: o.Factory, sig: sig, past: p, vars: project.Config.EnvFilter().Checks(o.Env)}
	if b.check, err = o.named(project); err != nil {
		return err
	}
	var stop func()
	if b.box, stop, err = project.Contain(sig.Ctx, o.Factory); err != nil {
		return err
	}
	defer stop()
	states, err := p.chain()
	if err != nil {
		return err
	}
	return b.find(states)
}

// named is the check of the project with this name, or the command behind --.
func (o *bisectOptions) named(project *preflight.Project) (gate.Check, error) {
	args := o.args
	if o.dash == 0 {
		if len(args) == 1 {
			return gate.Check{Command: args[0]}, nil // one argument is a whole command line
		}
		return gate.Check{Command: cmdline.Quote(args...)}, nil
	}
	if len(args) != 1 {
		return gate.Check{}, cmdline.UsageError("bisect takes the name of one check, or a command after --")
	}
	if err := project.AgreeChecks(o.Factory); err != nil {
		return gate.Check{}, err
	}
	var names []string
	for _, c := range allChecks(project) {
		if c.Name == args[0] {
			return c, nil
		}
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return gate.Check{}, cmdline.UsageError("the project has no checks; write: ralph bisect -- COMMAND")
	}
	return gate.Check{}, cmdline.UsageError("no check is named %q here; known: %s; or write: ralph bisect -- COMMAND",
		args[0], strings.Join(names, ", "))
}

// allChecks are the checks of the project and of its packages, the first of each name.
func allChecks(p *preflight.Project) []gate.Check {
	all, _ := p.Checks()
	all = append(all, gate.Rows(p.Dir, all)...)
	sort.SliceStable(all, func(i, j int) bool { return all[i].Name < all[j].Name }) // not slices, as in runs.go
	return slices.CompactFunc(all, func(a, b gate.Check) bool { return a.Name == b.Name })
}

// chain is the state before the run's first known iteration and those after
// each, oldest first.
func (p *past) chain() ([]history.Kept, error) {
	start, err := p.end(0)
	if err != nil {
		return nil, err
	}
	states := []history.Kept{start}
	for _, k := range p.kept {
		if !k.Start {
			states = append(states, k)
		}
	}
	if len(states) < 2 {
		return nil, cmdline.UsageError("run %s has no kept iteration; see: ralph iterations%s", p.run, p.flag)
	}
	return states, nil
}

// bisection runs one command in copies of states.
type bisection struct {
	*cmdline.Factory
	sig   *cmdline.Signals
	past  *past
	check gate.Check
	vars  []string // the environment of the check
	box   func(dir string) (sandbox.Box, error)
}

func (b *bisection) find(states []history.Kept) error {
	last, first := states[len(states)-1], states[0]
	bad, err := b.fails(last)
	if err != nil {
		return err
	}
	if !bad {
		b.Say("the check passes in the last kept state, iteration %d: no iteration broke it; "+
			"if it fails in your files, they changed "+
			"after that: ralph check runs it there", last.Iteration)
		return nil
	}
	if bad, err = b.fails(first); err != nil {
		return err
	}
	if bad {
		b.Say("the check fails in the first kept state already: no iteration of run %s broke it", b.past.run)
		return nil
	}
	found, err := history.Bisect(states, b.fails)
	if err != nil {
		return err
	}
	b.Say("iteration %d broke it: %s", found.Iteration, b.past.task(found))
	b.Say("see: ralph diff %d%s; take it back with: ralph undo %[1]d%[2]s", found.Iteration, b.past.flag)
	return nil
}

// fails runs the command in a copy of one state.
func (b *bisection) fails(k history.Kept) (bool, error) {
	copied, err := replica.Make(b.sig.Ctx, replica.Home(b.Env), b.past.dir, k.OID)
	if err != nil {
		return false, errors.Join(err, b.sig.Ctx.Err())
	}
	defer copied.Close()
	box, err := b.box(copied.Dir)
	if err != nil {
		return false, err
	}
	cmd, err := box.Wrap(ptyexec.Command{
		Args: []string{"/bin/sh", "-c", b.check.Command}, Dir: filepath.Join(copied.Dir, b.check.Dir),
		Env: slices.Concat(b.vars, copied.Env()), Pipe: true, Timeout: cmp.Or(b.check.Timeout, bisectTimeout),
		Kill: b.sig.Kill,
	}, copied.Borrowed...)
	if err != nil {
		return false, fmt.Errorf("run check: %w", err)
	}
	var out []byte
	exit, err := ptyexec.Run(b.sig.Ctx, cmd, func(p []byte) bool {
		out = append(out, p...)
		out = out[max(0, len(out)-outputKept):]
		return false
	})
	name := fmt.Sprintf("after iteration %d", k.Iteration)
	if k.Start {
		name = "at the start"
	}
	took := exit.Duration.Round(time.Millisecond)
	switch {
	case err != nil:
		return false, fmt.Errorf("run check: %w", err)
	case exit.Cause == ptyexec.CauseCancelled:
		return false, &cmdline.ExitError{Code: state.ExitInterrupted, Text: "interrupted"}
	case exit.Cause == ptyexec.CauseExited && (exit.Code == 126 || exit.Code == 127):
		return false, &cmdline.ExitError{Code: state.ExitError, Text: fmt.Sprintf("the check cannot run %s: %s", name,
			strings.TrimSpace(cmdline.Inert(string(out))))}
	case exit.Cause == ptyexec.CauseExited && exit.Code == 0:
		b.Say("%-20s passes  %s", name, took)
		return false, nil
	}
	b.Say("%-20s fails   %s", name, took)
	return true, nil
}
