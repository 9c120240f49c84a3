// Package fleet carries turns to workers over NATS: an offer in a work queue of JetStream, and then the
// lines of `ralph turn --away` in both directions.
//
//	run -- stdin --> Turn -- in.SESSION ---> Worker -- stdin --> ralph turn --away
//	run <- stdout -- Turn <-- out.SESSION -- Worker <- stdout -- ralph turn --away
//
// A worker claims an offer from the Turn that made it. Redelivery does not mean exclusivity: only the
// session that claimed last is listened to, so that one turn has one result.
package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	stream    = "RALPH_WORK"
	offers    = "ralph.work.offer"
	ackWait   = 60 * time.Second
	progress  = 20 * time.Second
	beat      = 3 * time.Second  // between signs of life
	gone      = 30 * time.Second // without the server
	answers   = 3 * ackWait      // without a worker that began
	silence   = 20 * time.Second // without one the other side is gone
	misses    = 3                // signs of life that nobody listens to: the worker is gone
	claimWait = 5 * time.Second
	copies    = 3 // of the queue, in a cluster
	oneTry    = 5 * time.Second
	deliver   = 5         // how often an offer is handed out
	part      = 512 << 10 // of a line; the default server takes 1 MiB
)

// TokenVar is the variable with the token of a fleet. No agent gets it.
const TokenVar = "RALPH_FLEET_TOKEN"

// Access is how to reach a fleet.
type Access struct {
	URL   string // addresses with commas between; empty: the embedded server of this machine
	Creds string // a file with NATS credentials; empty: the token
	Token string
}

// offer is a turn that wants a worker.
type offer struct {
	V  int    `json:"v"`
	ID string `json:"id"`
}

// version is that of offers and sessions. A worker refuses any other.
const version = 2

func claimOf(id string) string { return "ralph.turn." + id + ".claim" }
func wayOf(id, session, direction string) string {
	return "ralph.turn." + id + "." + direction + "." + session
}

// Note is where the embedded server says how it is reached: a file below the state home of the user.
func Note(stateHome string) string { return filepath.Join(stateHome, "ralph", "fleet", "server.json") }

// Local is the embedded server of this machine.
func Local(stateHome string) (Access, error) {
	var a Access
	data, err := os.ReadFile(Note(stateHome))
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		return a, errors.New("no fleet is named, and no server was started here; start one with: ralph-hub fleet")
	}
	return a, nil
}

// connect reaches the fleet. The error is one line for people.
func (a Access) connect(name string) (*nats.Conn, jetstream.JetStream, error) {
	options := []nats.Option{nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second), nats.Timeout(5 * time.Second)}
	if a.Creds != "" {
		options = append(options, nats.UserCredentials(a.Creds))
	} else if a.Token != "" {
		options = append(options, nats.Token(a.Token))
	}
	conn, err := nats.Connect(a.URL, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("reach the fleet at %s: %w", shown(a.URL), err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("reach the fleet at %s: %w", shown(a.URL), err)
	}
	return conn, js, nil
}

// shown is a list of addresses without user names and passwords: the name may be the token.
func shown(addresses string) string {
	var all []string
	for _, address := range strings.Split(addresses, ",") {
		if u, err := url.Parse(strings.TrimSpace(address)); err == nil {
			u.User = nil
			address = u.String()
		} else {
			_, after, _ := strings.Cut(address, "@")
			address = after
		}
		all = append(all, address)
	}
	return strings.Join(all, ",")
}

// queue finds the work queue, or makes it: with copies where the server is a cluster.
func queue(ctx context.Context, conn *nats.Conn, js jetstream.JetStream) (s jetstream.Stream, err error) {
	err = persist(ctx, func(ctx context.Context) error {
		if s, err = js.Stream(ctx, stream); !errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
		c := jetstream.StreamConfig{Name: stream, Subjects: []string{"ralph.work.>"}, Retention: jetstream.WorkQueuePolicy,
			Storage: jetstream.FileStorage, MaxAge: 24 * time.Hour, MaxMsgSize: 4096, Replicas: 1}
		if conn.ConnectedClusterName() != "" {
			c.Replicas = copies
		}
		s, err = js.CreateStream(ctx, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the queue of the fleet: %w", err)
	}
	return s, nil
}

// persist tries again while a node of a cluster, or the server, is gone.
func persist(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, gone)
	defer cancel()
	for {
		try, done := context.WithTimeout(ctx, oneTry)
		err := f(try)
		done()
		refused := (*jetstream.APIError)(nil) // 503: of a cluster without a leader, for now
		if err == nil || errors.As(err, &refused) && refused.Code != http.StatusServiceUnavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(again):
		}
	}
}

// Server is the embedded one of a user.
type Server struct {
	StateHome string // of the user
	Host      string
	Port      int // -1: any
}

// keep is the port to listen on: with any, the one of the server before, so that its workers find this one. Another
// program may have taken it.
func (o Server) keep(before string) int {
	u, err := url.Parse(before)
	if o.Port >= 0 || err != nil {
		return o.Port
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return o.Port
	}
	l, err := net.Listen("tcp", net.JoinHostPort(o.Host, u.Port()))
	if err != nil {
		return o.Port
	}
	_ = l.Close()
	return port
}

// Serve runs the server until ctx ends. ready gets its address.
func (o Server) Serve(ctx context.Context, ready func(url string)) error {
	stateHome, host, port := o.StateHome, o.Host, o.Port
	dir := filepath.Dir(Note(stateHome))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return errors.New("start the server: one of yours runs already on this machine; ralph and workers find it by themselves")
	}
	defer lock.Unlock()
	token := rand.Text()
	if before, err := Local(stateHome); err == nil && before.Token != "" {
		token = before.Token // workers elsewhere know it
		port = o.keep(before.URL)
	}
	s, err := server.NewServer(&server.Options{ServerName: "ralph", Host: host, Port: port, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(dir, "store"), Authorization: token})
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("start the server: %s:%d cannot be listened on", host, port)
	}
	a := Access{URL: s.ClientURL(), Token: token}
	data, err := json.Marshal(a)
	if err == nil {
		err = os.WriteFile(Note(stateHome)+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(Note(stateHome)+".new", Note(stateHome))
	}
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	ready(a.URL)
	<-ctx.Done()
	return nil
}
