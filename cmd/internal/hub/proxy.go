package hub

import (
	"os"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/hub/proxy"
	"ralph/runner/sandbox/allow"
)

func newProxyCmd() *cobra.Command {
	var socket string
	var hosts []string
	cmd := &cobra.Command{
		Use: "proxy", Short: "Pass connections on to allowed hosts only",
		Long: "Listen on a unix socket as an HTTP proxy, and pass connections on to allowed hosts only. Print each refusal as one\n" +
			"line of JSON on stdout. Exit when stdin ends.",
		Example: "  ralph-hub proxy --socket /run/user/1000/proxy --allow api.anthropic.com,*.github.com",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := allow.Parse(hosts)
			if err != nil {
				return usageError{err}
			}
			ctx, stop := untilEOF(cmd.Context())
			defer stop()
			return proxy.Serve(ctx, socket, list, os.Stdout)
		},
	}
	cmd.Flags().StringVar(&socket, "socket", "", "Listen on the unix socket `PATH`.")
	cmd.Flags().StringSliceVar(&hosts, "allow", nil, "A comma `LIST` of HOST, *.HOST, HOST:PORT and :PORT.")
	_ = cmd.MarkFlagRequired("socket") // fails only for an unknown flag
	return cmd
}
