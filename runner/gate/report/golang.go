package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"sort"
	"strings"
)

// goEvent has the fields of a line of go test -json that ralph needs.
type goEvent struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}

type goKey struct{ pkg, test string }

// goEvents reads go test -json and prints the text of failures.
type goEvents struct {
	c        *collector
	text     io.Writer
	running  map[goKey]*Excerpt // tests that have not ended yet
	builds   map[string]*Excerpt
	packages map[string]*Excerpt // output outside of tests
	failed   map[string]bool     // packages with a failed test
}

func newGoEvents(c *collector, text io.Writer) *goEvents {
	return &goEvents{c: c, text: text, running: map[goKey]*Excerpt{}, builds: map[string]*Excerpt{},
		packages: map[string]*Excerpt{}, failed: map[string]bool{}}
}

// line reports whether the line was an event.
func (g *goEvents) line(line []byte) bool {
	if !bytes.HasPrefix(line, []byte(`{"`)) || !bytes.Contains(line, []byte(`"Action":"`)) {
		return false
	}
	var e goEvent
	if json.Unmarshal(line, &e) != nil || e.Package == "" && e.ImportPath == "" {
		return false
	}
	g.c.known, g.c.complete = true, true
	switch e.Action {
	case "build-output":
		g.print(e.Output)
		of(g.builds, e.ImportPath).add(e.Output)
		if g.c.nothing == "" && saysNothing(e.Output) {
			g.c.nothing = strings.TrimSpace(e.Output)
		}
	case "run":
		of(g.running, goKey{e.Package, e.Test})
	case "output":
		g.output(e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			g.endPackage(e)
		} else {
			g.endTest(e)
		}
	}
	return true
}

func of[K comparable](m map[K]*Excerpt, k K) *Excerpt {
	if m[k] == nil {
		m[k] = newMessage()
	}
	return m[k]
}

func (g *goEvents) print(text string) { _, _ = g.text.Write([]byte(text)) }

func (g *goEvents) output(e goEvent) {
	switch {
	case e.Test == "":
		if e.Output != "FAIL\n" && e.Output != "PASS\n" {
			g.print(e.Output)
			of(g.packages, e.Package).add(e.Output)
		}
	case !isFrame(e.Output):
		of(g.running, goKey{e.Package, e.Test}).add(e.Output)
	}
}

// isFrame reports whether the testing package prints this line before or after a test.
func isFrame(line string) bool {
	line = strings.TrimLeft(line, " ")
	return slices.ContainsFunc([]string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "--- FAIL: ", "--- PASS: ",
		"--- SKIP: "}, func(p string) bool { return strings.HasPrefix(line, p) })
}

func (g *goEvents) endTest(e goEvent) {
	key := goKey{e.Package, e.Test}
	message := g.running[key].String()
	delete(g.running, key)
	name := e.Package + "." + e.Test
	switch e.Action {
	case "pass":
		g.c.add(Test{Name: name, Status: Passed})
	case "skip":
		g.c.add(Test{Name: name, Status: Skipped})
	case "fail":
		if message == "" && g.failedBelow(name) {
			return // it failed only because of its subtests
		}
		g.failed[e.Package] = true
		g.c.add(Test{Name: name, Status: Failed, Message: message})
		g.print(strings.TrimRight("--- FAIL: "+e.Test+"\n"+message, "\n") + "\n")
	}
}

func (g *goEvents) failedBelow(name string) bool {
	for _, t := range slices.Backward(g.c.tests) {
		if strings.HasPrefix(t.Name, name+"/") && t.Status == Failed {
			return true
		}
	}
	return false
}

// endPackage fails the package itself if none of its tests failed.
func (g *goEvents) endPackage(e goEvent) {
	if e.Action == "fail" {
		g.endRunning(e.Package)
		if !g.failed[e.Package] && !isPattern(e.Package) {
			message := g.packages[e.Package].String()
			if b := g.builds[e.FailedBuild]; b != nil {
				message = b.String()
			}
			g.c.add(Test{Name: e.Package, Status: Failed, Message: message})
		}
	}
	delete(g.packages, e.Package)
}

