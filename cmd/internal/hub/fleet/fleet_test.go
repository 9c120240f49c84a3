package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"ralph/ptyexec"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	if part := os.Getenv(partVar); part != "" {
		if err := play(part); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// startServer runs an embedded one, until the test ends.
func startServer(t *testing.T) Access {
	t.Helper()
	home := t.TempDir()
	ready, ended := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() {
		ended <- Server{StateHome: home, Host: "127.0.0.1", Port: -1}.Serve(ctx, func(url string) { ready <- url })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	a, err := Local(home, false)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(Note(home)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the token: %v %v", info, err)
	}
	return a
}

// serve runs a server with this state until the function that it returns is called.
func serve(t *testing.T, home string) (Access, func()) {
	t.Helper()
	return start(t, Server{StateHome: home, Host: "127.0.0.1", Port: -1})
}

// start runs a server until the function that it returns is called.
func start(t *testing.T, s Server) (Access, func()) {
	t.Helper()
	ready, ended := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- s.Serve(ctx, func(url string) { ready <- url }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	a, err := Local(s.StateHome, false)
	if err != nil {
		t.Fatal(err)
	}
	return a, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestServer_startedAgain_hasTheSameAddressUnlessItIsTaken(t *testing.T) {
	home := t.TempDir()
	first, end := serve(t, home)
	end()
	second, end := serve(t, home)
	end()
	if second != first {
		t.Errorf("the address was %s, and is %s", first.URL, second.URL)
	}
	l, err := net.Listen("tcp", strings.TrimPrefix(first.URL, "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	third, end := serve(t, home)
	end()
	if third.URL == first.URL || third.Token != first.Token {
		t.Errorf("beside a program that has taken %s, the server is at %s", first.URL, third.URL)
	}
}

func TestServer_besideAnother_isRefused(t *testing.T) {
	home := t.TempDir()
	_, end := serve(t, home)
	if err := (Server{StateHome: home, Host: "127.0.0.1", Port: -1}).Serve(t.Context(), func(string) {}); !errors.Is(err, errRuns) {
		t.Error(err)
	}
	end()
	_, end = serve(t, home)
	end()
}

// Of a thousand clients that connect at once, the last is served as long as it waits.
func TestServer_clientsThatWait_areNotRefused(t *testing.T) {
	if o := (Server{}).options(t.TempDir(), door{}); o.AuthTimeout < dialWait.Seconds() {
		t.Errorf("clients may take %g s to log in; they wait %s", o.AuthTimeout, dialWait)
	}
}

// answered is what a run reads.
type answered struct {
	strings.Builder
	first chan bool // closed when something is there
}

func (w *answered) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		close(w.first)
	}
	return w.Builder.Write(p)
}

func TestTurn_linesGoToTheWorkerAndBack(t *testing.T) {
	a := startServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Worker(ctx, Work{Access: a, Slots: 2, Env: append(os.Environ(), TokenVar+"=secret"), Log: t.Logf,
			Args: []string{"/bin/sh", "-c", `read a; echo "hello $a"; read b; echo "got ${#b}, token $` + TokenVar + `"`}})
	}()
	long := strings.Repeat("x", 3*part) // more than a message may have
	in, feed := io.Pipe()               // stays open until the turn is over
	defer feed.Close()
	out := answered{first: make(chan bool)}
	go func() {
		_, _ = io.WriteString(feed, "you\n")
		<-out.first // a run sends no more until its worker has said hello
		_, _ = io.WriteString(feed, long+"\n")
	}()
	if err := Turn(t.Context(), Offer{Access: a}, in, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "hello you\ngot 1572864, token \n" {
		t.Errorf("%.80q", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTurn_wrongTokenOrNoServer_isOneLine(t *testing.T) {
	a := startServer(t)
	a.Token = "wrong"
	for _, c := range []struct {
		a    Access
		want string
	}{{a, "Authorization Violation"}, {Access{URL: "nats://127.0.0.1:1"}, "no servers available"}} {
		err := Turn(t.Context(), Offer{Access: c.a}, strings.NewReader("x\n"), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestTurn_addressOutOfReach_keepsItsPassword(t *testing.T) {
	for url, want := range map[string]string{
		"nats://ann:100%horse@127.0.0.1:1":     "reach the fleet at nats://...@127.0.0.1:1: it is no valid address",
		"nats://ann:p@horse%@127.0.0.1:1":      "reach the fleet at nats://...@127.0.0.1:1: it is no valid address",
		"nats://ann:horse/x@127.0.0.1:1":       "reach the fleet at nats://...@127.0.0.1:1: it is no valid address",
		"nats://a b":                           "reach the fleet at nats://a b: it is no valid address",
		"nats://127.0.0.1:1,nats://h:horse%@x": "reach the fleet at nats://127.0.0.1:1,nats://...@x: it is no valid address",
		"ann:horse@127.0.0.1:1":                "reach the fleet at ...@127.0.0.1:1: nats: no servers available for connection",
		"nats://a:horse@127.0.0.1:1,nats://b:horse@127.0.0.1:2": "reach the fleet at nats://...@127.0.0.1:1,nats://...@127.0.0.1:2: " +
			"nats: no servers available for connection",
	} {
		err := Turn(t.Context(), Offer{Access: Access{URL: url}}, strings.NewReader("{}\n"), io.Discard)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
