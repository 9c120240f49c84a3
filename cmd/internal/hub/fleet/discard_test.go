package fleet

import (
	"bytes"
	"context"
	"io"
	"testing"
)

// hasty is a run that ends as soon as it has heard the result: before what brings it can say so.
type hasty struct {
	feed *io.PipeWriter
	over chan struct{}
}

func (h hasty) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("end\n")) {
		_ = h.feed.Close()
		<-h.over
	}
	return len(p), nil
}

func TestWorker_runThatHasTheResultAndEnds_hasDiscardedNothing(t *testing.T) {
	a := startServer(t)
	crew(t, Work{Access: a, Carry: func(_ context.Context, _ io.Reader, say func([]byte)) string {
		say([]byte("end\n"))
		return ""
	}})
	in, feed := io.Pipe()
	h := hasty{feed, make(chan struct{})}
	go func() { _, _ = io.WriteString(feed, "you\n") }()
	if err := Turn(t.Context(), Offer{Access: a}, in, h); err != nil {
		t.Error(err)
	}
	close(h.over)
	for _, w := range here(t, a, func(all []Here) bool { return len(all) == 1 && all[0].Busy == 0 }) {
		if w.Discarded != 0 {
			t.Errorf("%d results are discarded", w.Discarded)
		}
	}
}
