package hub

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

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

// bridgeOptions are what a program in a sandbox without a network can connect to, on its own loopback: a proxy outside,
// through a unix socket.
type bridgeOptions struct {
	socket    string // of the proxy
	proxyPort uint16 // the proxy itself
	ports     []uint // each leads to the same port on the loopback outside
}

func newBridgeCmd() *cobra.Command {
	o := &bridgeOptions{}
	cmd := &cobra.Command{
		Use: "bridge --socket PATH -- PROGRAM [ARG...]", Short: "Run a program whose only network is a proxy's socket",
		Long: "Run a program that has no network. On its loopback, one port leads to the proxy, and others lead to the same ports\n" +
			"outside.",
		Args: cmdline.Takes("a program", cobra.MinimumNArgs(1)), Hidden: true,
		Example: "  ralph-hub bridge --socket /run/user/1000/proxy --proxy-port 8080 -- claude -p",
		RunE:    func(cmd *cobra.Command, args []string) error { return bridgeRun(cmd.Context(), o, args) },
	}
	cmd.Flags().StringVar(&o.socket, "socket", "", "The proxy's unix socket `PATH`.")
	cmd.Flags().Uint16Var(&o.proxyPort, "proxy-port", 0, "The proxy's `PORT` on the program's loopback.")
	cmd.Flags().UintSliceVar(&o.ports, "port", nil, "A `PORT` on the loopback outside that the program may connect to.")
	return cmd
}

// bridgeRun runs the program. The exit code is 128 more than the number of the signal that ended it.
func bridgeRun(ctx context.Context, o *bridgeOptions, program []string) error {
	if o.socket == "" || o.proxyPort == 0 {
		return cmdline.UsageError("bridge needs --socket and --proxy-port")
	}
	if err := o.listen(ctx); err != nil {
		return err
	}
	// These go to the whole group, and the program decides. Caught, not ignored, since
	// the program would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGTERM)
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var failed *exec.ExitError
	err := cmd.Run()
	if !errors.As(err, &failed) {
		return err
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &cmdline.ExitError{Code: 128 + int(status.Signal())}
	}
	return &cmdline.ExitError{Code: failed.ExitCode()}
}

func (o *bridgeOptions) listen(ctx context.Context) error {
	var network net.ListenConfig
	proxy, err := network.Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", o.proxyPort))
	if err != nil {
		return fmt.Errorf("listen in the sandbox: %w", err)
	}
	go accept(proxy, func(c net.Conn) { o.pass(ctx, c, "") })
	for _, port := range o.ports {
		if port == 0 || port > 65535 {
			return cmdline.UsageError("--port %d is not from 1 to 65535", port)
		}
		outside := fmt.Sprintf("127.0.0.1:%d", port)
		l, err := network.Listen(ctx, "tcp4", outside)
		if err != nil {
			return fmt.Errorf("listen in the sandbox: %w", err)
		}
		go accept(l, func(c net.Conn) { o.pass(ctx, c, outside) })
		// Not everywhere is there an IPv6 loopback.
		if l, err := network.Listen(ctx, "tcp6", fmt.Sprintf("[::1]:%d", port)); err == nil {
			go accept(l, func(c net.Conn) { o.pass(ctx, c, outside) })
		}
	}
	return nil
}

func accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go serve(c)
	}
}

// pass joins the connection with the proxy, or with what the proxy connects it to.
func (o *bridgeOptions) pass(ctx context.Context, inside net.Conn, to string) {
	defer inside.Close()
	outside, err := new(net.Dialer).DialContext(ctx, "unix", o.socket)
	if err != nil {
		return
	}
	defer outside.Close()
	from := bufio.NewReader(outside)
	if to != "" {
		if _, err := fmt.Fprintf(outside, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to, to); err != nil {
			return
		}
		answer, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
		if err != nil || answer.StatusCode != http.StatusOK {
			return
		}
	}
	go func() {
		_, _ = io.Copy(outside, inside)
		closeWrite(outside)
	}()
	_, _ = io.Copy(inside, from)
	closeWrite(inside)
}

// closeWrite tells the other side that nothing more comes.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
