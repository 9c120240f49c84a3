package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/hub/fleet"
	"ralph/cmd/internal/hub/fleet/label"
	"ralph/config/projects"
	"ralph/runner/carrier"
)

// stateHome is the user's folder for state.
func stateHome() string { return projects.StateHome(os.Getenv) }

// way has the flags that say how a verb reaches a fleet.
type way struct{ url, creds, labels string }

func (w *way) flags(cmd *cobra.Command, url, labels string) {
	cmd.Flags().StringVar(&w.url, url, "", "The `URL` of the fleet; without it, the server on this machine.")
	cmd.Flags().StringVar(&w.creds, "creds", os.Getenv(fleet.CredsVar),
		"A `FILE` with NATS credentials, instead of "+fleet.TokenVar+".")
	cmd.Flags().StringVar(&w.labels, "label", "", labels)
}

// access says how to reach the fleet. Without a URL, it is the server on this machine.
func (w *way) access(local func(stateHome string) (fleet.Access, error)) (fleet.Access, error) {
	if w.url == "" {
		a, err := local(stateHome())
		if err != nil {
			return a, usageError{err}
		}
		return a, nil
	}
	return fleet.Access{URL: w.url, Creds: w.creds, Token: os.Getenv(fleet.TokenVar)}, nil
}

func (w *way) needs() (label.Set, error) {
	all, err := label.Parse(w.labels)
	if err != nil {
		return nil, usageError{fmt.Errorf("--label: %w", err)}
	}
	return all, nil
}

func newFleetCmd() *cobra.Command {
	listen := "127.0.0.1:0"
	s := fleet.Server{StateHome: stateHome()}
	cmd := &cobra.Command{
		Use: "fleet", Short: "Run the server of a fleet", Args: cobra.NoArgs,
		Long: "Run the server of a fleet. Your own runs and workers on this machine find it; " +
			"all others need its address and a token.",
		Example: "  ralph-hub fleet\n  ralph-hub fleet --listen 0.0.0.0:4222\n" +
			"  ralph-hub fleet --listen 0.0.0.0:4222 --cert fleet.pem --key fleet.key",
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, port, err := net.SplitHostPort(listen)
			n, bad := strconv.Atoi(port)
			if err != nil || bad != nil || n < 0 || n > 65535 {
				return usageError{fmt.Errorf("--listen %q: write HOST:PORT", listen)}
			}
			if (s.Cert == "") != (s.Key == "") {
				return usageError{errors.New("--cert and --key: give both, or none")}
			}
			if n == 0 {
				n = -1 // any
			}
			s.Host, s.Port = host, n
			s.Trouble = func(err error) { fmt.Fprintf(os.Stderr, "ralph-hub: %v; trying again\n", err) }
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return s.Serve(ctx, func(url string) {
				fmt.Printf("%s\nits tokens, for runs and for workers, are in %s\n", url, fleet.Note(stateHome()))
			})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", listen,
		"Listen on `HOST:PORT`; port 0 means the same port as last time, or any free one.")
	cmd.Flags().StringVar(&s.Cert, "cert", "", "A `FILE` with the certificate for TLS.")
	cmd.Flags().StringVar(&s.Key, "key", "", "The `FILE` with its key.")
	return cmd
}

func newTurnCmd() *cobra.Command {
	var w way
	cmd := &cobra.Command{
		Use: "turn", Short: "Send one turn to a worker of the fleet", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			need, err := w.needs()
			if err != nil {
				return err
			}
			a, err := w.access(fleet.Local)
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "no worker of the fleet has answered yet")
			refused := func(n int, why string) {
				fmt.Fprintf(os.Stderr, "refused so far: %d; the last one: %s\n", n, why)
			}
			offer := fleet.Offer{Access: a, Need: need, Fits: fits, Refused: refused}
			return fleet.Turn(cmd.Context(), offer, os.Stdin, os.Stdout)
		},
	}
	w.flags(cmd, "fleet", "The `LABELS` that the worker must have.")
	return cmd
}

// fits says why a worker cannot work for the run that began with this line; nil: it can, or nobody knows.
func fits(hello []byte, theirs string) error {
	var line struct {
		Hello struct {
			Ralph string `json:"ralph"`
		} `json:"hello"`
	}
	if err := json.Unmarshal(hello, &line); err != nil || theirs == "" || line.Hello.Ralph == "" {
		return nil //nolint:nilerr // the worker reads the line, and says what is wrong with it
	}
	return carrier.Fits(line.Hello.Ralph, theirs)
}

func newWorkerCmd() *cobra.Command {
	var w way
	slots, program := 1, beside()
	cmd := &cobra.Command{
		Use: "worker", Short: "Take turns from a fleet", Args: cobra.NoArgs,
		Long: "Take turns from a fleet and carry them out on this machine, which needs ralph, git and the agents, " +
			"logged in.",
		Example: "  RALPH_FLEET_TOKEN=... ralph-hub worker --join nats://build1:4222 --slots 4\n" +
			"  ralph-hub worker --join tls://a:4222,tls://b:4222 --creds worker.creds --label gpu,linux",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if slots < 1 || slots > 64 {
				return usageError{fmt.Errorf("--slots %d: from 1 to 64", slots)}
			}
			labels, err := w.needs()
			if err != nil {
				return err
			}
			a, err := w.access(fleet.LocalWorker)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			host, _ := os.Hostname() // empty: nobody knows
			return fleet.Worker(ctx, fleet.Work{Access: a, Slots: slots, Labels: labels, Host: host,
				Ralph: versionOf(ctx, program), Args: []string{program, "turn", "--away"}, Env: os.Environ(),
				Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, "ralph-hub: "+format+"\n", args...) }})
		},
	}
	w.flags(cmd, "join", "`LABELS` of this machine, such as gpu,linux.")
	cmd.Flags().IntVar(&slots, "slots", slots, "How many turns to carry out at the same time: `N`.")
	cmd.Flags().StringVar(&program, "ralph", program, "The program `FILE`.")
	_ = cmd.Flags().MarkHidden("ralph") // ralph worker sets it; fails only for an unknown flag
	return cmd
}

// beside is the ralph in the folder of this program, else the one in PATH.
func beside() string {
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), "ralph")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return "ralph"
}

// versionOf is the version of a ralph; empty: unknown.
func versionOf(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	_, version, ok := strings.Cut(strings.TrimSpace(string(out)), "ralph ")
	if err != nil || !ok {
		return ""
	}
	return version
}
