package cli

import (
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
)

func TestDoctor_disk_failsBeforeItIsFull(t *testing.T) {
	for free, want := range map[uint64]string{0: "FAIL  disk      only 0 MiB free", 1 << 29: "warn  disk      only 0.5 GiB free", 1 << 31: "ok    disk      2.0 GiB free"} {
		var out strings.Builder
		d := &diagnosis{f: &cmdline.Factory{Out: &out, Err: &out}}
		if d.disk(free); !strings.HasPrefix(out.String(), want) || (d.code != 0) != (free == 0) {
			t.Errorf("%d bytes: %q, exit code %d", free, out.String(), d.code)
		}
	}
}