// isPattern: go names the argument if it matches no package. That is no test.
func isPattern(pkg string) bool { return strings.Contains(pkg, "...") }

// endRunning fails the tests of a package that have not ended, subtests first; ""
// is every package.
func (g *goEvents) endRunning(pkg string) {
	var open []goKey
	for key := range g.running {
		if pkg == "" || key.pkg == pkg {
			open = append(open, key)
		}
	}
	sort.SliceStable(open, func(i, j int) bool {
		a, b := open[i], open[j]
		return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(b.test, a.test)) < 0
	})
	for _, key := range open {
		g.endTest(goEvent{Action: "fail", Package: key.pkg, Test: key.test})
	}
}

func (g *goEvents) end() { g.endRunning("") }

// goText reads go test without -json. The name of a package follows its tests.
type goText struct {
	c       *collector
	pending []Test // of the current package
	texts   map[string]*Excerpt
	current string // the test, or "# package" of a build, that the next lines belong to
	verbose bool   // the tests of the current package that pass are named, too
}

func (g *goText) line(line string) {
	rest := strings.TrimLeft(line, " ")
	switch {
	case strings.HasPrefix(line, "FAIL\t"), strings.HasPrefix(line, "ok  \t"), strings.HasPrefix(line, "?   \t"):
		g.endPackage(line)
	case strings.HasPrefix(rest, "--- FAIL: "):
		g.result(rest, Failed)
	case strings.HasPrefix(rest, "--- PASS: "):
		g.verbose = true
		g.result(rest, Passed)
	case strings.HasPrefix(rest, "--- SKIP: "):
		g.verbose = true
		g.result(rest, Skipped)
	case strings.HasPrefix(line, "=== RUN "), strings.HasPrefix(line, "=== CONT "),
		strings.HasPrefix(line, "=== NAME "):
		g.verbose = true
		g.current = strings.Fields(line + " -")[2]
	case strings.HasPrefix(line, "=== "), line == "FAIL", line == "PASS":
		g.current = ""
	case strings.HasPrefix(line, "# "):
		pkg, _, _ := strings.Cut(line[2:], " ")
		g.current = "# " + pkg
	case g.current != "":
		if g.texts == nil {
			g.texts = map[string]*Excerpt{}
		}
		of(g.texts, g.current).WriteLine(line)
	}
}

func (g *goText) result(rest string, s Status) {
	name, _, ok := strings.Cut(rest[len("--- FAIL: "):], " (")
	if !ok || strings.Contains(name, " ") {
		return
	}
	g.current = name
	g.pending = append(g.pending, Test{Name: name, Status: s})
}

func (g *goText) endPackage(line string) {
	fields := strings.Split(line, "\t")
	pkg, how, _ := strings.Cut(strings.TrimSpace(fields[1]), " ")
	if len(fields) < 3 && how == "" || isPattern(pkg) {
		return
	}
	g.c.known, g.c.complete = true, true
	failed := false
	for _, t := range g.pending {
		below := func(o Test) bool { return o.Status == Failed && strings.HasPrefix(o.Name, t.Name+"/") }
		message := g.texts[t.Name].String()
		if t.Status == Failed {
			failed = true
			if message == "" && slices.ContainsFunc(g.pending, below) {
				continue
			}
			t.Message = message
		}
		t.Name = pkg + "." + t.Name
		if !g.verbose {
			t.Of = pkg
		}
		g.c.add(t)
	}
	switch {
	case fields[0] == "FAIL" && !failed:
		g.c.add(Test{Name: pkg, Status: Failed, Message: g.texts["# "+pkg].String()})
	case fields[0] == "ok  " && len(g.pending) == 0 && !strings.Contains(line, "[no tests to run]"):
		g.c.add(Test{Name: pkg, Status: Passed})
	}
	g.pending, g.current, g.verbose = nil, "", false
	for name := range g.texts {
		if !strings.HasPrefix(name, "# ") { // builds are printed before all packages
			delete(g.texts, name)
		}
	}
}

func (g *goText) end() {}
