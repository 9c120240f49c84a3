package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/board"
	"ralph/state"
)

type serveOptions struct {
	config.Serve
	ralph string
}

func newServeCmd() *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use: "serve", Short: "Show all of your runs in a browser", Args: cmdline.NoArgs,
		Example: "  ralph-hub serve\n  ralph-hub serve --actions",
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveRun(cmd.Context(), o, cmd.OutOrStdout()) },
	}
	o.Flags(cmd.Flags())
	ralphFlag(cmd, &o.ralph)
	return cmd
}

// doorOf makes the access control of the dashboard.
func doorOf(s config.Serve, stateHome string) (*board.Door, error) {
	if stateHome == "" {
		return nil, errors.New("neither XDG_STATE_HOME nor HOME is set")
	}
	token, err := board.ReadToken(filepath.Join(stateHome, "ralph", "hub", "token"))
	if err != nil {
		return nil, err
	}
	d := &board.Door{Token: token, Closed: !s.Loopback() || s.Proxy != "", Secure: s.Cert != "" || s.Proxy != "",
		Used: filepath.Join(stateHome, "ralph", "hub", "used-links"), Now: time.Now}
	if s.Proxy != "" {
		d.Public, err = url.Parse(s.Proxy)
	}
	return d, err
}

// serveRun serves the dashboard until ctx ends. Runs do not depend on it.
func serveRun(ctx context.Context, o *serveOptions, out io.Writer) error {
	if err := o.Check(); err != nil {
		return cmdline.UsageError("%v", err)
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	s, stateHome := o.Serve, stateHome()
	if run := os.Getenv(state.InsideVar); run != "" && (s.Actions || s.Link) {
		return cmdline.UsageError("this is inside of run %s, and an agent cannot act as a person; "+
			"do it in a terminal of your own", run)
	}
	d, err := doorOf(s, stateHome)
	if err != nil {
		return err
	}
	if s.Link {
		fmt.Fprintln(out, d.Link(s.URL()))
		if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.Listen); err == nil {
			return conn.Close()
		}
		fmt.Fprintf(os.Stderr, "nothing listens on %s yet; start the dashboard with: ralph serve --actions\n", s.Listen)
		return nil
	}
	ralph, err := findRalph(o.ralph)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, s)
	if err != nil {
		return err
	}
	if _, port, _ := net.SplitHostPort(s.Listen); port == "0" { // the system has chosen one
		s.Listen = listener.Addr().String()
	}
	b := &board.Board{Door: d, Actions: s.Actions, Ralph: ralph, Projects: user().Projects}
	server := &http.Server{Handler: b.Handler(ctx), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintf(out, "the dashboard is at %s\n", s.URL())
	if s.Actions || d.Closed {
		fmt.Fprintf(out, "log in with %s (good for 15 minutes)\n", d.Link(s.URL()))
	}
	if err = server.Serve(listener); errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func listen(ctx context.Context, s config.Serve) (net.Listener, error) {
	var secure *tls.Config
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, cmdline.UsageError("--cert and --key: %v", err)
		}
		secure = &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"},
			MinVersion: tls.VersionTLS12}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another program listens on %s; choose another port with --listen", s.Listen)
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %s", strings.TrimPrefix(err.Error(), "listen "))
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	return listener, nil
}
