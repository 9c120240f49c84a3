package sandbox

// This file starts and ends the proxy of a sandbox.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent/wire"
)

// Proxy is a running proxy. The zero value is none.
type Proxy struct {
	Route Route // for sandbox.Box
	stop  func()
}

// Stop ends the proxy. It does not call refused after that.
func (p Proxy) Stop() {
	if p.stop != nil {
		p.stop()
	}
}

const (
	startTimeout = 10 * time.Second
	// maxStarts limits how often a proxy that died is started again.
	maxStarts = 10
	// maxRefusals limits how many refusals one proxy reports: a program may try for hours.
	maxRefusals = 1000
	maxAnswer   = 64 << 10 // bytes of a line of the proxy
)

// StartProxy starts the proxy if SANDBOX_NET lists hosts and the sandbox needs a proxy for that. The proxy ends with Stop,
// with ctx, and with this process; if it dies, Start starts it again on the same socket. For each connection that the
// proxy refuses, Start calls refused from another goroutine.
func StartProxy(ctx context.Context, s Settings, refused func(hostport string)) (Proxy, error) {
	if !s.NeedsProxy() {
		return Proxy{}, nil
	}
	hub, err := FindHub()
	if err != nil {
		return Proxy{}, err
	}
	dir, err := os.MkdirTemp("", "ralph-proxy-")
	if err != nil {
		return Proxy{}, fmt.Errorf("start the proxy: %w", err)
	}
	p := Proxy{Route: Route{Hub: hub, Socket: filepath.Join(dir, "socket")}}
	ctx, cancel := context.WithCancel(ctx)
	hold, release := io.Pipe() // its stdin: the proxy ends when it is closed
	lines := reader{ready: make(chan struct{}), refused: refused}
	out := wire.Lines{Max: maxAnswer, Line: lines.take, Long: func() {}}
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; n == 0 || n < maxStarts && lines.open && ctx.Err() == nil; n++ {
			_ = os.Remove(p.Route.Socket) // left by the proxy that died
			_, failed = ptyexec.Run(ctx, ptyexec.Command{
				Args: []string{hub, "proxy", "--socket", p.Route.Socket, "--allow", s.Listed().String()}, Stdin: hold,
				Pipe: true,
			}, func(p []byte) bool { _, _ = out.Write(p); return false })
		}
	}()
	p.stop = func() {
		cancel()
		_ = release.Close()
		<-ended
		_ = os.RemoveAll(dir)
	}
	select {
	case <-lines.ready:
		return p, nil
	case <-ended:
		err = errors.Join(failed, errors.New(cmp.Or(strings.TrimSpace(lines.other), "it ended immediately")))
	case <-time.After(startTimeout):
		err = errors.New("it did not answer")
	}
	p.stop()
	return Proxy{}, fmt.Errorf("start the proxy of the sandbox: %w", err)
}

// reader reads the lines that the proxy prints.
type reader struct {
	ready    chan struct{}
	refused  func(string)
	other    string
	open     bool
	reported int
}

func (r *reader) take(line string) {
	var l struct {
		Ready   bool
		Refused string
	}
	switch err := json.Unmarshal([]byte(line), &l); {
	case err != nil:
		r.other += line
	case l.Ready && !r.open:
		r.open = true
		close(r.ready)
	case l.Refused != "" && r.reported < maxRefusals:
		r.reported++
		r.refused(l.Refused)
	}
}

// network says what contained programs may connect to, and how. The zero value: nothing.
type network struct {
	netRules
	route Route
}

// Listed returns the hosts that contained programs may connect to; nil if SANDBOX_NET lists none.
func (s Settings) Listed() AllowList {
	n, _ := parseNetwork(s.SandboxNet) // a bad one is refused elsewhere, and lists nothing
	return n.List
}

// Route says how contained programs reach the hosts that SANDBOX_NET lists. The
// sandbox has no network; inside it, ralph-hub forwards connections to the
// proxy's socket. The zero value: no proxy runs.
type Route struct {
	Hub    string // the program ralph-hub
	Socket string // where the proxy listens; its folder has nothing else
}

// HubProgram is the only program of ralph that uses a network.
const HubProgram = "ralph-hub"

// FindHub returns the path of ralph-hub: beside this program, else in PATH.
func FindHub() (string, error) {
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), HubProgram)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	path, err := exec.LookPath(HubProgram)
	if err != nil {
		return "", errors.New("ralph-hub is neither beside ralph nor in PATH")
	}
	return path, nil
}

// noProxy says why the proxy for a list of hosts cannot run here; empty: it can, or there is no list.
func noProxy(n network) string {
	if len(n.List) == 0 {
		return ""
	}
	if _, err := FindHub(); err != nil {
		return "SANDBOX_NET: " + err.Error()
	}
	return ""
}

// proxyPort is where programs in a sandbox find the proxy, on their own loopback.
const proxyPort = 3128

// bridge returns arguments that run the program behind a bridge to the proxy, and the
// environment in which it finds the proxy.
func (n network) bridge(args, env []string) ([]string, []string, error) {
	if len(n.List) == 0 {
		return args, env, nil
	}
	if n.route == (Route{}) {
		return nil, nil, errors.New("SANDBOX_NET lists hosts, but no proxy is running")
	}
	ports := n.List.Loopback()
	port := uint16(proxyPort)
	for slices.Contains(ports, port) {
		port++
	}
	out := []string{n.route.Hub, "bridge", "--socket", n.route.Socket, "--proxy-port", strconv.Itoa(int(port))}
	for _, p := range ports {
		out = append(out, "--port", strconv.Itoa(int(p)))
	}
	return slices.Concat(out, []string{"--"}, args), slices.Concat(env, proxyVars(port)), nil
}

// proxyVars returns variables that send programs to the proxy, except for their own loopback.
func proxyVars(port uint16) []string {
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	vars := []string{"NODE_USE_ENV_PROXY=1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		vars = append(vars, name+"="+url)
	}
	own := "localhost,127.0.0.1,::1"
	return append(vars, "NO_PROXY="+own, "no_proxy="+own)
}

// programEnv returns env, or this process's environment if env is nil.
func programEnv(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

// NeedsProxy is true if these settings list hosts and the sandbox cannot enforce the list itself.
func (s Settings) NeedsProxy() bool {
	p := s.profile()
	return p.name != "" && p.filters == nil && len(s.Listed()) > 0
}
