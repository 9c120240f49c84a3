package historycmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/ptyexec"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/history"
)

const (
	bisectTimeout = 10 * time.Minute // of one run of the check
	outputKept    = 4 << 10          // of the check's output, bytes
)

// dependencies are folders that git ignores and checks need; a copy of a state
// borrows them from the project.
var dependencies = []string{"node_modules", ".venv", "venv", "vendor"}

// bisect finds the iteration that broke a check.
func (a *verbs) bisect(run string, args []string, dash int) error {
	sig := cmdline.HandleSignals(a.In)
	defer sig.Stop()
	p, err := a.past(sig.Ctx, run)
	if err != nil {
		return err
	}
	b := bisection{verbs: a, sig: sig, past: p}
	if b.check, err = a.checkNamed(args, dash); err != nil {
		return err
	}
	if b.vars, err = a.checkEnv(p.dir); err != nil {
		return err
	}
	states, err := p.chain()
	if err != nil {
		return err
	}
	return b.find(states)
}

// checkNamed is the check of the project with this name, or the command behind --.
func (a *verbs) checkNamed(args []string, dash int) (gate.Check, error) {
	if dash == 0 {
		if len(args) == 1 {
			return gate.Check{Command: args[0]}, nil // a whole command line in one word
		}
		return gate.Check{Command: cmdline.Quote(args...)}, nil
	}
	if len(args) != 1 {
		return gate.Check{}, cmdline.UsageError("bisect takes the name of one check, or a command after --")
	}
	project, loader, err := preflight.Open(a.Factory, nil)
	if err != nil {
		return gate.Check{}, err
	}
	if err := a.Trust(loader); err != nil {
		return gate.Check{}, err
	}
	if err := project.AgreeChecks(a.Factory); err != nil {
		return gate.Check{}, err
	}
	all := allChecks(project)
	var names []string
	for _, c := range all {
		if c.Name == args[0] {
			return c, nil
		}
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return gate.Check{}, cmdline.UsageError("no check is named %q here; known: %s; or write: ralph bisect -- COMMAND", args[0], strings.Join(names, ", "))
}

// allChecks are the checks of the project and of its packages.
func allChecks(p *preflight.Project) []gate.Check {
	rows, _ := p.Checks()
	return append(rows, gate.Rows(p.Dir, rows)...)
}

// checkEnv is the environment of a check in the project.
func (a *verbs) checkEnv(dir string) ([]string, error) {
	loader := a.Loader(dir, nil)
	cfg, _, err := loader.Load()
	if err != nil {
		return nil, err
	}
	return cfg.EnvFilter().Checks(a.Env), a.Trust(loader)
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
		return nil, cmdline.UsageError("run %s has no kept iteration; see: ralph iterations", p.run)
	}
	return states, nil
}

// bisection runs one command in copies of states.
type bisection struct {
	*verbs
	sig   *cmdline.Signals
	past  *past
	check gate.Check
	vars  []string // the environment of the check
}

func (b *bisection) find(states []history.Kept) error {
	last, first := states[len(states)-1], states[0]
	bad, err := b.fails(last)
	if err != nil {
		return err
	}
	if !bad {
		b.Say("the check passes in the last kept state, iteration %d: there is nothing to find", last.Iteration)
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
	b.Say("see: ralph diff %d; take it back with: ralph undo %[1]d", found.Iteration)
	return nil
}

// fails checks one state out into a temporary folder and runs the command there.
func (b *bisection) fails(k history.Kept) (bool, error) {
	temp, err := os.MkdirTemp("", "ralph-bisect-")
	if err != nil {
		return false, fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(temp)
	if err := history.Checkout(b.sig.Ctx, b.past.dir, k.OID, temp); err != nil {
		return false, errors.Join(err, b.sig.Ctx.Err())
	}
	dir, err := b.place(temp)
	if err != nil {
		return false, err
	}
	var out []byte
	exit, err := ptyexec.Run(b.sig.Ctx, ptyexec.Command{
		Args: []string{"/bin/sh", "-c", b.check.Command}, Dir: filepath.Join(dir, b.check.Dir), Env: b.vars, Pipe: true, Timeout: cmp.Or(b.check.Timeout, bisectTimeout), Kill: b.sig.Kill,
	}, func(p []byte) bool {
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
		return false, &cmdline.ExitError{Code: 130, Text: "interrupted"}
	case exit.Cause == ptyexec.CauseExited && (exit.Code == 126 || exit.Code == 127):
		return false, &cmdline.ExitError{Code: 1, Text: fmt.Sprintf("the check cannot run %s: %s", name, strings.TrimSpace(cmdline.Inert(string(out))))}
	case exit.Cause == ptyexec.CauseExited && exit.Code == 0:
		b.Say("%-20s passes  %s", name, took)
		return false, nil
	}
	b.Say("%-20s fails   %s", name, took)
	return true, nil
}

// place is the project's folder in a copy of the repository, with its
// dependencies.
func (b *bisection) place(copied string) (string, error) {
	root, _ := git.Root(b.past.dir)
	project, err := filepath.EvalSymlinks(b.past.dir)
	if err != nil {
		return "", fmt.Errorf("find project: %w", err)
	}
	rel, err := filepath.Rel(root, project)
	if err != nil {
		return "", fmt.Errorf("find project: %w", err)
	}
	dir := filepath.Join(copied, rel)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make folder: %w", err)
	}
	for _, name := range dependencies {
		if _, err := os.Stat(filepath.Join(project, name)); err != nil {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			continue // the state has its own
		}
		if err := os.Symlink(filepath.Join(project, name), filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("borrow dependencies: %w", err)
		}
	}
	return dir, nil
}
