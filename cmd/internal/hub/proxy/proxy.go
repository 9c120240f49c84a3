// Package proxy is an HTTP proxy that connects to allowed hosts only.
package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/elazarl/goproxy"

	"ralph/runner/sandbox/allow"
)

// Line is what the proxy prints: first that it is ready, then each refusal.
type Line struct {
	Ready   bool   `json:"ready,omitempty"`
	Refused string `json:"refused,omitempty"` // HOST:PORT
}

const (
	headerBound = 10 * time.Second // for a client to send its headers
	idleBound   = 2 * time.Minute
)

// Serve listens on the unix socket until ctx ends. Lines go to out as JSON.
func Serve(ctx context.Context, socket string, list allow.List, out io.Writer) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("listen for programs in the sandbox: %w", err)
	}
	server := &http.Server{Handler: handler(list, out), ReadHeaderTimeout: headerBound, IdleTimeout: idleBound,
		ErrorLog: quiet()}
	ended := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer ended()
	defer os.Remove(filepath.Dir(socket)) // whoever made it may be dead; closed, the socket is gone
	if err := json.NewEncoder(out).Encode(Line{Ready: true}); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func handler(list allow.List, out io.Writer) http.Handler {
	p := goproxy.NewProxyHttpServer()
	p.Logger = quiet()
	var mu sync.Mutex
	permits := func(hostport string) bool {
		host, port := split(hostport)
		if list.Permits(host, port) {
			return true
		}
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(out).Encode(Line{Refused: net.JoinHostPort(host, strconv.Itoa(int(port)))})
		return false
	}
	refusal := func(r *http.Request) *http.Response {
		return goproxy.NewResponse(r, goproxy.ContentTypeText, http.StatusForbidden,
			"ralph: SANDBOX_NET does not allow "+r.URL.Host+"\n")
	}
	p.OnRequest().HandleConnectFunc(func(host string, pc *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
		if permits(host) {
			return goproxy.OkConnect, host
		}
		pc.Resp = refusal(pc.Req)
		return goproxy.RejectConnect, host
	})
	p.OnRequest().DoFunc(func(r *http.Request, _ *goproxy.ProxyCtx) (*http.Request, *http.Response) {
		if r.URL.Scheme == "http" && permits(r.URL.Host) { // TLS comes through a tunnel
			return r, nil
		}
		return r, refusal(r)
	})
	return p
}

// split splits HOST:PORT. Without a port, it returns that of HTTP.
func split(hostport string) (host string, port uint16) {
	host, text, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport, 80
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return host, 0
	}
	return host, uint16(n)
}
