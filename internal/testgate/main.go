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

	"ralph/internal/world"
)

func main() {
	g := &gate{out: os.Stdout, strict: os.Getenv("RALPH_REQUIRE") == "all"}
	os.Exit(world.Main(g))
}

// Run builds ralph's programs, which the packages under test share, and tests the packages
// of the module in this folder. It returns the exit code.
//
// A test that asks for the programs would build them, too. But then two go commands run side by
// side and compile the same packages twice.
func (g *gate) Run() int {
	fmt.Fprintln(g.out, "building ralph and ralph-hub, then the tests")
	if _, err := world.Build(); err != nil {
		fmt.Fprintln(os.Stderr, "testgate:", err)
		return 1
	}
	return g.run(".", os.Args[1:])
}

// run tests the packages of the module in dir and returns the exit code.
func (g *gate) run(dir string, args []string) int {
	g.verbose, g.short = slices.Contains(args, "-v"), slices.Contains(args, "-short")
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
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
