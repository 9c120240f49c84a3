package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// cutter passes connections on to a server, and cuts all of them when it is told to.
type cutter struct {
	to string
	mu sync.Mutex
	on []net.Conn
}

// through is a fleet that is reached by way of a cutter.
func through(t *testing.T, a Access) (Access, *cutter) {
	t.Helper()
	u, err := url.Parse(a.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{to: u.Host}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			c.pass(from)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		c.cut()
	})
	a.URL, a.home = "nats://"+l.Addr().String(), "" // not where the server is
	return a, c
}

func (c *cutter) pass(from net.Conn) {
	to, err := net.Dial("tcp", c.to)
	if err != nil {
		_ = from.Close()
		return
	}
	c.mu.Lock()
	c.on = append(c.on, from, to)
	c.mu.Unlock()
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
		}()
	}
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.on {
		_ = conn.Close()
	}
	c.on = nil
}

// What both sides say arrives once and in order, though connections are cut while they talk.
func TestTurn_connectionsCut_nothingIsLostAndTheTurnGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("long: reconnections")
	}
	t.Parallel()
	const lines, cuts = 400, 4
	straight := startServer(t)
	ofRun, cutRun := through(t, straight)
	ofWorker, cutWorker := through(t, straight)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	began := 0
	go func() {
		ended <- Worker(ctx, Work{Access: ofWorker, Slots: 1, Log: t.Logf, Carry: func(ctx context.Context, in io.Reader, say func([]byte)) string {
			began++
			from := bufio.NewScanner(in)
			for n := 0; n < lines && from.Scan(); n++ {
				say([]byte(fmt.Sprintf("%s back\n", from.Text())))
			}
			return ""
		}})
	}()
	in, feed := io.Pipe()
	defer feed.Close()
	var want strings.Builder
	out := answered{first: make(chan bool)}
	go func() {
		for n := range lines {
			_, _ = fmt.Fprintf(feed, "line %d\n", n)
			if n == 0 {
				<-out.first // a run sends no more until its worker has said hello
			}
			if n%(lines/cuts) == lines/cuts/2 {
				cutRun.cut()
				cutWorker.cut()
			}
			time.Sleep(10 * time.Millisecond) // sleep: the run takes its time
		}
	}()
	for n := range lines {
		fmt.Fprintf(&want, "line %d back\n", n)
	}
	if err := Turn(t.Context(), Offer{Access: ofRun}, in, &out); err != nil {
		t.Error(err)
	}
	if got := out.String(); got != want.String() {
		t.Errorf("%d bytes arrived, want %d: ...%q", len(got), want.Len(), got[max(0, len(got)-60):])
	}
	cancel()
	if err := <-ended; err != nil || began != 1 {
		t.Errorf("%d turns began: %v", began, err)
	}
}
