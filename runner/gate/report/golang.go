package report

import (
	"maps"
	"slices"
	"strings"
)

func of[K comparable](m map[K]*Excerpt, k K) *Excerpt {
	if m[k] == nil {
		m[k] = newMessage()
	}
	return m[k]
}

// isPattern: go names the argument if it matches no package. That is no test.
func isPattern(pkg string) bool { return strings.Contains(pkg, "...") }

// goMark is what go test -v=test2json prints before its own lines. The line "ok" of a package has none.
const goMark = "\x16"

// goText reads go test. The name of a package follows its tests.
type goText struct {
	c       *collector
	pending []Test // of the current package
	running map[string]bool
	texts   map[string]*Excerpt
	current string // the test, or "# package" of a build, that the next lines belong to
	verbose bool   // the tests of the current package that pass are named, too
	marked  bool   // its own lines have marks
	over    bool   // its tests are over
}

func (g *goText) line(line string) {
	before, own, marked := strings.Cut(line, goMark)
	if marked {
		g.marked = true
		if before != "" {
			g.message(before)
		}
		line = own
	}
	rest := strings.TrimLeft(line, " ")
	switch {
	case (!g.marked || marked || g.over) && (strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t")):
		g.endPackage(line)
	case g.marked && !marked && !strings.HasPrefix(line, "# "):
		g.message(line)
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
		if g.current = strings.TrimSpace(line[len("=== RUN "):]); strings.HasPrefix(line, "=== RUN ") {
			g.running[g.current] = true
		}
	case strings.HasPrefix(line, "=== "), line == "FAIL", line == "PASS":
		g.current, g.over = "", !strings.HasPrefix(line, "=== ")
	case strings.HasPrefix(line, "# "):
		pkg, _, _ := strings.Cut(line[2:], " ")
		g.current = "# " + pkg
	default:
		g.message(line)
	}
}

func (g *goText) message(line string) {
	if g.current != "" {
		of(g.texts, g.current).WriteLine(line)
	}
}

func (g *goText) result(rest string, s Status) {
	name, _, ok := strings.Cut(rest[len("--- FAIL: "):], " (")
	if !ok || strings.Contains(name, " ") {
		return
	}
	g.current = name // a panic follows
	delete(g.running, name)
	g.pending = append(g.pending, Test{Name: name, Status: s})
}

func (g *goText) endPackage(line string) {
	fields := strings.Split(line, "\t")
	pkg, how, _ := strings.Cut(strings.TrimSpace(fields[1]), " ")
	if len(fields) < 3 && how == "" || isPattern(pkg) {
		return
	}
	g.c.known, g.c.complete = true, true
	if fields[0] == "FAIL" { // what has not ended has failed, too: it ended the whole package
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(g.running))) {
			g.pending = append(g.pending, Test{Name: name, Status: Failed})
		}
	}
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
	g.pending, g.current, g.verbose, g.marked, g.over = nil, "", false, false, false
	clear(g.running)
	for name := range g.texts {
		if !strings.HasPrefix(name, "# ") { // builds are printed before all packages
			delete(g.texts, name)
		}
	}
}

func (g *goText) end() {}
