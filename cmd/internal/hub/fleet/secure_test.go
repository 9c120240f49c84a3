package fleet

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// greet has one turn carried out: what comes back is what went there, with a greeting.
func greet(t *testing.T, run, worker Access) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- Worker(ctx, Work{Access: worker, Slots: 1, Log: t.Logf, Args: []string{"/bin/sh", "-c", "read a; echo hello $a"}, Env: os.Environ()})
	}()
	turned := make(chan error, 1)
	var out strings.Builder
	in, feed := net.Pipe()
	defer feed.Close()
	go func() { _, _ = fmt.Fprintln(feed, "secret of this turn") }()
	go func() { turned <- Turn(ctx, Offer{Access: run}, in, &out) }()
	var err error
	select {
	case err = <-turned:
	case err = <-ended: // it could not join
		cancel()
		<-turned
		return err
	}
	cancel()
	if joined := <-ended; joined != nil {
		return joined
	}
	if err == nil && out.String() != "hello secret of this turn\n" {
		err = fmt.Errorf("the run reads %q", out.String())
	}
	return err
}

// documented is the configuration in docs/fleet.md, as a server.
func documented(t *testing.T, ca authority) string {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, conf, _ := strings.Cut(string(text), "```conf\n")
	conf, _, whole := strings.Cut(conf, "```")
	if !whole {
		t.Fatal("docs/fleet.md has no configuration")
	}
	dir := t.TempDir()
	ca.server(dir)
	t.Chdir(dir)
	if err := os.WriteFile("nats.conf", []byte(conf+"listen: \"127.0.0.1:-1\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile("nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	o.NoLog, o.NoSigs = true, true
	return launch(t, o)
}

func launch(t *testing.T, o *server.Options) string {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.Addr().String()
}

// spy listens with the rights of a worker, and tries all that it has no right to.
type spy struct {
	conn    *nats.Conn
	mu      sync.Mutex
	heard   []string
	refused []string
}

func newSpy(t *testing.T, a Access, who string) *spy {
	t.Helper()
	s := &spy{}
	conn, _, err := a.connect("spy", who)
	if err != nil {
		t.Fatal(err)
	}
	s.conn = conn
	conn.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.refused = append(s.refused, err.Error())
	})
	t.Cleanup(conn.Close)
	for _, subject := range []string{">", "ralph.>", "ralph.in.>", "ralph.in.other.>", "ralph.out.>", "ralph.claim.>", "ralph.here.>", "ralph.offer.>",
		"_INBOX.>", "$JS.ACK.>", "$JS.API.>"} {
		if _, err := conn.Subscribe(subject, func(m *nats.Msg) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.heard = append(s.heard, m.Subject+" "+string(m.Data))
		}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// ask is a request that has to be refused.
func (s *spy) ask(t *testing.T, subject, data string) {
	t.Helper()
	if m, err := s.conn.Request(subject, []byte(data), 300*time.Millisecond); err == nil {
		t.Errorf("%s is answered: %.200s", subject, m.Data)
	}
}

// parties are those who know a fleet.
type parties struct {
	run, worker, spy Access
	who              string // the spy's name
}

// wantKeptOut checks that a worker learns nothing of a turn that is another one's.
func wantKeptOut(t *testing.T, p parties) {
	t.Helper()
	s := newSpy(t, p.spy, p.who)
	if err := greet(t, p.run, p.worker); err != nil {
		t.Error(err)
	}
	s.ask(t, "$JS.API.STREAM.MSG.GET."+stream, `{"seq":1}`)
	s.ask(t, "$JS.API.DIRECT.GET."+stream, `{"seq":1}`)
	s.ask(t, "$JS.API.STREAM.INFO."+stream, "")
	s.ask(t, "$JS.API.STREAM.DELETE."+stream, "")
	s.ask(t, "$JS.API.CONSUMER.DURABLE.CREATE."+stream+".spy", `{"stream_name":"`+stream+`","config":{"durable_name":"spy"}}`)
	for _, subject := range []string{"ralph.offer.3.any.x", "ralph.roll", "ralph.in.other.x.y", "ralph.out.x.other.y", "ralph.claim.x.other"} {
		if err := s.conn.Publish(subject, []byte("x")); err != nil {
			t.Error(err)
		}
	}
	const tries = 11 + 5 + 5
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.refused)
	}
	for end := time.Now().Add(10 * time.Second); count() < tries && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		_ = s.conn.Flush()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range s.heard {
		t.Errorf("the spy hears %.200s", text)
	}
	if len(s.refused) < tries {
		t.Errorf("only so many things were refused: %q", s.refused)
	}
	if err := greet(t, p.run, p.worker); err != nil {
		t.Errorf("after the spy: %v", err)
	}
}

func TestServer_workersToken_seesItsOwnTurnsOnly(t *testing.T) {
	run := startServer(t)
	worker := run
	n, err := readNote(run.home)
	if err != nil {
		t.Fatal(err)
	}
	if worker.Token = n.WorkerToken; worker.Token == "" || worker.Token == run.Token {
		t.Fatal("workers have no token of their own")
	}
	wantKeptOut(t, parties{run, worker, worker, "spy"})
	if err := greet(t, worker, worker); err == nil {
		t.Error("a run may use the token of workers")
	}
}

func TestDocumentedConfiguration_workerSeesItsOwnTurnsOnly(t *testing.T) {
	ca := newAuthority(t)
	t.Setenv("SSL_CERT_FILE", ca.path) // read once by a process: no other test here uses TLS
	address := documented(t, ca)
	as := func(user, password string) Access {
		u := url.URL{Scheme: "tls", User: url.UserPassword(user, password), Host: address}
		return Access{URL: u.String()}
	}
	run, worker := as("run", "secret of runs"), as("build1", "secret of build1")
	if who, err := worker.who(); err != nil || who != "build1" {
		t.Fatal(who, err)
	}
	if err := greet(t, run, worker); err != nil {
		t.Error(err)
	}
	// The rights are those of the embedded server.
	may, text := mayDo("build1"), read(t, "nats.conf")
	for _, subject := range append(may.Publish.Allow, may.Subscribe.Allow...) {
		if !strings.Contains(text, `"`+subject+`"`) {
			t.Errorf("docs/fleet.md does not allow %s", subject)
		}
	}
	if got := strings.Count(text, `"ralph.`) + strings.Count(text, `"$JS.`); got != len(may.Publish.Allow)+len(may.Subscribe.Allow) {
		t.Errorf("docs/fleet.md allows %d subjects", got)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCredentials_workerSeesItsOwnTurnsOnly(t *testing.T) {
	r, url := newRealm(t)
	run := Access{URL: url, Creds: r.creds("run", nil)}
	worker := Access{URL: url, Creds: r.creds("build1", mayDo("build1"))}
	spying := Access{URL: url, Creds: r.creds("build2", mayDo("build2"))}
	wantKeptOut(t, parties{run, worker, spying, "build2"})
	for name, a := range map[string]Access{"none": {URL: url}, "a wrong token": {URL: url, Token: "x"}} {
		if err := greet(t, a, worker); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("with %s: %v", name, err)
		}
	}
	for file, want := range map[string]string{"no such file": "/none", "read credentials": os.Args[0]} {
		if _, err := (Access{URL: url, Creds: want}).who(); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
