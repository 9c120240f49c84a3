package sandbox

// This file starts and ends the proxy of a sandbox.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"ralph/ptyexec"
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
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; n == 0 || n < maxStarts && lines.open && ctx.Err() == nil; n++ {
			_ = os.Remove(p.Route.Socket) // left by the proxy that died
			_, failed = ptyexec.Run(ctx, ptyexec.Command{
				Args: []string{hub, "proxy", "--socket", p.Route.Socket, "--allow", s.Listed().String()}, Stdin: hold,
				Pipe: true,
			}, lines.read)
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
		err = errors.Join(failed, errors.New(lines.output()))
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
	rest     []byte
	other    bytes.Buffer
	open     bool
	reported int
}

func (r *reader) output() string {
	if r.other.Len() == 0 {
		return "it ended immediately"
	}
	return string(bytes.TrimSpace(r.other.Bytes()))
}

func (r *reader) read(p []byte) (final bool) {
	r.rest = append(r.rest, p...)
	for {
		line, rest, ok := bytes.Cut(r.rest, []byte("\n"))
		if !ok {
			return false
		}
		r.rest = rest
		r.take(line)
	}
}

func (r *reader) take(line []byte) {
	var l struct {
		Ready   bool
		Refused string
	}
	switch err := json.Unmarshal(line, &l); {
	case err != nil:
		r.other.Write(line)
	case l.Ready && !r.open:
		r.open = true
		close(r.ready)
	case l.Refused != "" && r.reported < maxRefusals:
		r.reported++
		r.refused(l.Refused)
	}
}
