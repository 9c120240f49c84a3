package fleet

import (
	"strings"
	"testing"
)

func TestLink_moreThanAllowed_isRefused(t *testing.T) {
	l := newLink(func([]byte, bool) error { return nil })
	if err := l.Take(make([]byte, maxFrame+1)); err == nil || !strings.Contains(err.Error(), "1048577 bytes") {
		t.Error(err)
	}
	var failed error
	n := 0
	for ; failed == nil && n < 2*windowFrames; n++ {
		data, _ := linkFrame{Seq: uint64(n + 1)}.encode()
		failed = l.Take(data)
	}
	if failed == nil || n != windowFrames+2 {
		t.Errorf("%d frames that nobody waits for: %v", n, failed)
	}
}

// Half of all messages are lost, in both directions. What was sent arrives once, and in order.
func TestLink_halfOfAllMessagesAreLost_eachFrameArrivesOnce(t *testing.T) {
	var ends [2]*link
	var wires [2][][]byte // what is on the way to each end
	for i := range ends {
		n := 0
		ends[i] = newLink(func(data []byte, _ bool) error {
			if n++; n%2 == i {
				wires[1-i] = append(wires[1-i], data)
			}
			return nil
		})
	}
	const frames = 200
	for n := range frames {
		if err := ends[0].Send(linkFrame{Data: []byte{byte(n)}}); err != nil {
			t.Fatal(err)
		}
	}
	var got []byte
	for rounds := 0; len(got) < frames || !ends[0].Settled(); rounds++ {
		if rounds > 50*frames {
			t.Fatalf("%d of %d frames arrived", len(got), frames)
		}
		for i, l := range ends {
			l.resent = l.resent.Add(-3 * linkBeatEvery) // time passes
			l.Heartbeat()
			all := wires[i]
			wires[i] = nil
			for _, data := range all {
				if err := l.Take(data); err != nil {
					t.Fatal(err)
				}
			}
		}
		for len(ends[1].Queue) > 0 {
			f := <-ends[1].Queue
			got = append(got, f.Data...)
			ends[1].Finish(f)
		}
	}
	for n, b := range got {
		if b != byte(n) {
			t.Fatalf("frame %d came as number %d", b, n)
		}
	}
}
