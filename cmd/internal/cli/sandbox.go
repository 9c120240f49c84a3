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
	"ralph/runner/sandbox"
)

//go:embed Dockerfile
var dockerfile string

// newSandboxCmd returns ralph sandbox.
func newSandboxCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sandbox", Short: "Build the image of the sandbox",
		Example: "  ralph sandbox build",
		RunE:    cmdline.Parent,
	}
	var agents []string
	show := false
	short := "Build the image that SANDBOX=" + strings.Join(sandbox.Engines(), " and SANDBOX=") + " run"
	build := &cobra.Command{
		Use: "build", Args: cmdline.NoArgs, Short: short,
		Long: short + ": a small Linux with git, Node.js and agents from npm.\n" +
			"To add your project's tools, write your own Dockerfile, and name your image in SANDBOX_IMAGE.",
		Example: "  ralph sandbox build\n" +
			"  ralph sandbox build --agent claude,codex\n" +
			"  ralph sandbox build --print > Dockerfile",
		RunE: func(cmd *cobra.Command, _ []string) error { return sandboxRun(cmd.Context(), f, agents, show) },
	}
	build.Flags().StringSliceVar(&agents, "agent", nil,
		"Install the agents `NAMES`, also as NAME@VERSION (default: the project's).")
	build.Flags().BoolVar(&show, "print", false, "Print the Dockerfile, and build nothing.")
	cmd.AddCommand(build)
	return cmd
}

func sandboxRun(ctx context.Context, f *cmdline.Factory, agents []string, show bool) error {
	p, _, err := preflight.Open(f, nil)
	if err != nil {
		return err
	}
	if len(agents) == 0 {
		agents = []string{p.Config.Agent}
	}
	var packages []string
	for _, text := range agents {
		name, version, pinned := strings.Cut(text, "@")
		one, err := p.Find(name)
		if err != nil {
			return cmdline.UsageError("%v", err)
		}
		pkg, npm := strings.CutPrefix(one.Spec.Install, "npm install -g ")
		if pinned {
			pkg += "@" + version
		}
		if npm {
			packages = append(packages, pkg)
		} else if !show { // what is printed is for a user to extend
			return cmdline.UsageError("the agent %s does not come from npm; start from: ralph sandbox build --print", name)
		}
	}
	file := strings.Replace(dockerfile, "ARG PACKAGES=", fmt.Sprintf("ARG PACKAGES=%q", strings.Join(packages, " ")), 1)
	if show {
		f.Say("%s", strings.TrimSuffix(file, "\n"))
		return nil
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(file), f.Out, f.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s build failed: %w", engines[i], err)
	}
	f.Say("built %s with %s; use it with: SANDBOX=%s", sandbox.DefaultImage, strings.Join(agents, ", "), engines[i])
	return nil
}
