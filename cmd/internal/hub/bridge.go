package hub

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/hub/bridge"
)

func newBridgeCmd() *cobra.Command {
	b := bridge.Bridge{}
	var ports []uint
	cmd := &cobra.Command{
		Use: "bridge --socket PATH -- PROGRAM [ARG...]", Short: "Run a program whose only network is a proxy's socket",
		Long: "Run a program that has no network. On its loopback, one port leads to the proxy, and others lead to the same ports\n" +
			"outside.",
		Args: cobra.MinimumNArgs(1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, p := range ports {
				if p == 0 || p > 65535 {
					return usageError{fmt.Errorf("--port %d is not from 1 to 65535", p)}
				}
				b.Ports = append(b.Ports, uint16(p))
			}
			code, err := b.Run(cmd.Context(), args)
			if err == nil && code != 0 {
				err = exited(code)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&b.Socket, "socket", "", "The proxy's unix socket `PATH`.")
	cmd.Flags().Uint16Var(&b.ProxyPort, "proxy-port", 0, "The proxy's `PORT` on the program's loopback.")
	cmd.Flags().UintSliceVar(&ports, "port", nil, "A `PORT` on the loopback outside that the program may connect to.")
	for _, name := range []string{"socket", "proxy-port"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}
