// Package fleet carries turns to workers over NATS: an offer in a work queue of JetStream, and then the
// lines of `ralph turn --away` in both directions.
//
//	run -- stdin --> Turn -- in.WORKER.TURN.SESSION ----> Worker -- stdin --> ralph turn --away
//	run <- stdout -- Turn <-- out.TURN.WORKER.SESSION --- Worker <- stdout -- ralph turn --away
//
// A worker claims an offer from the Turn that made it. A queue may deliver an offer twice: so Turn listens
// only to the session that claimed last, and one turn has one result. The subjects of a worker contain its
// name, so that a server can keep it from the subjects of others.
package fleet

import (
	"cmp"
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
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ralph/cmd/internal/cmdline"
	"ralph/state/option"
)

const (
	ackWait   = 60 * time.Second
	progress  = 20 * time.Second
	beatEvery = linkBeatEvery    // between signs of life
	gone      = 30 * time.Second // without the server
	answers   = 3 * ackWait      // without a worker that began
	silence   = 20 * time.Second // without one the other side is gone
	misses    = 3                // heartbeats in a row that nobody receives: the worker is gone
	claimWait = 5 * time.Second
	dialWait  = 5 * time.Second
	part      = 512 << 10 // of a line; the default server takes 1 MiB
	longest   = 16 << 20  // line of a worker that is put together; a run refuses longer ones, too
)

// TokenVar is the variable with the token of a fleet. No agent gets it.
const TokenVar = "RALPH_FLEET_TOKEN"

// CredsVar is the variable with the path of a file with NATS credentials. No agent gets it either.
const CredsVar = "RALPH_FLEET_CREDS"

// Access is how to reach a fleet.
type Access struct {
	URL   string // addresses with commas between; empty: the embedded server of this machine
	Creds string // a file with NATS credentials; empty: Token is used
	Token string
	// home is the state home of the embedded server, which may come back at another address; empty: it is none.
	home string
	// waits is true for a worker of the embedded server: it waits for one that is not there yet.
	waits bool
}

// version is the version of offers and sessions. Both sides refuse any other.
const version = 3

// The subjects. who is the name of a worker, id that of a turn.
func claimOf(id, who string) string        { return "ralph.claim." + id + "." + who }
func inOf(who, id, session string) string  { return inboxOf(who) + "." + id + "." + session }
func outOf(id, who, session string) string { return "ralph.out." + id + "." + who + "." + session }
func inboxOf(who string) string            { return "ralph.in." + who }

// Note is the file in which the embedded server says how to reach it, below the user's state home.
func Note(stateHome string) string { return filepath.Join(stateHome, "ralph", "fleet", "server.json") }

// note is what the file says.
type note struct {
	Access
	WorkerToken string // may carry turns out, and nothing else
}

func readNote(stateHome string) (n note, err error) {
	data, err := os.ReadFile(Note(stateHome)) // file: in the state home
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		return n, errors.New("no fleet is named, and no server was started here; start one with: ralph-hub fleet")
	}
	return n, nil
}

// Local is the embedded server of this machine, for a run or for a worker.
func Local(stateHome string, worker bool) (Access, error) {
	n, err := readNote(stateHome)
	if n.home, n.waits = stateHome, worker; worker {
		n.Token = n.WorkerToken
	}
	return n.Access, err
}

// Dial connects to where the embedded server is now.
func (a Access) Dial(network, address string) (net.Conn, error) {
	if n, err := readNote(a.home); err == nil {
		if u, err := url.Parse(n.URL); err == nil {
			address = u.Host
		}
	}
	return (&net.Dialer{Timeout: dialWait}).DialContext(context.Background(), network, address)
}

// connect reaches the fleet. who is the name of a worker; empty: a run. The error is one line for people.
func (a Access) connect(name, who string) (*nats.Conn, jetstream.JetStream, error) {
	options := []nats.Option{nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second),
		nats.Timeout(dialWait), nats.RetryOnFailedConnect(a.waits),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})} // else it prints them
	switch {
	case a.Creds != "":
		options = append(options, nats.UserCredentials(a.Creds))
	case a.Token != "":
		options = append(options, nats.Token(a.Token))
	}
	if who != "" {
		options = append(options, nats.CustomInboxPrefix(inboxOf(who)))
		if a.Creds == "" {
			options = append(options, nats.UserInfo(who, "")) // a server of ralph gives it the rights of this worker
		}
	}
	if a.home != "" {
		options = append(options, nats.SetCustomDialer(a))
	}
	conn, err := nats.Connect(a.URL, options...)
	if _, unread := errors.AsType[*url.Error](err); unread {
		err = errors.New("it is no valid address") // the error quotes it, with its password
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reach the fleet at %s: %w", option.HideUsers(a.URL), err)
	}
	js, _ := jetstream.New(conn) // it refuses only options
	return conn, js, nil
}

