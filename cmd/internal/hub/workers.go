package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/fleet"
)

type workersOptions struct {
	config.Way
	watch, serve bool
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
	cmd.Flags().BoolVar(&o.serve, "serve", false,
		"Also run the server on this machine, if there is none, until stdin ends.")
	return cmd
}

func workersRun(ctx context.Context, o *workersOptions) error {
	if err := o.Check("fleet"); err != nil {
		return cmdline.UsageError("%v", err)
	}
	ctx, stop := context.WithCancel(ctx)
	if o.watch || o.serve {
		ctx, stop = untilEOF(ctx)
	}
	defer stop()
	failed := make(chan error, 1)
	if o.serve && o.URL == "" {
		go func() { failed <- serveForRuns(ctx, stop) }()
	} else {
		failed <- nil
	}
	each := func(all []fleet.Here) { show(os.Stdout, all); stop() }
	if o.watch {
		each = func(all []fleet.Here) { _ = json.NewEncoder(os.Stdout).Encode(sum(all)) }
	}
	err := muster(ctx, o.Way, o.serve, each)
	stop()
	return errors.Join(<-failed, err)
}

const (
	nextTry = 200 * time.Millisecond
	tries   = 50
)

// muster calls the roll. A server that is about to start is waited for.
func muster(ctx context.Context, w config.Way, wait bool, each func([]fleet.Here)) error {
	for n := 1; ; n++ {
		a, err := reach(w, "fleet", false)
		if err == nil {
			err = fleet.Muster(ctx, a, each)
		}
		if err == nil || !wait || w.URL != "" || n >= tries || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(nextTry):
		}
	}
}

// serveForRuns runs the server of this machine until ctx ends. While another process runs one, it waits: that one may
// end with a run of its own.
func serveForRuns(ctx context.Context, failed func()) error {
	for ctx.Err() == nil {
		server := fleet.Server{StateHome: stateHome(), Host: "127.0.0.1", Port: -1}
		err := server.Serve(ctx, func(string) {})
		if err != nil && !errors.Is(err, fleet.ErrRuns) {
			failed()
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(nextTry):
		}
	}
	return nil
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

// report is the fleet in a few numbers, as ralph reads it.
type report struct {
	Workers int `json:"workers"`
	Busy    int `json:"busy"`
	Slots   int `json:"slots"`
}

// sum makes a report of who is here.
func sum(all []fleet.Here) report {
	r := report{Workers: len(all)}
	for _, h := range all {
		r.Busy += h.Busy
		r.Slots += h.Slots
	}
	return r
}
