package cli

import (
	"slices"
	"testing"

	"ralph/cmd/internal/cmdline"
)

func TestGiven_flags_areThoseOnTheCommandLine(t *testing.T) {
	cmd := newWorkerCmd(cmdline.New())
	if err := cmd.ParseFlags([]string{"--slots", "1", "--creds="}); err != nil {
		t.Fatal(err)
	}
	if got := given(cmd); !slices.Equal(got, []string{"--creds=", "--slots=1"}) {
		t.Errorf("%q", got)
	}
	cmd = newServeCmd(cmdline.New())
	if err := cmd.ParseFlags([]string{"--actions", "--listen", "127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	if got := given(cmd); !slices.Equal(got, []string{"--actions=true", "--listen=127.0.0.1:1"}) {
		t.Errorf("%q", got)
	}
}