// linked begins a session with the other end, which listens to this subject. missing gets a message when nobody does;
// empty: nobody wants to know.
func linked(conn *nats.Conn, to, missing string) *link {
	return newLink(func(data []byte, alive bool) (err error) {
		if alive && missing != "" {
			err = conn.PublishRequest(to, missing, data)
		} else {
			err = conn.Publish(to, data)
		}
		if err == nats.ErrReconnectBufExceeded { //nolint:errorlint // it is never wrapped
			return nil // without a server, the client keeps some messages; the rest is sent again later
		}
		return err
	})
}

// who is the name of a worker in its subjects: that of its user, to whom a NATS server gives rights. Without one it is
// a name that nobody can guess.
func (a Access) who() (string, error) {
	name := rand.Text()
	if u, err := url.Parse(strings.TrimSpace(strings.Split(a.URL, ",")[0])); err == nil && a.Creds == "" {
		if _, whole := u.User.Password(); whole {
			name = u.User.Username()
		}
	}
	if a.Creds != "" {
		text, err := os.ReadFile(a.Creds) // file: in the state home
		if err != nil {
			return "", fmt.Errorf("read credentials: %w", err)
		}
		token, err := jwt.ParseDecoratedJWT(text)
		if err != nil {
			return "", fmt.Errorf("read credentials %s: %w", a.Creds, err)
		}
		claims, err := jwt.DecodeUserClaims(token)
		if err != nil {
			return "", fmt.Errorf("read credentials %s: %w", a.Creds, err)
		}
		name = cmp.Or(claims.Name, claims.Subject)
	}
	if name == "" || strings.ContainsAny(name, " .*>\t\r\n") {
		return "", fmt.Errorf("the user %q of the fleet has a name that no subject can have: use letters, "+
			"digits and dashes", name)
	}
	return name, nil
}

const (
	stream  = "RALPH_OFFERS"
	copies  = 3 // of the queue, in a cluster
	oneTry  = 5 * time.Second
	again   = time.Second // between tries
	deliver = 6           // how often an offer is delivered; then the run makes it again
	kept    = 24 * time.Hour
)

// backoff is how long an offer stays with a silent worker, by how often it was delivered.
func backoff() []time.Duration {
	return []time.Duration{ackWait, ackWait, 2 * ackWait, 4 * ackWait, 8 * ackWait}
}

// offer is a turn that wants a worker.
type offer struct {
	V  int    `json:"v"`
	ID string `json:"id"`
}

// consumer is the name under which all workers take offers.
const consumer = "any"

func offerOf(id string) string { return fmt.Sprintf("ralph.offer.%d.%s.%s", version, consumer, id) }

// queue finds or makes the queue of offers. In a cluster, the queue has copies.
func queue(ctx context.Context, conn *nats.Conn, js jetstream.JetStream) error {
	err := persist(ctx, func(ctx context.Context) error {
		_, err := js.Stream(ctx, stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			c := jetstream.StreamConfig{Name: stream, Subjects: []string{"ralph.offer.>"},
				Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, MaxAge: kept, MaxMsgSize: 4096,
				MaxMsgsPerSubject: 1, Replicas: 1}
			if conn.ConnectedClusterName() != "" {
				c.Replicas = copies
			}
			_, err = js.CreateStream(ctx, c)
		}
		if err != nil {
			return err
		}
		if _, err = js.Consumer(ctx, stream, consumer); !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
		_, err = js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{Durable: consumer,
			AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: deliver, BackOff: backoff(), MaxAckPending: 10000,
			FilterSubject: offerOf(">")})
		return err
	})
	if err != nil {
		return fmt.Errorf("open the queue of the fleet: %w", err)
	}
	return nil
}

// persist retries f while the server, or a node of a cluster, is gone.
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
		if !cmdline.Pause(ctx, again) {
			return err
		}
	}
}
