package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/fleet"
	"ralph/runner/turn/remote"
	"ralph/state"
)

type fleetOptions struct {
	fleet.Server
	listen string
}

func newFleetCmd() *cobra.Command {
	o := &fleetOptions{Server: fleet.Server{StateHome: stateHome()}}
	cmd := &cobra.Command{
		Use: "fleet", Short: "Run the server of a fleet", Args: cmdline.NoArgs,
		Long: "Run the server of a fleet. Your own runs and workers on this machine find it; " +
			"all others need its address and a token.",
		Example: "  ralph-hub fleet\n  ralph-hub fleet --listen 0.0.0.0:4222",
		RunE:    func(cmd *cobra.Command, _ []string) error { return fleetRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0",
		"Listen on `HOST:PORT`; port 0 means the same port as last time, or any free one.")
	return cmd
}

func fleetRun(ctx context.Context, o *fleetOptions) error {
	host, port, err := net.SplitHostPort(o.listen)
	n, bad := strconv.Atoi(port)
	if err != nil || bad != nil || n < 0 || n > 65535 {
		return cmdline.UsageError("--listen %q: write HOST:PORT", o.listen)
	}
	n = cmp.Or(n, -1) // any
	o.Host, o.Port = host, n
	o.Trouble = func(err error) { fmt.Fprintf(os.Stderr, "ralph-hub: %v; trying again\n", err) }
	ctx, stop := untilSignal(ctx)
	defer stop()
	return o.Serve(ctx, func(url string) {
		fmt.Printf("%s\nits tokens, for runs and for workers, are in %s\n", url, fleet.Note(o.StateHome))
	})
}

func newTurnCmd() *cobra.Command {
	o := newWay()
	cmd := &cobra.Command{
		Use: "turn", Short: "Send one turn to a worker of the fleet", Args: cmdline.NoArgs, Hidden: true,
		Long: "Send one turn to a worker of the fleet. A run starts it; " +
			"both speak the protocol of ralph turn --away.",
		Example: "  ralph-hub turn --fleet nats://build1:4222",
		RunE:    func(cmd *cobra.Command, _ []string) error { return turnRun(cmd.Context(), &o) },
	}
	o.Flags(cmd.Flags(), "fleet")
	return cmd
}

func turnRun(ctx context.Context, o *config.Way) error {
	a, err := reach(*o, "fleet", false)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "no worker of the fleet has answered yet")
	refused := func(n int, why string) {
		fmt.Fprintf(os.Stderr, "refused so far: %d; the last one: %s\n", n, why)
	}
	offer := fleet.Offer{Access: a, Fits: fits, Refused: refused}
	return fleet.Turn(ctx, offer, os.Stdin, os.Stdout)
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
	return remote.Fits(line.Hello.Ralph, theirs)
}

type workerOptions struct {
	config.Worker
	ralph string
}

func newWorkerCmd() *cobra.Command {
	o := &workerOptions{Worker: config.Worker{Way: newWay()}}
	cmd := &cobra.Command{
		Use: "worker", Short: "Take turns from a fleet", Args: cmdline.NoArgs,
		Long: "Take turns from a fleet and carry them out on this machine, which needs ralph, git and the agents, " +
			"logged in.",
		Example: "  RALPH_FLEET_TOKEN=... ralph-hub worker --join nats://build1:4222 --slots 4\n" +
			"  ralph-hub worker --join tls://a:4222,tls://b:4222 --creds worker.creds",
		RunE: func(cmd *cobra.Command, _ []string) error { return workerRun(cmd.Context(), o) },
	}
	o.Flags(cmd.Flags())
	ralphFlag(cmd, &o.ralph)
	return cmd
}

func workerRun(ctx context.Context, o *workerOptions) error {
	if err := o.Check(); err != nil {
		return cmdline.UsageError("%v", err)
	}
	a, err := reach(o.Way, "join", true)
	if err != nil {
		return err
	}
	ralph, err := findRalph(o.ralph)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	host, _ := os.Hostname() // empty: nobody knows
	return fleet.Worker(ctx, fleet.Work{Access: a, Slots: o.Slots, Host: host,
		Ralph: versionOf(ctx, ralph), Args: []string{ralph, "turn", "--away"}, Env: os.Environ(),
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, "ralph-hub: "+format+"\n", args...) }})
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

type workersOptions struct {
	config.Way
	watch bool
}

func newWorkersCmd() *cobra.Command {
	o := &workersOptions{Way: newWay()}
	cmd := &cobra.Command{
		Use: "workers", Short: "List the workers of a fleet", Args: cmdline.NoArgs,
		Long: "List the workers of a fleet: their machines and slots, and for each how many offers and messages it has\n" +
			"refused, and how many of its results were discarded because the run had given up on the worker.",
		Example: "  ralph-hub workers\n  RALPH_FLEET_TOKEN=... ralph-hub workers --fleet nats://build1:4222",
		RunE:    func(cmd *cobra.Command, _ []string) error { return workersRun(cmd.Context(), o) },
	}
	o.Flags(cmd.Flags(), "fleet")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "Write a line of JSON whenever something changes, until stdin ends.")
	return cmd
}

func workersRun(ctx context.Context, o *workersOptions) error {
	if err := o.Check("fleet"); err != nil {
		return cmdline.UsageError("%v", err)
	}
	ctx, stop := context.WithCancel(ctx)
	if o.watch {
		ctx, stop = untilEOF(ctx)
	}
	defer stop()
	each := func(all []fleet.Here) { show(os.Stdout, all); stop() }
	if o.watch {
		each = func(all []fleet.Here) { _ = json.NewEncoder(os.Stdout).Encode(sum(all)) }
	}
	a, err := reach(o.Way, "fleet", false)
	if err != nil {
		return err
	}
	return fleet.Muster(ctx, a, each)
}

// show is a table for people.
func show(to io.Writer, all []fleet.Here) {
	if len(all) == 0 {
		fmt.Fprintln(to, "no worker has answered")
		return
	}
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MACHINE\tRALPH\tBUSY\tREFUSED\tDISCARDED")
	for _, h := range all {
		fmt.Fprintf(t, "%q\t%q\t%d of %d\t%d\t%d\n", h.Host, h.Ralph, h.Busy, h.Slots, h.Refused, h.Discarded)
	}
	_ = t.Flush()
}

// sum is the fleet in a few numbers, as ralph reads it.
func sum(all []fleet.Here) state.FleetStatus {
	r := state.FleetStatus{Workers: len(all)}
	for _, h := range all {
		r.Busy += h.Busy
		r.Slots += h.Slots
	}
	return r
}

// stateHome is the user's folder for state.
func stateHome() string { return user().StateHome() }

func user() config.Loader { return config.Loader{Env: os.Environ(), Home: os.Getenv("HOME")} }

// newWay says how a verb reaches a fleet, as far as the environment knows.
func newWay() config.Way { return config.Way{Creds: os.Getenv(fleet.CredsVar)} }

// reach says how to reach the fleet that the flags name; url is the name of a flag. Without a URL, it is the server on
// this machine.
func reach(w config.Way, url string, worker bool) (a fleet.Access, err error) {
	if err = w.Check(url); err == nil && w.URL == "" {
		a, err = fleet.Local(stateHome(), worker)
	} else if err == nil {
		a = fleet.Access{URL: w.URL, Creds: w.Creds, Token: os.Getenv(fleet.TokenVar)}
	}
	if err != nil {
		return a, cmdline.UsageError("%v", err)
	}
	return a, nil
}
