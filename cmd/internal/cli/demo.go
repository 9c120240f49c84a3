package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/demo"
)

// demoAgentVerb starts the built-in scripted agent. ralph demo names it as the
// agent's program, so that the agent is a child process like any other.
const demoAgentVerb = "demo-agent"

func (a *app) demoCommand() *cobra.Command {
	var monitor bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Run a complete demo in a temporary project with a scripted agent", Args: cmdline.NoArgs,
		Example: "  ralph demo --monitor",
		RunE:    func(*cobra.Command, []string) error { return a.demo(monitor) },
	}
	cmd.Flags().BoolVarP(&monitor, "monitor", "m", false, "show runner and monitor side by side in tmux")
	return cmd
}

func (a *app) demo(monitor bool) error {
	dir, err := os.MkdirTemp("", "ralph-demo-")
	if err != nil {
		return fmt.Errorf("make demo project: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := demo.Create(ctx, dir); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find ralph: %w", err)
	}
	own := *a.Factory
	own.Dir = dir
	// In the environment the demo's commands need no consent: they are part of this
	// program. Options of the user would change the story.
	own.Env = append(cmdline.WithoutOptions(a.Env), "CLAUDE_CODE_CMD="+cmdline.Quote(self, demoAgentVerb), "AGENT=claude",
		"TEST_COMMAND=sh tests/run.sh", "XDG_CONFIG_HOME="+dir)
	a.Say("ralph demo: project %s; only the agent is scripted, everything else is real", dir)
	err = runRun(&runOptions{app: &app{&own}, options: map[string]string{}, output: "text", monitor: monitor})
	a.Say("ralph demo: look around in %s (.ralph/live.log, git log); delete it when you are done", dir)
	return err
}
