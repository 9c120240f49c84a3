package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/pool"
	"ralph/runner/sandbox"
	"ralph/runner/turn"
)

// inside tries an agent's program in a sandbox, as Resolve returned it. The error says why it cannot run there.
// Outside of containers it asks for the version: what the program needs besides may be hidden. One that tells no
// version is not started.
func inside(ctx context.Context, p *preflight.Project, in sandbox.Settings, one pool.Agent) error {
	args := append([]string{one.Spec.Bin}, one.Spec.VersionArgs...)
	if len(one.Program) > 0 {
		args[0] = one.Program[0]
	}
	if in.InContainer() {
		if strings.Contains(args[0], "/") && !filepath.IsAbs(args[0]) {
			args[0] = filepath.Join(p.Dir, args[0])
		}
		return in.NeedsProgram(ctx, p.Dir, args[0])
	}
	if len(one.Spec.VersionArgs) == 0 {
		return nil
	}
	filter := p.Config.EnvFilter()
	here, err := in.At(p.Dir, turn.Steering(filter, p.Dir).Files)
	if err != nil {
		return err
	}
	here.Records = p.Records()
	box := here.Box(p.Dir, p.Plan)
	box.Agent = one.Spec.Env
	if box.NeedsProxy() {
		box.SandboxNet = []string{"none"} // a version needs no network
	}
	cmd, err := box.Wrap(one.Spec.Inquiry(one.Spec.VersionArgs, agent.Request{Program: one.Program, Dir: p.Dir,
		Env: p.Env, Filter: filter}))
	if err != nil {
		return err
	}
	cmd.Timeout = preflight.VersionBound
	var said strings.Builder
	exit, err := ptyexec.Run(ctx, cmd, func(b []byte) bool { said.Write(b); return false })
	if err != nil || exit.Code == 0 {
		return err
	}
	line, _, _ := strings.Cut(strings.TrimSpace(cmdline.Inert(said.String())), "\n")
	return fmt.Errorf("%s ended with exit code %d in SANDBOX=%s, which may hide a file that it needs: %s",
		cmdline.Quote(args...), exit.Code, in.Sandbox, cmdline.Shorten(line))
}
