package gate

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ralph/runner/gate/report"
	"ralph/state/projectfs"
)

// request is a check's command, changed so that the test runner reports each
// test. The change never affects which tests run or pass.
type request struct {
	command string
	env     []string
	dir     string // for report files; empty: none
	check   Check
}

// junitFile is the report file in request.dir.
const junitFile = "junit.xml"

// prepare makes the test runner report structured results if that changes nothing else: the command must be one plain
// call of a known test runner, or the runner must take options from its environment.
func prepare(c Check, p Place) (request, error) {
	r := request{command: c.Command, env: p.Env, check: c}
	if formatOf(c) == report.ExitCode {
		return r, nil
	}
	wants := func(f report.Format) bool { return c.Format == report.Auto || c.Format == f }
	if wants(report.Go) {
		r.command = goVerbose(c.Command)
	}
	if r.command != c.Command || !wants(report.Pytest) {
		return r, nil
	}
	var err error
	if r.dir, err = os.MkdirTemp("", "ralph-check-"); err != nil {
		return r, fmt.Errorf("make folder for reports: %w", err)
	}
	r.env = withPytest(p.Env, filepath.Join(r.dir, junitFile))
	return r, nil
}

// read adds the results in report files to those of the output.
func (r request) read(s report.Summary, dir string, began time.Time) report.Summary {
	var files []string
	if r.dir != "" {
		files = append(files, filepath.Join(r.dir, junitFile))
	}
	if r.check.JUnit != "" {
		for _, file := range glob(dir, r.check.JUnit) {
			file = filepath.Join(dir, file)
			// A file of an earlier run says nothing about this one. Some file systems store whole seconds.
			if info, err := os.Stat(file); err == nil && !info.ModTime().Before(began.Truncate(time.Second)) {
				files = append(files, file)
			}
		}
	}
	for _, file := range files {
		if found, ok := readFile(dir, file); ok {
			s = s.Merge(found)
		}
	}
	return s
}

// maxReport bounds a report file, in bytes.
const maxReport = 256 << 20

// readFile reads a report file. It returns false if the file is missing, or broken before its first test.
// One in the project may be anything.
func readFile(project, path string) (s report.Summary, ok bool) {
	open := os.Open // file: in a temporary folder of ralph
	if rel, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(rel) {
		open = projectfs.In(project).Open
	}
	f, err := open(path)
	if err != nil {
		return s, false
	}
	defer f.Close()
	s, err = report.ReadJUnit(io.LimitReader(f, maxReport))
	return s, err == nil || len(s.Tests) > 0
}

// hide removes the options and files that ralph added from the output.
func (r request) hide(output string) string {
	if r.dir == "" {
		return output
	}
	var lines []string
	for line := range strings.SplitSeq(output, "\n") {
		if !strings.Contains(line, filepath.Base(r.dir)) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
