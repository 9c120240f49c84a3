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
	"time"
)

// event is a line of `go test -json`; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
}

// leftOut begins what a test says that the short form skips on purpose.
const leftOut = "long: "

// quiet is how long nothing is printed before a line says what is going on.
const quiet = 10 * time.Second

// gate turns the events into lines for people and keeps count.
type gate struct {
	out     io.Writer
	verbose bool // print every test's output, not only that of failed ones
	short   bool // tests that say "long: " are left out, not skipped
	strict  bool // a skipped test is a failure

	passed, failed, skipped, left int

	// By package and test: what it has printed, until its end says whether
	// that matters. Test "" is the package itself.
	output map[string]map[string][]string
	// Packages of which a test has failed.
	failedIn map[string]bool
	// Packages that are being tested; those that still compile are not known.
	running map[string]bool
	printed time.Time // when a line was printed last
}

// read handles events until the end of r. A line that is no event is printed.
func (g *gate) read(r io.Reader) error {
	g.output, g.failedIn, g.running = map[string]map[string][]string{}, map[string]bool{}, map[string]bool{}
	lines, failed := make(chan string, 100), make(chan error, 1)
	go func() {
		defer close(lines)
		for br := bufio.NewReader(r); ; {
			line, err := br.ReadString('\n')
			if line != "" {
				lines <- line
			}
			if err != nil {
				failed <- err
				return
			}
		}
	}()
	began := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case line, more := <-lines:
			if !more {
				if err := <-failed; !errors.Is(err, io.EOF) {
					return fmt.Errorf("read go test: %w", err)
				}
				return nil
			}
			g.line(line)
		case now := <-tick.C:
			if now.Sub(g.printed) < quiet || now.Sub(began) < quiet {
				continue
			}
			g.print(fmt.Sprintf("...\t%s: %d passed; %s\n", time.Since(began).Round(time.Second), g.passed, g.doing()))
		}
	}
}

// doing says what takes so long.
func (g *gate) doing() string {
	if len(g.running) == 0 {
		return "compiling"
	}
	return "running " + strings.Join(slices.Sorted(maps.Keys(g.running)), " ")
}

func (g *gate) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
		g.handle(e)
	} else {
		g.print(line)
	}
}

func (g *gate) handle(e event) {
	switch e.Action {
	case "start":
		g.running[e.Package] = true
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
	case strings.HasPrefix(e.Output, "ok  \t"):
		g.print(fmt.Sprintf("%s\t%d passed so far\n", strings.TrimSuffix(e.Output, "\n"), g.passed))
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
		because, word := why(printed), "skip"
		if g.short && strings.Contains(because, leftOut) {
			g.left++
			word = "left out"
		} else {
			g.skipped++
		}
		if !g.verbose {
			g.print(fmt.Sprintf("%s\t%s\t%s%s\n", word, e.Package, e.Test, because))
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
	delete(g.running, e.Package)
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
	g.printed = time.Now()
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
	if g.left > 0 {
		g.print(fmt.Sprintf("left out by -short, named above: %d\n", g.left))
	}
	refused := g.strict && g.skipped > 0
	if refused {
		g.print(fmt.Sprintf("RALPH_REQUIRE=all: a skipped test is a failure; skipped: %d\n", g.skipped))
	}
	g.print(fmt.Sprintf("%d passed, %d failed, %d skipped\n", g.passed, g.failed, g.skipped))
	return g.failed == 0 && !refused
}
