package runner

import (
	"os"
	"strings"
	"testing"
)

// Keys are hidden in every event that carries text of a plan or a command.
func TestReview_keysInTitlesAndCommands_areHidden(t *testing.T) {
	t.Parallel()
	const key = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	b := newBench(t, "busy", "[ ] use "+key+" here")
	b.check("true " + key)
	b.o.MaxPerTask = 1
	b.run(t.Context())
	data, err := os.ReadFile(b.w.EventsPath())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if strings.Contains(line, key) {
			t.Errorf("%.300s", line)
		}
	}
}
