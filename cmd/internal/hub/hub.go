// Package hub has the verbs of ralph-hub, the only program of ralph that uses a
// network. It reads what ralph writes, and ralph runs without it.
package hub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/hub/mcp"
)

// Main runs ralph-hub and returns its exit code.
func Main(args []string) int {
	root := Root()
	root.SetArgs(args)
	err := root.Execute()
	if err != nil && err.Error() != "" { // else the verb has printed everything already
		fmt.Fprintln(os.Stderr, "ralph-hub: "+err.Error())
	}
	return cmdline.ExitCode(err)
}

// Root returns the command with all verbs.
func Root() *cobra.Command {
	root := &cobra.Command{
		Use: "ralph-hub", Short: "The part of ralph that uses a network",
		Long:         "The part of ralph that uses a network. ralph starts it when an option asks for it.",
		SilenceUsage: true, SilenceErrors: true, Args: cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().BoolP("help", "h", false, "Show the help of a verb.")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cmdline.UsageError("%v; see: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newProxyCmd(), newBridgeCmd(), newWatchCmd(), newNotifyTestCmd(), newServeCmd(), newMCPCmd(),
		newFleetCmd(), newWorkerCmd(), newWorkersCmd(), newTurnCmd())
	return root
}

// ralphFlag adds the flag by which ralph says where it is.
func ralphFlag(cmd *cobra.Command, ralph *string) {
	cmd.Flags().StringVar(ralph, "ralph", "", "The program `FILE`.")
	_ = cmd.Flags().MarkHidden("ralph") // fails only for an unknown flag
}

// findRalph returns the ralph that a flag names, else the one in the folder of this program, else the one in PATH.
func findRalph(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "ralph")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("ralph")
	if err != nil {
		return "", errors.New("ralph is neither beside ralph-hub nor in PATH")
	}
	return path, nil
}

// untilSignal returns a context that ends when somebody ends this process.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// untilEOF returns a context that ends with stdin, and so with the process that holds the other end.
func untilEOF(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := untilSignal(ctx)
	go func() {
		defer stop()
		var b [64]byte
		for {
			if _, err := os.Stdin.Read(b[:]); err != nil {
				return
			}
		}
	}()
	return ctx, stop
}

func newMCPCmd() *cobra.Command {
	o := &mcp.Server{}
	cmd := &cobra.Command{
		Use: "mcp", Args: cmdline.NoArgs,
		Short:   "Let another agent watch and steer the run of a project (MCP, on standard input and output)",
		Example: "  ralph-hub mcp --project DIR",
		RunE:    func(cmd *cobra.Command, _ []string) error { return mcpRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.Dir, "project", ".", "The `DIR` of the project.")
	ralphFlag(cmd, &o.Ralph)
	return cmd
}

func mcpRun(ctx context.Context, o *mcp.Server) (err error) {
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return cmdline.UsageError("--project %q is not a folder", o.Dir)
	}
	if o.Ralph, err = findRalph(o.Ralph); err != nil {
		return err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	return o.Run(ctx)
}
