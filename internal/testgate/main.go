// Command testgate runs `go test` and counts:
//
//	go run ./internal/testgate [-v] go test arguments
//
// It prints what go test prints, names each skipped test, and ends with a line
// "N passed, N failed, N skipped"; subtests count too. With RALPH_REQUIRE=all
// in the environment a skipped test is a failure: where every tool must be
// there, none may quietly be missing.
package main

import (
	"os"
	"os/exec"
	"slices"
)

func main() {
	g := &gate{out: os.Stdout, strict: os.Getenv("RALPH_REQUIRE") == "all"}
	os.Exit(g.run(".", os.Args[1:]))
}

// run tests the packages of the module in dir and returns the exit code.
func (g *gate) run(dir string, args []string) int {
	g.verbose = slices.Contains(args, "-v")
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
