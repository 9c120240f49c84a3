package fleet

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	nodes     = 3
	nodeVar   = "RALPH_FLEET_NODE"
	portsVar  = "RALPH_FLEET_PORTS" // of the clients of all nodes, then of the nodes among themselves
	clusterOf = "fleet"
)

// node is one server of a cluster, until ctx ends.
func node(ctx context.Context) error {
	var n int
	var ports [2 * nodes]int
	at := strings.NewReader(os.Getenv(nodeVar) + " " + os.Getenv(portsVar))
	if _, err := fmt.Fscan(at, &n, &ports[0], &ports[1], &ports[2], &ports[3], &ports[4], &ports[5]); err != nil {
		return err
	}
	o := &server.Options{ServerName: fmt.Sprint("node", n), Host: "127.0.0.1", Port: ports[n], NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(os.Getenv(homeVar), fmt.Sprint("node", n)), Authorization: "secret",
		Cluster: server.ClusterOpts{Name: clusterOf, Host: "127.0.0.1", Port: ports[nodes+n]}}
	for _, port := range ports[nodes:] {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprint("127.0.0.1:", port)})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	fmt.Println("ready")
	<-ctx.Done()
	return nil
}

// cluster is three servers that know each other.
type cluster struct {
	*testing.T
	home  string
	ports string
	parts [nodes]process
}

func startCluster(t *testing.T) (*cluster, Access) {
	t.Helper()
	c := &cluster{T: t, home: t.TempDir()}
	a := Access{Token: "secret"}
	for n := range 2 * nodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		c.ports += fmt.Sprint(port, " ")
		if n < nodes {
			a.URL += fmt.Sprintf(",nats://127.0.0.1:%d", port)
		}
		_ = l.Close()
	}
	a.URL = a.URL[1:]
	for n := range nodes {
		c.start(n)
	}
	return c, a
}

func (c *cluster) start(n int) {
	c.Helper()
	c.Setenv(nodeVar, fmt.Sprint(n))
	c.Setenv(portsVar, c.ports)
	c.parts[n] = startPart(c, "node", c.home, 0)
}

// lose kills a node, and starts it again after a while.
func (c *cluster) lose(n int, away time.Duration) {
	c.Helper()
	p := c.parts[n]
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	select {
	case <-c.Context().Done():
	case <-time.After(away):
	}
	c.start(n)
}

// A cluster loses one node after the other. Each turn is carried out, as its run would have it: at most three tries.
func TestCluster_losesNodes_noTurnIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a cluster")
	}
	c, a := startCluster(t)
	took, every := 16*time.Second, 5*time.Second
	if longForm {
		took, every = 10*time.Minute, time.Minute
	}
	ctx, cancel := context.WithCancel(t.Context())
	var began atomic.Int64
	ended := make(chan error, 1)
	go func() {
		ended <- Worker(ctx, Work{Access: a, Slots: 8, Log: func(format string, _ ...any) {
			if strings.HasSuffix(format, "begins") {
				began.Add(1)
			}
		}, Carry: simulated})
	}()
	var all sync.WaitGroup
	var done, tries atomic.Int64
	over := time.Now().Add(took)
	for range 8 {
		all.Go(func() {
			for time.Now().Before(over) {
				if err := tried(ctx, a, &tries); err != nil {
					t.Errorf("a turn is lost: %v", err)
				}
				done.Add(1)
			}
		})
	}
	losses := 0
	for n := 0; time.Until(over) > every; n++ {
		time.Sleep(every / 2) // sleep: the cluster is whole
		c.lose(n%nodes, every/2)
		losses++
	}
	all.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	wasted := began.Load() - done.Load()
	if done.Load() < 8 || losses == 0 || wasted > int64(losses)*8 {
		t.Errorf("%d turns, %d losses, %d attempts in vain", done.Load(), losses, wasted)
	}
	t.Logf("%d nodes lost in %s: %d turns, %d tries by the run, %d attempts in vain", losses, took, done.Load(), tries.Load(), wasted)
}

// tried is a turn, as a run has it carried out.
func tried(ctx context.Context, a Access, tries *atomic.Int64) (err error) {
	for range 3 {
		tries.Add(1)
		var t tally
		if err = t.one(ctx, a, time.Second); err == nil {
			return nil
		}
	}
	return err
}
