package hub

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/hub/proxy"
	"ralph/runner/sandbox"
)

type proxyOptions struct {
	socket string
	hosts  []string
}

func newProxyCmd() *cobra.Command {
	o := &proxyOptions{}
	cmd := &cobra.Command{
		Use: "proxy", Short: "Pass connections on to allowed hosts only", Args: cmdline.NoArgs,
		Long: "Listen on a unix socket as an HTTP proxy, and pass connections on to allowed hosts only. Print each refusal as one\n" +
			"line of JSON on stdout. Exit when stdin ends.",
		Example: "  ralph-hub proxy --socket /run/user/1000/proxy --allow api.anthropic.com,*.github.com",
		RunE:    func(cmd *cobra.Command, _ []string) error { return proxyRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.socket, "socket", "", "Listen on the unix socket `PATH`.")
	cmd.Flags().StringSliceVar(&o.hosts, "allow", nil, "A comma `LIST` of HOST, *.HOST, HOST:PORT and :PORT.")
	return cmd
}

func proxyRun(ctx context.Context, o *proxyOptions) error {
	if o.socket == "" {
		return cmdline.UsageError("proxy needs --socket")
	}
	list, err := sandbox.ParseAllowed(o.hosts)
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	ctx, stop := untilEOF(ctx)
	defer stop()
	return proxy.Serve(ctx, o.socket, list, os.Stdout)
}
