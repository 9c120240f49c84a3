// Command testgate runs `go test` and counts:
//
//	go run ./internal/testgate [-v] [-short] go test arguments
//
// It prints the output of go test with a running count, names each skipped test and ends
// with "N passed, N failed, N skipped", including subtests. With RALPH_REQUIRE=all in
// the environment a skipped test is a failure, so that a missing tool is noticed. A test
// that -short leaves out on purpose says "long: " and does not count as skipped.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// programsVar is the folder in which the packages of one run share ralph's
// programs; see internal/world.
const programsVar = "RALPH_WORLD_PROGRAMS"

func main() {
	g := &gate{out: os.Stdout, strict: os.Getenv("RALPH_REQUIRE") == "all"}
	os.Exit(g.run(".", os.Args[1:]))
}

// run tests the packages of the module in dir and returns the exit code.
func (g *gate) run(dir string, args []string) int {
	programs, err := os.MkdirTemp("", "ralph-programs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "testgate:", err)
		return 1
	}
	defer os.RemoveAll(programs)
	g.verbose, g.short = slices.Contains(args, "-v"), slices.Contains(args, "-short")
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), programsVar+"="+programs)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = g.read(out)
		if waitErr := cmd.Wait(); err == nil {
			err = waitErr
		}
	}
	if !g.close(err) {
		return 1
	}
	return 0
}
