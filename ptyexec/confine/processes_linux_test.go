package confine

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The test's program is its own child, which puts limits on itself and becomes a shell.
func TestMain(m *testing.M) {
	if text := os.Getenv("CONFINE_TEST"); text != "" {
		most, err := strconv.ParseUint(text, 10, 64)
		if err = errors.Join(err, Apply((&Limits{Processes: most}).Encode())); err != nil {
			panic(err)
		}
		cmd := exec.Command("setpriv", "--reuid", "54321", "--clear-groups", "sh", "-c", os.Getenv("CONFINE_SCRIPT"))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if cmd.Run() != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestApply_processes_stopAForkBomb(t *testing.T) {
	if _, err := exec.LookPath("setpriv"); err != nil || os.Getuid() != 0 {
		t.Skip("root and setpriv are needed: the limit does not hold for root")
	}
	for most, want := range map[uint64]bool{20: false, 0: true} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CONFINE_TEST="+strconv.FormatUint(most, 10), "CONFINE_SCRIPT=for i in $(seq 40); do sleep 1 & done; echo all")
		out, err := cmd.CombinedOutput()
		if got := strings.Contains(string(out), "all"); got != want {
			t.Errorf("at most %d: all started: %v, %v\n%s", most, got, err, out)
		}
	}
}
