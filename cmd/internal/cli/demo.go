package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/demo"
	"ralph/config"
)

// demoAgentVerb starts the built-in scripted agent; ralph demo names it as the
// agent's program, so that it is a child process like any other.
const demoAgentVerb = "demo-agent"

func (a *app) demoAgent(args []string) int {
	return demo.Agent(args, a.in, a.out, a.err)
}

func (a *app) demoCommand() *cobra.Command {
	var withMonitor bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Make a complete run in a fresh temporary project, with a built-in scripted agent", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.demo(withMonitor)
		},
	}
	cmd.Flags().BoolVarP(&withMonitor, "monitor", "m", false, "in a tmux split with the monitor")
	return cmd
}

func (a *app) demo(withMonitor bool) error {
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
	a.dir = dir
	// The demo's own commands need no consent: they are part of this program.
	// The user's own options are left out: the demo has a story to tell.
	a.env = append(withoutOptions(os.Environ()), "CLAUDE_CODE_CMD="+quoteArgs([]string{self, demoAgentVerb}), "AGENT=claude",
		"TEST_COMMAND=sh tests/run.sh", "XDG_CONFIG_HOME="+dir)
	a.say("ralph demo: project %s; the agent is a script inside ralph, everything else is real", dir)
	err = a.run(&runFlags{options: map[string]string{}, output: "text", monitor: withMonitor})
	a.say("ralph demo: look around in %s (.ralph/live.log, git log); it may be deleted at any time", dir)
	return err
}

// withoutOptions is an environment that sets no option of ralph.
func withoutOptions(env []string) []string {
	var names []string
	for _, o := range config.Table() {
		names = append(append(names, o.Key), o.Aliases...)
	}
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(names, name)
	})
}
