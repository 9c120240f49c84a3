package notify

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	maxBody    = 16 << 10 // bytes of one reply
	maxWaiting = 100      // replies that nobody has looked at
	patience   = 15 * time.Second
)

// webhook takes replies by POST, with the token as bearer.
type webhook struct {
	token, path string
	patience    time.Duration // how long a sender waits for the outcome of a reply

	mu      sync.Mutex
	waiting []received
}

// serve listens on the host of an address until ctx ends.
func serve(ctx context.Context, to *url.URL, token string) (*webhook, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", to.Host)
	if err != nil {
		return nil, fmt.Errorf("listen for replies: %w", err)
	}
	w := &webhook{token: token, path: "/" + strings.Trim(to.Path, "/"), patience: patience}
	server := &http.Server{Handler: w, ReadTimeout: repliesBound, WriteTimeout: repliesBound, MaxHeaderBytes: 8 << 10}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }() // until it is closed
	return w, nil
}

// ServeHTTP gives no hint about the token.
func (w *webhook) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok || subtle.ConstantTimeCompare([]byte(token), []byte(w.token)) != 1:
		http.Error(out, "the token is missing or wrong", http.StatusUnauthorized)
		return
	case "/"+strings.Trim(r.URL.Path, "/") != w.path:
		http.NotFound(out, r)
		return
	case r.Method != http.MethodPost:
		http.Error(out, "replies come by POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxBody))
	if err != nil {
		http.Error(out, "a reply has at most 16 KiB", http.StatusRequestEntityTooLarge)
		return
	}
	came := make(chan result, 1) // buffered: the sender may have stopped waiting
	reply := received{Source: "webhook", ID: rand.Text(), Text: strings.TrimSpace(string(body)), result: came}
	if _, _, ok := reply.Verb(); !ok {
		http.Error(out, "a reply is pause, resume, stop, or answer ID TEXT", http.StatusBadRequest)
		return
	}
	if !w.put(reply) {
		http.Error(out, "too many replies wait", http.StatusTooManyRequests)
		return
	}
	select {
	case c := <-came:
		out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if !c.ok {
			out.WriteHeader(http.StatusConflict)
		}
		fmt.Fprintln(out, c.said)
	case <-time.After(w.patience):
		out.WriteHeader(http.StatusAccepted) // the outcome will be in replies.jsonl
	case <-r.Context().Done():
	}
}

// put reports whether there is room for a reply.
func (w *webhook) put(r received) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) >= maxWaiting {
		return false
	}
	w.waiting = append(w.waiting, r)
	return true
}

// take returns what has arrived since the last call.
func (w *webhook) take() []received {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.waiting
	w.waiting = nil
	return all
}

// retryListen is the time between two tries to listen: another watcher may have the port.
const retryListen = 30 * time.Second

func (b *inbox) webhook(ctx context.Context) ([]received, error) {
	if b.hook == nil {
		if time.Since(b.tried) < retryListen {
			return nil, nil
		}
		b.tried = time.Now()
		var err error
		if b.hook, err = serve(ctx, b.to, b.token); err != nil {
			return nil, err
		}
	}
	return b.hook.take(), nil
}
