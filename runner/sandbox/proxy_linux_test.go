package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/ptyexec"
)

// contained runs scripts in a sandbox whose network is the list.
type contained struct {
	t       *testing.T
	box     Box
	mu      sync.Mutex
	refused []string
}

func newContained(t *testing.T, hosts ...string) *contained {
	t.Helper()
	t.Setenv("PATH", world.Programs(t)+":"+os.Getenv("PATH"))
	s, err := Settings{Sandbox: "bwrap", SandboxNet: hosts}.Resolve()
	if err != nil {
		t.Skip(err)
	}
	c := &contained{t: t}
	p, err := StartProxy(t.Context(), s, func(host string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refused = append(c.refused, host)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	dir := t.TempDir()
	here, err := s.At(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.box = here.Box(dir, "")
	c.box.Route = p.Route
	return c
}

func (c *contained) sh(script string) (out string, code int) {
	c.t.Helper()
	cmd, err := c.box.Wrap(ptyexec.Command{Args: []string{"/bin/bash", "-c", script}, Dir: c.box.Dir})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	var b strings.Builder
	exit, err := ptyexec.Run(ctx, cmd, func(p []byte) bool { b.Write(p); return false })
	if err != nil {
		c.t.Fatal(err)
	}
	return b.String(), exit.Code
}

// server answers on the address, with a port of its own.
func server(t *testing.T, host string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s", r.Host)
	})}}
	s.Start()
	t.Cleanup(s.Close)
	return l.Addr().String()
}

// Scripts for bash: a request to a proxy, and one without.
func through(address string) string {
	return fmt.Sprintf(`p=${http_proxy##*:}; exec 3<>/dev/tcp/127.0.0.1/$p; printf 'GET http://%s/ HTTP/1.0\r\n\r\n' >&3; cat <&3`, address)
}

func tunnel(address string) string {
	return fmt.Sprintf(`p=${https_proxy##*:}; exec 3<>/dev/tcp/127.0.0.1/$p; printf 'CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n' >&3
while read -r l <&3; do echo "$l"; [ "$l" = $'\r' ] && break; done; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3`, address)
}

func straight(address string) string {
	host, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3`, host, port)
}

func TestProxy_listedHosts_andNoOthers(t *testing.T) {
	near, far, other := server(t, "127.0.0.1"), server(t, "127.0.0.2"), server(t, "127.0.0.3")
	c := newContained(t, near, far)
	for name, script := range map[string]string{
		"a port of the loopback outside": straight(near), "a listed host, through the proxy": through(far),
		"a listed host, through a tunnel": tunnel(far),
	} {
		if out, _ := c.sh(script); !strings.Contains(out, "hello from") {
			t.Errorf("%s: %s", name, out)
		}
	}
	for name, script := range map[string]string{
		"another host, without the proxy": straight(other), "a listed host, without the proxy": straight(far),
		"another host, through the proxy": through(other), "another host, through a tunnel": tunnel(other),
		"a name, without the proxy": "getent hosts example.org || exec 3<>/dev/tcp/example.org/80",
		"IPv6":                      "exec 3<>/dev/tcp/::1/" + other[strings.LastIndex(other, ":")+1:],
		"without the variables":     "unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY; " + straight(other),
	} {
		if out, code := c.sh(script); strings.Contains(out, "hello from") || code == 0 && !strings.Contains(out, "403") {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.refused) != 2 || c.refused[0] != other || c.refused[1] != other {
		t.Errorf("refused %q, want twice %s", c.refused, other)
	}
}

func TestBridge_passesOnHowTheProgramEnds(t *testing.T) {
	c := newContained(t, "127.0.0.1:1")
	for script, want := range map[string]int{"true": 0, "exit 7": 7, "kill -9 $$": 137, "test -t 0; test -t 1": 0} {
		if out, code := c.sh(script); code != want {
			t.Errorf("%s: exit %d, want %d: %s", script, code, want, out)
		}
	}
}

func TestProxy_killed_isStartedAgain(t *testing.T) {
	world.Long(t, "a proxy that is killed")
	near, far := server(t, "127.0.0.1"), server(t, "127.0.0.2")
	c := newContained(t, near, far)
	out, _ := c.sh(through(far))
	if !strings.Contains(out, "hello from") {
		t.Fatal(out)
	}
	if n := killAll(t, c.box.Route.Socket); n == 0 {
		t.Fatal("no proxy to kill")
	}
	for end := time.Now().Add(10 * time.Second); ; {
		if out, _ = c.sh(through(far)); strings.Contains(out, "hello from") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no way to the listed host after the proxy was killed: %s", out)
		}
	}
}

// killAll kills each process that names the socket in its arguments.
func killAll(t *testing.T, socket string) (killed int) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		line, _ := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if args := strings.Split(string(line), "\x00"); slices.Contains(args, socket) && filepath.Base(args[0]) == "ralph-hub" {
			killed++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return killed
}

func TestStart_stopped_leavesNothing(t *testing.T) {
	c := newContained(t, "example.com")
	socket := c.box.Route.Socket
	if _, err := os.Stat(socket); err != nil {
		t.Fatal(err)
	}
	s := Settings{Sandbox: "bwrap", SandboxNet: []string{"example.com"}}
	p, err := StartProxy(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if _, err := os.Stat(p.Route.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if conn, err := net.Dial("unix", p.Route.Socket); err == nil {
		conn.Close()
		t.Error("the proxy still listens")
	}
}

func TestStart_notNeeded_startsNothing(t *testing.T) {
	for _, s := range []Settings{{}, {Sandbox: "bwrap"}, {Sandbox: "bwrap", SandboxNet: []string{"none"}}, {Sandbox: "landlock", SandboxNet: []string{":443"}}} {
		if p, err := StartProxy(t.Context(), s, nil); err != nil || p.Route != (Route{}) {
			t.Errorf("%v: %v, %v", s, p.Route, err)
		}
	}
}
