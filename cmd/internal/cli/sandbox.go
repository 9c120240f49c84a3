package cli

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/agent"
	"ralph/runner/sandbox"
)

//go:embed Dockerfile
var dockerfile string

// sandboxOptions are the flags of ralph sandbox build.
type sandboxOptions struct {
	f      *cmdline.Factory
	agents []string
	print  bool
}

// newSandboxCmd returns ralph sandbox.
func newSandboxCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sandbox", Short: "Build the image of the sandbox",
		Example: "  ralph sandbox build",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newSandboxBuildCmd(f))
	return cmd
}

func newSandboxBuildCmd(f *cmdline.Factory) *cobra.Command {
	o := &sandboxOptions{f: f}
	short := "Build the image that SANDBOX=" + strings.Join(sandbox.Engines(), " and SANDBOX=") + " run"
	cmd := &cobra.Command{
		Use: "build", Args: cmdline.NoArgs, Short: short,
		Long: short + ": a small Linux with git, Node.js and agents from npm.\n" +
			"To add your project's tools, write your own Dockerfile, and name your image in SANDBOX_IMAGE.",
		Example: "  ralph sandbox build\n" +
			"  ralph sandbox build --agent claude,codex\n" +
			"  ralph sandbox build --print > Dockerfile",
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().StringSliceVar(&o.agents, "agent", nil,
		"Install the agents `NAMES`, also as NAME@VERSION (default: the project's).")
	_ = cmd.RegisterFlagCompletionFunc("agent", cmdline.CompleteAgents(f))
	cmd.Flags().BoolVar(&o.print, "print", false, "Print the Dockerfile, and build nothing.")
	return cmd
}

func (o *sandboxOptions) run(ctx context.Context) error {
	p, _, err := preflight.Open(o.f, nil)
	if err != nil {
		return err
	}
	if len(o.agents) == 0 {
		o.agents = []string{p.Config.Agent}
	}
	packages, err := o.packages(p)
	if err != nil {
		return err
	}
	file := strings.Replace(dockerfile, "ARG PACKAGES=", fmt.Sprintf("ARG PACKAGES=%q", strings.Join(packages, " ")), 1)
	if o.print {
		o.f.Say("%s", strings.TrimSuffix(file, "\n"))
		return nil
	}
	if image := p.Config.SandboxImage; image != sandbox.DefaultImage {
		return cmdline.UsageError("SANDBOX_IMAGE is %s, which is yours to build; this verb only makes %s", image,
			sandbox.DefaultImage)
	}
	engines := sandbox.Engines()
	if slices.Contains(engines, p.Config.Sandbox) {
		engines = []string{p.Config.Sandbox}
	}
	i := slices.IndexFunc(engines, preflight.OnPath)
	if i < 0 {
		return cmdline.UsageError("not installed: %s", strings.Join(engines, ", "))
	}
	cmd := exec.CommandContext(ctx, engines[i], "build", "--tag", sandbox.DefaultImage, "-")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(file), o.f.Out, o.f.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s build failed: %w", engines[i], err)
	}
	o.f.Say("built %s with %s; use it with: SANDBOX=%s", sandbox.DefaultImage, strings.Join(o.agents, ", "), engines[i])
	return nil
}

// packages are the agents' npm packages. What is printed only leaves out the others: it is for a user to extend.
func (o *sandboxOptions) packages(p *preflight.Project) (packages []string, err error) {
	for _, text := range o.agents {
		name, version, pinned := strings.Cut(text, "@")
		one, err := p.Find(name)
		if err != nil {
			return nil, cmdline.UsageError("%v", err)
		}
		pkg, ok := npmPackage(one.Spec)
		switch {
		case !ok && o.print:
			continue
		case !ok:
			return nil, cmdline.UsageError("the agent %s does not come from npm; "+
				"start from: ralph sandbox build --print", name)
		}
		if pinned {
			pkg += "@" + version
		}
		packages = append(packages, pkg)
	}
	return packages, nil
}

func npmPackage(s agent.Spec) (string, bool) { return strings.CutPrefix(s.Install, "npm install -g ") }
