package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is a line of `go test -json`; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
}

// gate turns the events into lines for people and keeps count.
type gate struct {
	out     io.Writer
	verbose bool // print every test's output, not only that of failed ones
	strict  bool // a skipped test is a failure

	passed, failed, skipped int

	// By package and test: what it has printed, until its end says whether
	// that matters. Test "" is the package itself.
	output map[string]map[string][]string
	// Packages of which a test has failed.
	failedIn map[string]bool
}

// read handles events until the end of r. A line that is no event is printed.
func (g *gate) read(r io.Reader) error {
	g.output, g.failedIn = map[string]map[string][]string{}, map[string]bool{}
	for br := bufio.NewReader(r); ; {
		line, err := br.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				g.handle(e)
			} else {
				g.print(line)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read go test: %w", err)
		}
	}
}

func (g *gate) handle(e event) {
	switch e.Action {
	case "build-output":
		g.print(e.Output)
	case "output":
		g.said(e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			g.endPackage(e)
		} else {
			g.endTest(e)
		}
	}
}

// said prints a line of output or keeps it for later.
func (g *gate) said(e event) {
	later := e.Test != "" || strings.HasPrefix(e.Output, "-test.shuffle ")
	switch {
	case g.verbose:
		g.print(e.Output)
	case later && !strings.HasPrefix(e.Output, "=== "):
		if g.output[e.Package] == nil {
			g.output[e.Package] = map[string][]string{}
		}
		g.output[e.Package][e.Test] = append(g.output[e.Package][e.Test], e.Output)
	case !later && e.Output != "PASS\n" && e.Output != "FAIL\n" && !strings.HasSuffix(e.Output, "[no test files]\n"):
		g.print(e.Output)
	}
}

func (g *gate) endTest(e event) {
	printed := g.output[e.Package][e.Test]
	delete(g.output[e.Package], e.Test)
	switch e.Action {
	case "pass":
		g.passed++
	case "fail":
		g.failed++
		g.failedIn[e.Package] = true
		g.print(printed...)
	case "skip":
		g.skipped++
		if !g.verbose {
			g.print(fmt.Sprintf("skip\t%s\t%s%s\n", e.Package, e.Test, why(printed)))
		}
	}
}

// endPackage prints what a failed package's unended tests have said, and the
// shuffle seed.
func (g *gate) endPackage(e event) {
	if e.Action == "fail" {
		for _, test := range slices.Sorted(maps.Keys(g.output[e.Package])) {
			if test != "" {
				g.print("--- not ended: " + test + "\n")
			}
			g.print(g.output[e.Package][test]...)
		}
		if !g.failedIn[e.Package] {
			g.failed++ // it did not build, or died outside of a test
		}
	}
	delete(g.output, e.Package)
}

// why is what a skipped test said, in one line, after ": ".
func why(printed []string) string {
	var said []string
	for _, line := range printed {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return ": " + strings.Join(said, " ")
}

func (g *gate) print(lines ...string) {
	for _, line := range lines {
		fmt.Fprint(g.out, line)
	}
}

// close prints the closing line and reports whether all is well. The error is
// go test's own.
func (g *gate) close(err error) bool {
	if err != nil && g.failed == 0 { // no package to blame: a bad flag or pattern
		g.failed++
		g.print(fmt.Sprintf("go test: %v\n", err))
	}
	refused := g.strict && g.skipped > 0
	if refused {
		g.print(fmt.Sprintf("RALPH_REQUIRE=all: a skipped test is a failure; skipped: %d\n", g.skipped))
	}
	g.print(fmt.Sprintf("%d passed, %d failed, %d skipped\n", g.passed, g.failed, g.skipped))
	return g.failed == 0 && !refused
}
