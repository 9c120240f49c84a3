package preflight

import (
	"context"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/sandbox"
	"ralph/runner/sandbox/proxy"
)

// Contain returns what puts checks of a folder into the sandbox of a run, and a
// function that ends its proxy. Without a sandbox, the box contains nothing.
func (p *Project) Contain(ctx context.Context, f *cmdline.Factory) (box func(dir string) sandbox.Box, stop func(), err error) {
	settings, err := p.Config.Settings.Resolve()
	if err != nil {
		return nil, nil, cmdline.UsageError("%v", err)
	}
	via, err := proxy.Start(ctx, settings, func(host string) { f.Note("the sandbox refused a connection to %s (SANDBOX_NET)", host) })
	if err != nil {
		return nil, nil, err
	}
	if settings.On() {
		f.Note("sandbox %s, network %s", settings.Sandbox, strings.Join(settings.SandboxNet, ","))
	}
	return func(dir string) sandbox.Box {
		box := settings.Box(dir, p.Plan, p.Config.EnvFilter().State())
		box.Route = via.Route
		return box
	}, via.Stop, nil
}
