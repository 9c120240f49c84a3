package fleet

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"ralph/cmd/internal/cmdline"
)

// errRuns means that the user has a server already.
var errRuns = errors.New("start the server: one of yours runs already on this machine; " +
	"ralph and workers find it by themselves")

// restart is how often the server checks that its queue still works, and how long it waits before it starts again.
const restart = 5 * time.Second

// Server is the embedded NATS server of a user.
type Server struct {
	StateHome string // of the user
	Host      string
	Port      int // -1: any
	// Trouble is called with the reason why the server has to restart, once for each reason; nil: not called.
	Trouble func(error)
}

// keep is the port to listen on. If any will do, it is that of the server before, so that its workers find this one,
// unless another program has taken it.
func (o Server) keep(ctx context.Context, before string) int {
	u, err := url.Parse(before)
	if o.Port >= 0 || err != nil || u.Port() == "" {
		return o.Port
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(o.Host, u.Port()))
	if err != nil {
		return o.Port
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// door decides who may do what: a run everything, and a worker what its turns need.
type door struct{ run, worker string }

// Check is called by the server for each client that connects.
func (d door) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	is := func(token string) bool { return subtle.ConstantTimeCompare([]byte(o.Token), []byte(token)) == 1 }
	switch {
	case is(d.run):
		return true
	case is(d.worker) && o.Username != "" && !strings.ContainsAny(o.Username, " .*>\t\r\n"):
		c.RegisterUser(&server.User{Username: o.Username, Permissions: mayDo(o.Username)})
		return true
	}
	return false
}

// mayDo is all that a worker may do: take offers, claim turns, and talk to the run of each. docs/fleet.md has the same
// list for other NATS servers.
func mayDo(who string) *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{"ralph.claim.*." + who, "ralph.out.*." + who + ".>",
			"ralph.here.*", "$JS.API.CONSUMER.INFO." + stream + ".*",
			"$JS.API.CONSUMER.MSG.NEXT." + stream + ".*", "$JS.ACK." + stream + ".>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{inboxOf(who) + ".>", "ralph.roll"}},
	}
}

// options are those of the server.
func (o Server) options(dir string, d door) *server.Options {
	// The timeout is long because many may connect at once.
	return &server.Options{ServerName: "ralph", Host: o.Host, Port: o.Port, NoSigs: true, NoLog: true,
		MaxPayload: maxFrame, JetStream: true, StoreDir: filepath.Join(dir, "store"),
		CustomClientAuthentication: d, AuthTimeout: dialWait.Seconds()}
}

// Serve runs the server until ctx ends. ready gets its address.
func (o Server) Serve(ctx context.Context, ready func(url string)) error {
	dir := filepath.Dir(Note(o.StateHome))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return errRuns
	}
	defer func() { _ = lock.Unlock() }()
	d := door{run: rand.Text(), worker: rand.Text()}
	if before, err := readNote(o.StateHome); err == nil && before.Token != "" {
		d.run = before.Token
		if before.WorkerToken != "" {
			d.worker = before.WorkerToken // workers elsewhere know it
		}
		o.Port = o.keep(ctx, before.URL)
	}
	for begun, reported := false, ""; ; {
		err := o.live(ctx, dir, d, func(a Access) error {
			if begun {
				return nil // as it was
			}
			if err := write(Note(o.StateHome), note{a, d.worker}); err != nil {
				return fmt.Errorf("start the server: %w", err)
			}
			u, err := url.Parse(a.URL)
			if err == nil {
				o.Port, err = strconv.Atoi(u.Port())
			}
			begun = err == nil
			ready(a.URL)
			return err
		})
		if ctx.Err() != nil || !begun {
			return err
		}
		if o.Trouble != nil && err.Error() != reported { // its disk is full, or was when it started again
			reported = err.Error()
			o.Trouble(err)
		}
		if !cmdline.Pause(ctx, restart) {
			return nil
		}
	}
}

// live runs the server until ctx ends or the queue no longer works. ready gets the way to reach it.
func (o Server) live(ctx context.Context, dir string, d door, ready func(Access) error) error {
	s, err := server.NewServer(o.options(dir, d))
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("start the server: the server does not answer on %s:%d after 10 s", o.Host, o.Port)
	}
	a := Access{URL: s.ClientURL(), Token: d.run}
	conn, js, err := a.connect("ralph fleet", "")
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := queue(ctx, conn, js); err != nil { // workers must find it before the first run
		return err
	}
	if err := ready(a); err != nil {
		return err
	}
	tick := time.Tick(restart)
	for failed := 0; failed < 2; { // after a full disk, the queue keeps failing even when there is room again
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		if failed++; accepts(ctx, js) {
			failed = 0
		}
	}
	return errors.New("the queue of the fleet cannot be kept")
}

// accepts reports whether the queue still takes offers. It sends a test offer that no worker takes; each replaces the
// one before.
func accepts(ctx context.Context, js jetstream.JetStream) bool {
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	_, err := js.Publish(ctx, "ralph.offer.try", nil)
	return err == nil
}

func write(path string, n note) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, data, 0o600)
}
