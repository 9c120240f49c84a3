package world

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const askVar = "RALPH_WORLD_TEST_ASK" // this process only asks for the programs

// TestAskForPrograms is what the two processes of the test below run.
func TestAskForPrograms(t *testing.T) {
	if os.Getenv(askVar) == "" {
		return
	}
	info, err := os.Stat(filepath.Join(Programs(t), ".built"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("built", info.ModTime().UnixNano())
}

func TestPrograms_askedByTwoPackagesAtOnce_areBuiltOnce(t *testing.T) {
	Long(t, "builds the programs anew")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var said [2]string
	var both sync.WaitGroup
	for i := range said {
		both.Go(func() {
			cmd := exec.Command(self, "-test.run=^TestAskForPrograms$")
			cmd.Env = append(os.Environ(), programsVar+"="+dir, askVar+"=1", "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			said[i], _, _ = strings.Cut(string(out), "\n")
		})
	}
	both.Wait()
	if said[0] == "" || said[0] != said[1] {
		t.Errorf("two builds: %q and %q", said[0], said[1])
	}
}
