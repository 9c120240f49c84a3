package preflight

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/runner/pool"
	"ralph/runner/sandbox"
	"ralph/runner/sandbox/gitkeep"
	"ralph/runner/turn"
)

// Sandbox returns the sandbox for a folder. The error is a usage error, and says what is
// missing.
func (p *Project) Sandbox(dir string) (c sandbox.Contained, err error) {
	records := p.Records()
	if err := gitkeep.Recover(records, dir, func(gitkeep.Replaced) {}); err != nil {
		return c, err
	}
	if c.Settings, err = p.Config.Settings.Resolve(); err == nil {
		c, err = c.At(dir, turn.Steering(p.Config.EnvFilter(), dir).Files)
	}
	if c.Records = records; err == nil && c.On() && records == "" {
		err = errors.New("SANDBOX needs a folder outside of the project: neither XDG_STATE_HOME nor HOME is set")
	}
	return c, p.Config.Located(err)
}

// Records is the folder in which ralph keeps what to put back of git after contained programs; empty: none is known.
func (p *Project) Records() string { return p.loader.GitRecords() }

// Contain returns a function that makes the box for the checks of a folder, as a run
// does, and a function that ends its proxy. Without a sandbox, the box confines nothing.
func (p *Project) Contain(ctx context.Context,
	f *cmdline.Factory) (box func(dir string) (sandbox.Box, error), stop func(), err error) {
	here, err := p.Sandbox(p.Dir)
	if err != nil {
		return nil, nil, err
	}
	settings := here.Settings
	via, err := sandbox.StartProxy(ctx, settings, func(host string) { f.Note("the sandbox refused a connection to %s (SANDBOX_NET)", host) })
	if err != nil {
		return nil, nil, err
	}
	if settings.On() {
		f.Note("sandbox %s, network %s", settings.Sandbox, strings.Join(settings.SandboxNet, ","))
	}
	return func(dir string) (sandbox.Box, error) {
		contained, err := here, error(nil)
		if dir != p.Dir {
			contained, err = here.For(dir)
		}
		box := contained.Box(dir, p.Plan)
		box.Route, box.PutBack = via.Route, func(r gitkeep.Replaced) { f.Warn(r) }
		return box, err
	}, via.Stop, nil
}

// RunsContained tries an agent's program in the project's sandbox. The error says why it cannot run there. Outside of
// containers it asks for the version: what the program needs besides may be hidden. One that tells no version is not
// started.
func (p *Project) RunsContained(ctx context.Context, one pool.Agent) error {
	here, err := p.Sandbox(p.Dir)
	if err != nil {
		return err
	}
	if here.InContainer() {
		return here.NeedsProgram(ctx, p.Dir, p.absolute(program(one)))
	}
	if len(one.Spec.VersionArgs) == 0 {
		return nil
	}
	box := here.Box(p.Dir, p.Plan)
	box.Agent = one.Spec.Env
	if box.NeedsProxy() {
		box.SandboxNet = []string{"none"} // a version needs no network
	}
	out, exit, err := p.inquire(ctx, one, inquiry{args: one.Spec.VersionArgs, bound: VersionBound, box: box})
	if err != nil || exit.Code == 0 {
		return err
	}
	return fmt.Errorf("%s ended with exit code %d in SANDBOX=%s, which may hide a file that it needs: %s",
		cmdline.Quote(append([]string{program(one)}, one.Spec.VersionArgs...)...), exit.Code, here.Sandbox,
		cmdline.Shorten(cmdline.Inert(termtext.FirstLine(strings.TrimSpace(out)))))
}
