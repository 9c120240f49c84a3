package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/fleet"
	"ralph/runner/carrier"
)

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
	return carrier.Fits(line.Hello.Ralph, theirs)
}
