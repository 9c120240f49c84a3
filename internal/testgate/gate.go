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

// leftOut begins the message of a test that -short skips on purpose.
const leftOut = "long: "

// quiet is how long testgate prints nothing before it prints a line about progress.
const quiet = 10 * time.Second

// gate prints events as lines and counts tests.
type gate struct {
	out     io.Writer
	verbose bool // print every test's output, not only that of failed ones
	short   bool // tests that say "long: " are left out, not skipped
	strict  bool // a skipped test is a failure

	passed, failed, skipped, left int

	// Output by package and test, kept until the result is known. Test "" is the package
	// itself.
	output   map[string]map[string][]string
	outcomes map[string]*outcomes // by package
	broken   []string             // packages that failed
	known    map[string]bool      // tests that were flaky before; nil: no failed test runs again
	list     string               // the file that has them
	flaky    []*failure
	// Tests that -short left out, by package and reason.
	aside map[string]map[string][]string
	// Packages whose tests run. go test does not tell which ones still compile.
	running map[string]bool
	printed time.Time // of the last line
}

// read handles events until the end of r. It prints lines that are not events.
func (g *gate) read(r io.Reader) error {
	g.output, g.running, g.aside = map[string]map[string][]string{}, map[string]bool{}, map[string]map[string][]string{}
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

// doing names the packages whose tests run.
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
	if e.Test != "" && e.Test == top(e.Test) && e.Action != "output" {
		g.of(e.Package).last[e.Test] = e.Action
	}
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

// said prints a line of output or keeps it.
func (g *gate) said(e event) {
	if strings.Contains(e.Output, race) { // it is one, however seldom it shows
		g.of(e.Package).final = true
	}
	if e.Test == "" && !g.verbose && (strings.HasPrefix(e.Output, "ok  \t") || strings.HasPrefix(e.Output, "FAIL\t")) {
		g.sayLeftOut(e.Package)
	}
	later := e.Test != "" || strings.HasPrefix(e.Output, "-test.shuffle ")
	if later && !strings.HasPrefix(e.Output, "=== ") {
		if g.output[e.Package] == nil {
			g.output[e.Package] = map[string][]string{}
		}
		g.output[e.Package][e.Test] = append(g.output[e.Package][e.Test], e.Output)
	}
	switch {
	case g.verbose:
		g.print(e.Output)
	case strings.HasPrefix(e.Output, "ok  \t"):
		g.print(fmt.Sprintf("%s\t%d passed so far\n", strings.TrimSuffix(e.Output, "\n"), g.passed))
	case later:
	case e.Output != "PASS\n" && e.Output != "FAIL\n" && !strings.HasSuffix(e.Output, "[no test files]\n"):
		g.print(e.Output)
	}
}

func (g *gate) endTest(e event) {
	printed := g.output[e.Package][e.Test]
	delete(g.output[e.Package], e.Test)
	switch e.Action {
	case "pass":
		g.passed++
		g.of(e.Package).passes[e.Test]++
	case "fail":
		g.failed++
		g.of(e.Package).fails(e.Package, e.Test, 1, printed)
		g.printKept(printed...)
	case "skip":
		because := why(printed)
		if g.short && strings.Contains(because, leftOut) {
			g.leaveOut(e, because)
			return
		}
		g.skipped++
		if !g.verbose {
			g.print(fmt.Sprintf("skip\t%s\t%s%s\n", e.Package, e.Test, because))
		}
	}
}

// leaveOut keeps a test that -short left out until its package ends. Subtests count as their test.
func (g *gate) leaveOut(e event, because string) {
	g.left++
	_, reason, _ := strings.Cut(because, leftOut)
	test, _, _ := strings.Cut(e.Test, "/")
	if g.aside[e.Package] == nil {
		g.aside[e.Package] = map[string][]string{}
	}
	if all := g.aside[e.Package][reason]; !slices.Contains(all, test) {
		g.aside[e.Package][reason] = append(all, test)
	}
}

// sayLeftOut prints a line with what was left out of a package: at once it would be hundreds.
func (g *gate) sayLeftOut(pkg string) {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(g.aside[pkg])) {
		all = append(all, reason+": "+strings.Join(slices.Sorted(slices.Values(g.aside[pkg][reason])), " "))
	}
	if len(all) > 0 {
		g.print(fmt.Sprintf("left out\t%s\t%s\n", pkg, strings.Join(all, "; ")))
	}
}

// endPackage prints the output of unfinished tests of a failed package, and the shuffle
// seed.
func (g *gate) endPackage(e event) {
	if o := g.of(e.Package); e.Action == "fail" {
		blamed := slices.ContainsFunc(o.failures, func(f *failure) bool { return f.count > 0 })
		for _, test := range o.cut() {
			o.fails(e.Package, test, 0, nil)
		}
		for _, test := range slices.Sorted(maps.Keys(g.output[e.Package])) {
			if test != "" {
				g.printKept("--- unfinished: " + test + "\n")
			}
			if f := o.failure(test); f != nil {
				f.output = append(f.output, g.output[e.Package][test]...)
			}
			g.printKept(g.output[e.Package][test]...)
		}
		if !blamed { // it did not build, or crashed outside a test
			g.failed++
			o.blank++
		}
		if !slices.Contains(g.broken, e.Package) {
			g.broken = append(g.broken, e.Package)
		}
	}
	delete(g.output, e.Package)
	delete(g.running, e.Package)
}

// why returns ": " and the message of a skipped test in one line.
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
	if strings.Contains(said[0], leftOut) {
		said = said[:1] // the environment of a testscript follows
	}
	return ": " + strings.Join(said, " ")
}

// printKept prints what -v has printed already.
func (g *gate) printKept(lines ...string) {
	if !g.verbose {
		g.print(lines...)
	}
}

func (g *gate) print(lines ...string) {
	g.printed = time.Now()
	for _, line := range lines {
		fmt.Fprint(g.out, line)
	}
}

// close prints the last line and reports whether all tests passed.
func (g *gate) close() bool {
	g.tellFlaky()
	if g.left > 0 {
		g.print(fmt.Sprintf("left out by -short, named above: %d with their cases\n", g.left))
	}
	refused := g.strict && g.skipped > 0
	if refused {
		g.print(fmt.Sprintf("RALPH_REQUIRE=all: a skipped test is a failure; skipped: %d\n", g.skipped))
	}
	g.print(fmt.Sprintf("%d passed, %d failed, %d skipped\n", g.passed, g.failed, g.skipped))
	return g.failed == 0 && !refused
}
