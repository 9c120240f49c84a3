package hub

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/hub/fleet"
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
		Example: "  ralph-hub fleet\n  ralph-hub fleet --listen 0.0.0.0:4222\n" +
			"  ralph-hub fleet --listen 0.0.0.0:4222 --cert fleet.pem --key fleet.key",
		RunE: func(cmd *cobra.Command, _ []string) error { return fleetRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0",
		"Listen on `HOST:PORT`; port 0 means any free one.")
	cmd.Flags().StringVar(&o.Cert, "cert", "", "A `FILE` with the certificate for TLS.")
	cmd.Flags().StringVar(&o.Key, "key", "", "The `FILE` with its key.")
	return cmd
}

func fleetRun(ctx context.Context, o *fleetOptions) error {
	host, port, err := net.SplitHostPort(o.listen)
	n, bad := strconv.Atoi(port)
	if err != nil || bad != nil || n < 0 || n > 65535 {
		return cmdline.UsageError("--listen %q: write HOST:PORT", o.listen)
	}
	if (o.Cert == "") != (o.Key == "") {
		return cmdline.UsageError("--cert and --key: give both, or none")
	}
	if n == 0 {
		n = -1 // any
	}
	o.Host, o.Port = host, n
	o.Trouble = func(err error) { fmt.Fprintf(os.Stderr, "ralph-hub: %v; trying again\n", err) }
	ctx, stop := untilSignal(ctx)
	defer stop()
	return o.Serve(ctx, func(url string) {
		fmt.Printf("%s\nits tokens, for runs and for workers, are in %s\n", url, fleet.Note(o.StateHome))
	})
}
