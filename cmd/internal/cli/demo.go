package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/demo"
)

// demoAgentVerb starts the built-in scripted agent. ralph demo names it as the
// agent's program, so that the agent is a child process like any other.
const demoAgentVerb = "demo-agent"

func newDemoCmd(f *cmdline.Factory) *cobra.Command {
	var monitor bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Make a complete run in a temporary project with a scripted agent", Args: cmdline.NoArgs,
		Example: "  ralph demo --monitor",
		RunE:    func(*cobra.Command, []string) error { return demoRun(f, monitor) },
	}
	cmd.Flags().BoolVarP(&monitor, "monitor", "m", false,
		"Show the monitor in tmux: next to the runner, or above it if there are fewer than 100 columns.")
	return cmd
}

func demoRun(f *cmdline.Factory, monitor bool) error {
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
	own := *f
	own.Dir = dir
	// The demo's own commands need no consent: they are part of this program.
	// The user's options are left out: the demo has a story to tell.
	own.Env = append(withoutOptions(f.Env), "CLAUDE_CODE_CMD="+cmdline.Quote(self, demoAgentVerb), "AGENT=claude",
		"TEST_COMMAND=sh tests/run.sh", "XDG_CONFIG_HOME="+dir)
	f.Say("ralph demo: project %s; only the agent is a script, everything else is real", dir)
	err = runRun(&runOptions{Factory: &own, options: map[string]string{}, output: "text", monitor: monitor})
	at := "ralph -C " + cmdline.Quote(dir)
	f.Say("ralph demo: look around: %s report; %[1]s iterations; %[1]s diff 2", at)
	f.Say("ralph demo: next, in a project of your own: ralph init, then ralph doctor")
	return err
}

// withoutOptions is an environment that sets no option of ralph.
func withoutOptions(env []string) []string {
	rows := config.Index()
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return rows[name].Key != ""
	})
}
