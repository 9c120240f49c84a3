//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Every fuzz target of the module, half a minute each.
func TestFuzz_everyTarget_findsNothing(t *testing.T) {
	list, err := exec.Command("go", "test", "-list", "^Fuzz", "ralph/...").Output()
	if err != nil {
		t.Fatalf("list fuzz targets: %v\n%s", err, list)
	}
	seconds := amount(2, 30)
	execs := regexp.MustCompile(`execs: (\d+)`)
	var names []string
	targets := 0
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		switch {
		case len(f) == 1:
			names = append(names, f[0])
		case len(f) > 1 && f[0] == "ok":
			for _, name := range names {
				targets++
				// Else most of the time goes into making large inputs smaller.
				cmd := exec.Command("go", "test", "-run", "^$", "-fuzz", "^"+name+"$", "-fuzztime", fmt.Sprintf("%ds", seconds), "-fuzzminimizetime", "10x", f[1])
				if _, err := os.Stat("/dev/shm"); err == nil { // a sync costs nothing there
					cmd.Env = append(os.Environ(), "TMPDIR=/dev/shm")
				}
				out, err := cmd.CombinedOutput()
				tried := "0"
				if all := execs.FindAllSubmatch(out, -1); len(all) > 0 {
					tried = string(all[len(all)-1][1])
				}
				t.Logf("%s %s: %s inputs", f[1], name, tried)
				if tried == "0" && seconds >= 20 { // a few seconds may go into the seeds alone
					t.Errorf("%s %s tried nothing", f[1], name)
				}
				if err != nil {
					t.Errorf("%s %s: %v\n%s", f[1], name, err, out)
				}
			}
			names = nil
		default:
			names = nil
		}
	}
	if targets < 15 {
		t.Errorf("only %d targets were found:\n%s", targets, list)
	}
}
