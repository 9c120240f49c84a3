package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// crew is workers that carry simulated turns out, until the test ends.
func crew(t *testing.T, all ...Work) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var left sync.WaitGroup
	for _, w := range all {
		if w.Log == nil {
			w.Log = t.Logf
		}
		if w.Carry == nil {
			w.Carry = simulated
		}
		w.Slots = max(w.Slots, 1)
		left.Go(func() {
			if err := Worker(ctx, w); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cancel(); left.Wait() })
}

// named is a simulated turn that also says who carries it out.
func named(name string, done *sync.Map) func(context.Context, io.Reader, func([]byte)) string {
	return func(ctx context.Context, in io.Reader, say func([]byte)) string {
		n, _ := done.LoadOrStore(name, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		return simulated(ctx, in, say)
	}
}

func count(done *sync.Map, name string) int64 {
	n, ok := done.Load(name)
	if !ok {
		return 0
	}
	return n.(*atomic.Int64).Load()
}

// offered has one turn carried out.
func offered(ctx context.Context, o Offer) error {
	in, feed := io.Pipe()
	defer feed.Close()
	out := answered{first: make(chan bool)}
	go func() {
		_, _ = io.WriteString(feed, `{"hello":{"ralph":"v1.2.0"}}`+"\n")
		<-out.first
		_, _ = io.WriteString(feed, "10\n")
	}()
	err := Turn(ctx, o, in, &out)
	if err == nil && !strings.HasSuffix(out.String(), "end\n") {
		return fmt.Errorf("the run reads %q", out.String())
	}
	return err
}

// here waits until the roll shows what is wanted.
func here(t *testing.T, a Access, want func([]Here) bool) (last []Here) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	found := false
	if err := Muster(ctx, a, func(all []Here) {
		if last = all; want(all) {
			found = true
			cancel()
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !found {
		t.Errorf("the roll is %+v", last)
	}
	return last
}

// A worker whose ralph does not fit is not given the turn; another one is.
func TestTurn_workerOfAnotherVersion_isRefusedAndCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for a worker")
	}
	t.Parallel()
	a := startServer(t)
	var done sync.Map
	crew(t, Work{Access: a, Carry: named("old", &done), Ralph: "v0.9.0"})
	here(t, a, func(all []Here) bool { return len(all) == 1 })
	var refused atomic.Int64
	ended := make(chan error, 1)
	go func() {
		ended <- offered(t.Context(), Offer{Access: a, Fits: func(hello []byte, theirs string) error {
			if !strings.Contains(string(hello), "v1.2.0") {
				t.Errorf("the run says %q", hello)
			}
			if theirs == "v0.9.0" {
				return errors.New("it has ralph v0.9.0")
			}
			return nil
		}, Refused: func(n int, why string) {
			refused.Store(int64(n))
			if why != "it has ralph v0.9.0" {
				t.Errorf("refused: %s", why)
			}
		}})
	}()
	here(t, a, func(all []Here) bool { return len(all) == 1 && all[0].Refused > 0 })
	crew(t, Work{Access: a, Carry: named("new", &done), Ralph: "v1.2.3"})
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if refused.Load() == 0 || count(&done, "old") != 0 || count(&done, "new") != 1 {
		t.Errorf("%d refused; %d turns by the old one, %d by the new one", refused.Load(), count(&done, "old"), count(&done, "new"))
	}
}

// What has another version of the protocol, or cannot be read, is refused and counted, and nothing stops for it.
func TestWorker_strangeOffersAndRolls_areRefusedAndCounted(t *testing.T) {
	a := startServer(t)
	var done sync.Map
	crew(t, Work{Access: a, Carry: named("one", &done)})
	here(t, a, func(all []Here) bool { return len(all) == 1 })
	conn, js, err := a.connect("stranger", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	old, _ := json.Marshal(offer{V: version - 1, ID: "x"})
	for i, data := range [][]byte{old, []byte("nonsense"), []byte(`{"v":3,"id":"a.b"}`)} {
		if _, err := js.Publish(t.Context(), offerOf(fmt.Sprint("x", i)), data); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := js.Publish(t.Context(), offerOf("big"), make([]byte, 5000)); err == nil {
		t.Error("an offer of 5,000 bytes is taken")
	}
	if err := conn.Publish(offerOf("huge"), make([]byte, maxFrame+1)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("a message of more than 1 MiB: %v", err)
	}
	if err := conn.Publish(rollSubject, []byte("a b")); err != nil {
		t.Fatal(err)
	}
	here(t, a, func(all []Here) bool { return len(all) == 1 && all[0].Refused == 4 })
	if err := offered(t.Context(), Offer{Access: a}); err != nil || count(&done, "one") != 1 {
		t.Errorf("%d turns: %v", count(&done, "one"), err)
	}
}

// Claims of another version, and messages that are too large or cannot be read, are refused by the run and counted.
func TestTurn_strangeClaimsAndMessages_areRefusedAndCounted(t *testing.T) {
	a := startServer(t)
	conn, js, err := a.connect("stranger", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var mu sync.Mutex
	var whys []string
	ended := make(chan error, 1)
	go func() {
		ended <- offered(t.Context(), Offer{Access: a, Refused: func(n int, why string) {
			mu.Lock()
			defer mu.Unlock()
			if whys = append(whys, why); len(whys) != n {
				t.Errorf("%d are counted as %d", len(whys), n)
			}
		}})
	}()
	c, err := js.Consumer(t.Context(), stream, "any")
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Next()
	if err != nil {
		t.Fatal(err)
	}
	var o offer
	if err := json.Unmarshal(m.Data(), &o); err != nil {
		t.Fatal(err)
	}
	ask := func(data string) string {
		answer, err := conn.Request(claimOf(o.ID, "stranger"), []byte(data), claimWait)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer.Data)
	}
	for _, data := range []string{"nonsense", `{"v":2,"session":"s"}`, `{"v":3}`, `{"v":3,"session":"` + strings.Repeat("s", 5000) + `"}`} {
		if got := ask(data); !strings.HasPrefix(got, no+": ") {
			t.Errorf("%.40q is answered %q", data, got)
		}
	}
	if first, second := ask(`{"v":3,"session":"s"}`), ask(`{"v":3,"session":"t"}`); first != yes || second != no {
		t.Fatalf("two workers are answered %q and %q", first, second)
	}
	if err := conn.Publish(outOf(o.ID, "stranger", "s"), []byte("nonsense")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || err.Error() != "from the worker: a message is refused: it cannot be read" {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(whys) != 5 || whys[1] != "a claim of version 2; this is version 3" {
		t.Errorf("%q", whys)
	}
}

// A run that reads slowly holds its worker up. Nothing piles up, and nothing is lost.
func TestTurn_runThatReadsSlowly_holdsItsWorkerUp(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a run that does not read for ten seconds")
	}
	t.Parallel()
	a := startServer(t)
	const size = 24 << 20
	var said atomic.Int64
	line := append(bytes.Repeat([]byte("x"), 64<<10-1), '\n')
	crew(t, Work{Access: a, Carry: func(ctx context.Context, _ io.Reader, say func([]byte)) string {
		for said.Load() < size && ctx.Err() == nil {
			say(line)
			said.Add(int64(len(line)))
		}
		return ""
	}})
	in, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = io.WriteString(feed, "you\n") }()
	outR, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Turn(t.Context(), Offer{Access: a}, in, out); _ = out.Close() }()
	still, before := 0, int64(-1)
	for end := time.Now().Add(30 * time.Second); still < 20 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		now := said.Load()
		if still++; now == 0 || now != before {
			still, before = 0, now
		}
	}
	if before == 0 || before > linkWindow+2<<20 {
		t.Errorf("%d bytes are on the way, and nobody reads", before)
	}
	select {
	case <-time.After(silence/2 + beatEvery): // the run is at something else: its signs of life go on
	case err := <-ended:
		t.Fatal(err)
	}
	got, err := io.Copy(io.Discard, outR)
	if failed := <-ended; failed != nil || err != nil || got != size {
		t.Errorf("%d bytes arrived, want %d: %v %v", got, size, failed, err)
	}
}

// Each delivery of an offer that a worker does not answer waits longer, and after the last the run offers it anew.
func TestOffer_refusedOftenerThanItIsDelivered_isTakenInTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("long: an offer is made again after 30 seconds")
	}
	t.Parallel()
	a := startServer(t)
	conn, js, err := a.connect("refuser", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- offered(t.Context(), Offer{Access: a}) }()
	c, err := js.Consumer(t.Context(), stream, "any")
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Info(t.Context())
	if err != nil || info.Config.MaxDeliver != deliver || len(info.Config.BackOff) != deliver-1 ||
		info.Config.BackOff[0] != ackWait || info.Config.BackOff[deliver-2] <= 2*ackWait {
		t.Fatalf("%+v %v", info, err)
	}
	refused := 0
	for time.Since(began) < 10*time.Second {
		m, err := c.Next()
		if err != nil {
			break
		}
		if refused++; m.Nak() != nil {
			t.Fatal("refuse")
		}
		if refused == deliver {
			break
		}
	}
	if refused != deliver {
		t.Fatalf("refused %d times", refused)
	}
	var done sync.Map
	crew(t, Work{Access: a, Carry: named("one", &done)})
	select {
	case err := <-ended:
		if err != nil || count(&done, "one") != 1 {
			t.Error(err)
		}
	case <-time.After(90 * time.Second):
		t.Error("nobody gets the turn any more")
	}
	t.Logf("taken after %s", time.Since(began).Round(time.Second))
}
