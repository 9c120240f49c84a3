package hub

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/hub/bridge"
)

type bridgeOptions struct {
	bridge.Bridge
	ports []uint
}

func newBridgeCmd() *cobra.Command {
	o := &bridgeOptions{}
	cmd := &cobra.Command{
		Use: "bridge --socket PATH -- PROGRAM [ARG...]", Short: "Run a program whose only network is a proxy's socket",
		Long: "Run a program that has no network. On its loopback, one port leads to the proxy, and others lead to the same ports\n" +
			"outside.",
		Args: cobra.MinimumNArgs(1), Hidden: true,
		Example: "  ralph-hub bridge --socket /run/user/1000/proxy --proxy-port 8080 -- claude -p",
		RunE:    func(cmd *cobra.Command, args []string) error { return bridgeRun(cmd.Context(), o, args) },
	}
	cmd.Flags().StringVar(&o.Socket, "socket", "", "The proxy's unix socket `PATH`.")
	cmd.Flags().Uint16Var(&o.ProxyPort, "proxy-port", 0, "The proxy's `PORT` on the program's loopback.")
	cmd.Flags().UintSliceVar(&o.ports, "port", nil, "A `PORT` on the loopback outside that the program may connect to.")
	for _, name := range []string{"socket", "proxy-port"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}

func bridgeRun(ctx context.Context, o *bridgeOptions, program []string) error {
	for _, p := range o.ports {
		if p == 0 || p > 65535 {
			return usageError{fmt.Errorf("--port %d is not from 1 to 65535", p)}
		}
		o.Ports = append(o.Ports, uint16(p))
	}
	code, err := o.Run(ctx, program)
	if err == nil && code != 0 {
		err = exited(code)
	}
	return err
}
