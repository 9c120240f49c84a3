package hub

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/hub/fleet"
	"ralph/config/projects"
)

// stateHome is the user's folder for state.
func stateHome() string { return projects.StateHome(os.Getenv) }

// access is the fleet of a URL; without one it is the server on this machine.
func access(url, creds string) (fleet.Access, error) {
	if url == "" {
		a, err := fleet.Local(stateHome())
		if err != nil {
			return a, usageError{err}
		}
		return a, nil
	}
	return fleet.Access{URL: url, Creds: creds, Token: os.Getenv(fleet.TokenVar)}, nil
}

func newFleetCmd() *cobra.Command {
	listen := "127.0.0.1:0"
	cmd := &cobra.Command{
		Use: "fleet", Short: "Run the server of a fleet", Args: cobra.NoArgs,
		Long:    "Run the server of a fleet. Runs and workers of this user find it by themselves; others need its address and its token.",
		Example: "  ralph-hub fleet\n  ralph-hub fleet --listen 0.0.0.0:4222",
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, port, err := net.SplitHostPort(listen)
			n, bad := strconv.Atoi(port)
			if err != nil || bad != nil || n < 0 || n > 65535 {
				return usageError{fmt.Errorf("--listen %q: write HOST:PORT", listen)}
			}
			if n == 0 {
				n = -1 // any
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return fleet.Server{StateHome: stateHome(), Host: host, Port: n}.Serve(ctx, func(url string) {
				fmt.Printf("%s\nits token is in %s\n", url, fleet.Note(stateHome()))
			})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "listen on `HOST:PORT`; port 0 takes any")
	return cmd
}

func newTurnCmd() *cobra.Command {
	var url, creds string
	cmd := &cobra.Command{
		Use: "turn", Short: "Send one turn to a worker of the fleet", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := access(url, creds)
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "no worker of the fleet has answered yet")
			return fleet.Turn(cmd.Context(), a, os.Stdin, os.Stdout)
		},
	}
	cmd.Flags().StringVar(&url, "fleet", "", "the `URL` of the fleet")
	cmd.Flags().StringVar(&creds, "creds", os.Getenv("RALPH_FLEET_CREDS"), "a `FILE` with NATS credentials")
	return cmd
}

func newWorkerCmd() *cobra.Command {
	var url, creds string
	slots, program := 1, "ralph"
	cmd := &cobra.Command{
		Use: "worker", Short: "Take turns from a fleet", Args: cobra.NoArgs,
		Long:    "Take turns from a fleet and carry them out on this machine. It needs ralph, git and the agents, logged in.",
		Example: "  RALPH_FLEET_TOKEN=... ralph-hub worker --join nats://build1:4222 --slots 4",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if slots < 1 || slots > 64 {
				return usageError{fmt.Errorf("--slots %d: from 1 to 64", slots)}
			}
			a, err := access(url, creds)
			if err != nil {
				return err
			}
			if self, err := os.Executable(); err == nil {
				beside := filepath.Join(filepath.Dir(self), "ralph")
				if _, err := os.Stat(beside); err == nil {
					program = beside
				}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return fleet.Worker(ctx, fleet.Work{Access: a, Slots: slots, Args: []string{program, "turn", "--away"}, Env: os.Environ(),
				Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, "ralph-hub: "+format+"\n", args...) }})
		},
	}
	cmd.Flags().StringVar(&url, "join", "", "the `URL` of the fleet; without it, the server on this machine")
	cmd.Flags().StringVar(&creds, "creds", "", "a `FILE` with NATS credentials, instead of "+fleet.TokenVar)
	cmd.Flags().IntVar(&slots, "slots", slots, "turns at the same time")
	return cmd
}
