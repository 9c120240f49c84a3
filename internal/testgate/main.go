// Command testgate runs `go test` and counts:
//
//	go run ./internal/testgate [-v] [-short] go test arguments
//
// It prints the output of go test with a running count, names each skipped test and ends
// with "N passed, N failed, N skipped", including subtests. With RALPH_REQUIRE=all in
// the environment a skipped test is a failure, so that a missing tool is noticed. A test
// that -short leaves out on purpose says "long: " and does not count as skipped.
//
// With RALPH_FLAKY=FILE, each failed test runs again, alone and twice. If it passes both times, it counts as passed, and
// the last lines name it, with its first output. The tests in FILE have had their second chance: they stay failures. So
// does whatever no test explains, and a data race.
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
	if g.list = os.Getenv("RALPH_FLAKY"); g.list != "" {
		var err error
		if g.known, err = readKnown(g.list); err != nil {
			fmt.Fprintln(os.Stderr, "testgate:", err)
			os.Exit(1)
		}
	}
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
	err := g.test(dir, args)
	if err == nil || g.failed > 0 {
		err = nil
		if g.known != nil && g.failed > 0 {
			err = g.again(dir, args)
		}
	}
	if err != nil { // no package is to blame: a bad flag or pattern
		g.failed++
		g.print(fmt.Sprintf("go test: %v\n", err))
	}
	if !g.close() {
		return 1
	}
	return 0
}

// test runs go test and counts. The error is also that of a failed test.
func (g *gate) test(dir string, args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	err = g.read(out)
	if waitErr := cmd.Wait(); err == nil {
		err = waitErr
	}
	return err
}
