package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	mostFlaky = 5 // tests that fail by chance in one run; more have a cause
	aloneRuns = 2
	mostLines = 40 // of its first output that the end of a run repeats
	// patience is for a test alone; that of the whole run may be much longer.
	patience = "-timeout=10m"
	race     = "WARNING: DATA RACE"
)

// outcomes is what became of the tests of a package. Subtests belong to their test.
type outcomes struct {
	last     map[string]string // the last action of each
	passes   map[string]int
	failures []*failure
	blank    int  // failures of the package that no failed test explains
	final    bool // it stays a failure, whatever a second run says
}

// failure is a test that failed, or that had not finished when its package ended.
type failure struct {
	pkg, test string
	output    []string
	count     int // the test and its subtests that failed; 0: it had not finished
}

func (f failure) String() string { return f.pkg + " " + f.test }

func top(test string) string {
	name, _, _ := strings.Cut(test, "/")
	return name
}

func (g *gate) of(pkg string) *outcomes {
	if g.outcomes == nil {
		g.outcomes = map[string]*outcomes{}
	}
	if g.outcomes[pkg] == nil {
		g.outcomes[pkg] = &outcomes{last: map[string]string{}, passes: map[string]int{}}
	}
	return g.outcomes[pkg]
}

// fails notes a test or subtest that failed; count is 0 if it had not finished.
func (o *outcomes) fails(pkg, test string, count int, output []string) {
	if o.failure(test) == nil {
		o.failures = append(o.failures, &failure{pkg: pkg, test: top(test)})
	}
	f := o.failure(test)
	f.count, f.output = f.count+count, append(f.output, output...)
}

func (o *outcomes) failure(test string) *failure {
	for _, f := range o.failures {
		if f.test == top(test) {
			return f
		}
	}
	return nil
}

// readKnown reads the tests that were flaky before: a package and a test in each line. What follows # is a comment.
func readKnown(path string) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read known flaky tests: %w", err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if name := strings.Join(strings.Fields(line), " "); name != "" {
			known[name] = true
		}
	}
	return known, nil
}

// again runs each failed test alone. One that passes each time counts as passed, and is flaky. Tests that did not begin
// because their package crashed run before that.
func (g *gate) again(dir string, args []string) error {
	flags := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "./") })
	var all []*failure
	for _, pkg := range g.broken {
		o := g.of(pkg)
		if o.final = o.final || len(o.failures) == 0; !o.final {
			if err := g.rest(dir, flags, pkg); err != nil {
				return err
			}
		}
		if o.final {
			g.print(pkg + ": not the failure of a test, or a data race, so it stays\n")
			continue
		}
		all = append(all, o.failures...)
	}
	if len(all) > mostFlaky {
		g.print(fmt.Sprintf("%d tests do not fail by chance, so none runs again\n", len(all)))
		return nil
	}
	for _, f := range all {
		g.alone(dir, flags, f)
	}
	return nil
}

// rest runs the tests of a package that did not begin.
func (g *gate) rest(dir string, flags []string, pkg string) error {
	cmd := exec.Command("go", slices.Concat([]string{"test", "-list=."}, flags, []string{pkg})...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list tests of %s: %w", pkg, err)
	}
	o := g.of(pkg)
	var names []string
	for line := range strings.Lines(string(out)) {
		name := strings.TrimSpace(line)
		if kind := strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz"); kind && o.left(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	g.print(fmt.Sprintf("%s ended before %d of its tests; they run now\n", pkg, len(names)))
	known := len(o.failures)
	err = g.test(dir, slices.Concat(flags, []string{"-run=^(" + strings.Join(names, "|") + ")$", pkg}))
	o.final = o.final || err != nil && len(o.failures) == known || slices.ContainsFunc(names, o.left)
	return nil
}

// cut returns the tests that were at work when the package ended.
func (o *outcomes) cut() (names []string) {
	for _, test := range slices.Sorted(maps.Keys(o.last)) {
		if last := o.last[test]; last == "run" || last == "cont" {
			names = append(names, test)
		}
	}
	return names
}

// left reports whether a test has neither an end nor a failure.
func (o *outcomes) left(test string) bool {
	switch o.last[test] {
	case "pass", "fail", "skip":
		return false
	}
	return o.failure(test) == nil
}

// alone runs a failed test by itself.
func (g *gate) alone(dir string, flags []string, f *failure) {
	g.print(fmt.Sprintf("again, alone: %s\n", f))
	var out strings.Builder
	one := &gate{out: &out, verbose: g.verbose, short: g.short}
	err := one.test(dir, slices.Concat(flags, []string{fmt.Sprintf("-count=%d", aloneRuns), "-run=^" + f.test + "$", patience, f.pkg}))
	switch {
	case err != nil || one.failed > 0 || one.of(f.pkg).passes[f.test] != aloneRuns:
		g.print(out.String(), fmt.Sprintf("it is no better alone: %s\n", f))
		return
	case g.known[f.String()]:
		g.print(fmt.Sprintf("it passes alone, but it was flaky before, which is a failure now: %s\n", f))
		return
	}
	g.failed, g.passed = g.failed-f.count, g.passed+max(1, f.count)
	g.flaky = append(g.flaky, f)
	o := g.of(f.pkg)
	if !slices.ContainsFunc(o.failures, func(f *failure) bool { return !slices.Contains(g.flaky, f) }) {
		g.failed -= o.blank
	}
}

// tellFlaky names the flaky tests.
func (g *gate) tellFlaky() {
	for _, f := range g.flaky {
		g.print(fmt.Sprintf("flaky: %s failed, and passed %d times alone; with this name in %s, the next time is a failure\n", f, aloneRuns, g.list))
		if more := len(f.output) - mostLines; more > 0 {
			g.print(fmt.Sprintf("    (%d lines before)\n", more))
		}
		for _, line := range f.output[max(0, len(f.output)-mostLines):] {
			g.print("    " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
}
