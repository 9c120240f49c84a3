package fleet

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"ralph/internal/world"
)

// A worker has a valid key, and says what it has no turn for, what it has said before, and what belongs to a turn that
// it has lost. Only the one result of the worker that has the turn reaches the run.
func TestTurn_forgedAndReplayedMessages_countForNothing(t *testing.T) {
	t.Parallel()
	a := startServer(t)
	conn, js, err := a.connect("stranger", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	in, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = io.WriteString(feed, "you\n") }()
	var out lockedBuffer
	ended := make(chan error, 1)
	go func() { ended <- Turn(t.Context(), Offer{Access: a}, in, &out) }()
	offers, err := js.Consumer(t.Context(), stream, "any")
	for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		offers, err = js.Consumer(t.Context(), stream, "any") // the run makes it
	}
	do(err)
	m, err := offers.Next()
	do(err)
	var o offer
	do(json.Unmarshal(m.Data(), &o))
	claim := func(id, who, session string) string {
		t.Helper()
		answer, err := conn.Request(claimOf(id, who), []byte(`{"v":3,"session":"`+session+`"}`), claimWait)
		if err != nil {
			return err.Error()
		}
		return string(answer.Data)
	}
	say := func(id, who, session string, f linkFrame) {
		t.Helper()
		data, err := f.encode()
		do(err)
		do(conn.Publish(outOf(id, who, session), data))
	}
	forged := linkFrame{Seq: 1, Data: []byte("forged\n"), End: true}
	say(o.ID, "one", "s", forged) // before it has the turn
	do(conn.Flush())
	hears, err := conn.Subscribe(inOf("one", o.ID, "s"), func(*nats.Msg) {})
	do(err)
	if got := claim(o.ID, "one", "s"); got != yes {
		t.Fatalf("the claim is answered %q", got)
	}
	if got := claim("another", "one", "s"); got != nats.ErrNoResponders.Error() {
		t.Errorf("a turn that nobody offers: %q", got)
	}
	for _, to := range [][3]string{{o.ID, "two", "s"}, {o.ID, "one", "t"}, {"another", "one", "s"}} {
		say(to[0], to[1], to[2], forged)
	}
	first := linkFrame{Seq: 1, Data: []byte("first\n")}
	say(o.ID, "one", "s", first)
	say(o.ID, "one", "s", first)
	say(o.ID, "one", "s", forged) // has been heard, as it seems
	last, session := linkFrame{Seq: 2, Data: []byte("last\n"), End: true}, "s"
	if !testing.Short() {
		do(hears.Unsubscribe()) // the worker is gone
		got := ""
		world.Within(t, 2*silence, "somebody else may have the turn", func() bool {
			got = claim(o.ID, "two", "t")
			return got == yes
		}, func() string { return got })
		say(o.ID, "one", "s", linkFrame{Seq: 2, Data: []byte("late\n"), End: true})
		say(o.ID, "two", "t", first)
		say(o.ID, "one", "t", last)
		do(conn.Flush())
		session = "t"
		say(o.ID, "two", session, last)
	} else {
		say(o.ID, "one", session, last)
	}
	say(o.ID, "one", session, last)
	do(conn.Flush())
	select {
	case err := <-ended:
		do(err)
	case <-time.After(20 * time.Second):
		t.Fatalf("the turn does not end; the run reads %q", out.String())
	}
	want := "first\nlast\n"
	if !testing.Short() {
		want = "first\nfirst\nlast\n"
	}
	if got := out.String(); got != want {
		t.Errorf("the run reads %q", got)
	}
	if got := claim(o.ID, "one", "s"); got != nats.ErrNoResponders.Error() {
		t.Errorf("a turn that is over: %q", got)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}
