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
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/elazarl/goproxy"
	"golang.org/x/net/http/httpproxy"

	"ralph/runner/sandbox"
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
func Serve(ctx context.Context, socket string, list sandbox.AllowList, out io.Writer) error {
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

func handler(list sandbox.AllowList, out io.Writer) http.Handler {
	p := goproxy.NewProxyHttpServer()
	p.Logger = quiet()
	var mu sync.Mutex
	tell := func(hostport string) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(out).Encode(Line{Refused: hostport})
	}
	permits := func(hostport string) bool {
		host, port := split(hostport)
		if list.Permits(host, port) {
			return true
		}
		tell(net.JoinHostPort(host, strconv.Itoa(int(port))))
		return false
	}
	request := toHosts(p, list, tell)
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
	p.OnRequest().DoFunc(func(r *http.Request, pc *goproxy.ProxyCtx) (*http.Request, *http.Response) {
		if r.URL.Scheme == "http" && permits(r.URL.Host) { // TLS comes through a tunnel
			pc.RoundTripper = request
			return r, nil
		}
		return r, refusal(r)
	})
	return p
}

const dialBound = 30 * time.Second

// toHosts makes the proxy open tunnels only to addresses that the list lets an allowed host have, and returns what makes
// requests to no others.
func toHosts(p *goproxy.ProxyHttpServer, list sandbox.AllowList, tell func(hostport string)) goproxy.RoundTripperFunc {
	check := func(address string) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || list.Reaches(a) {
			return err
		}
		tell(a.String())
		return fmt.Errorf("ralph: SANDBOX_NET does not name %s, which is not a public address", a)
	}
	dialer := &net.Dialer{Timeout: dialBound, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return check(address) // of each address that is tried, just before it is
	}}
	// Another proxy of the user's finds addresses itself, and may be on a private one.
	other, find := goproxy.NewProxyHttpServer(), httpproxy.FromEnvironment().ProxyFunc()
	other.Logger, other.Tr = quiet(), &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) { return find(r.URL) }}
	through := func(r *http.Request, scheme, hostport string) (*url.URL, error) {
		via, err := find(&url.URL{Scheme: scheme, Host: hostport})
		if via == nil || err != nil {
			return nil, err
		}
		host, port := split(hostport)
		addrs, _ := net.DefaultResolver.LookupNetIP(r.Context(), "ip", host) // perhaps only the other proxy knows the name
		for _, addr := range addrs {
			if err := check(netip.AddrPortFrom(addr, port).String()); err != nil {
				return nil, err
			}
		}
		return via, nil
	}
	p.Tr = &http.Transport{DialContext: dialer.DialContext}
	p.ConnectDialWithReq = func(r *http.Request, network, addr string) (net.Conn, error) {
		via, err := through(r, "https", addr)
		switch {
		case err != nil:
			return nil, err
		case via == nil:
			return dialer.DialContext(r.Context(), network, addr)
		}
		dial := other.NewConnectDialToProxy(via.String())
		if dial == nil {
			return nil, fmt.Errorf("ralph: HTTPS_PROXY=%s is not an HTTP proxy", via.Redacted())
		}
		return dial(network, addr)
	}
	return func(r *http.Request, pc *goproxy.ProxyCtx) (*http.Response, error) {
		via, err := through(r, "http", r.URL.Host)
		if err != nil {
			return nil, err
		}
		if via == nil {
			return p.Tr.RoundTrip(r)
		}
		return other.Tr.RoundTrip(r)
	}
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
