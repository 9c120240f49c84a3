package console

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ralph/tmux"
)

// A program in place of tmux: the runner's pane is alive in the first answer. The second
// waits while the session is killed and the client leaves; from then on nothing is there.
const leaving = `#!/bin/sh
echo x >>"$0.calls"
case $(wc -l <"$0.calls") in
*1) echo '%1,80,24,0,,,1,1' ;;
*2) until test -e "$0.left"; do sleep 0.02; done; echo "can't find pane: %2" >&2; exit 1 ;;
*) echo "can't find pane: %1" >&2; exit 1 ;;
esac
`

func TestFollowRunner_sessionKilledBetweenTwoQuestions_isGone(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "tmux")
	if err := os.WriteFile(program, []byte(leaving), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- followRunner(ctx, &tmux.Client{Path: program}, &tmux.Session{Runner: "%1", Monitor: "%2"})
	}()
	for asked := 0; asked < 4; time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(program + ".calls")
		asked = len(b)
	}
	cancel()
	if err := os.WriteFile(program+".left", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != gone {
		t.Errorf("got %d, want gone (%d)", got, gone)
	}
}
