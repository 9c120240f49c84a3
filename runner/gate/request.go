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

// The report files in request.dir.
const (
	junitFile = "junit.xml"
	jestFile  = "jest.json"
)

// prepare makes the test runner report structured results if that changes nothing else: the command must be one plain
// call of a known test runner, or the runner must take options from its environment.
func prepare(c Check, p Place) (request, error) {
	r := request{command: c.Command, env: p.Env, check: c}
	if formatOf(c) == report.ExitCode {
		return r, nil
	}
	wants := func(f report.Format) bool { return c.Format == report.Auto || c.Format == f }
	call := parseCall(c.Command)
	if command, ok := goJSON(call); ok && wants(report.Go) {
		r.command = command
		return r, nil
	}
	if !wants(report.Pytest) && !wants(report.Jest) {
		return r, nil
	}
	var err error
	if r.dir, err = os.MkdirTemp("", "ralph-check-"); err != nil {
		return r, fmt.Errorf("make folder for reports: %w", err)
	}
	if wants(report.Jest) {
		dir := filepath.Join(p.Dir, filepath.FromSlash(c.Dir))
		if command, ok := jestJSON(call, filepath.Join(r.dir, jestFile), dir); ok {
			r.command = command
		}
	}
	if wants(report.Pytest) {
		r.env = withPytest(p.Env, filepath.Join(r.dir, junitFile))
	}
	return r, nil
}

// read adds the results in report files to those of the output.
func (r request) read(s report.Summary, dir string, began time.Time) report.Summary {
	var files []string
	if r.dir != "" {
		jest := func(file io.Reader) (report.Summary, error) { return report.ReadJest(file, dir) }
		if all, ok := readFile(dir, filepath.Join(r.dir, jestFile), jest); ok {
			all.Nothing = s.Nothing
			s = all // the output has some of the same tests, under other names if jest has a root
		}
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
		if found, ok := readFile(dir, file, report.ReadJUnit); ok {
			s = s.Merge(found)
		}
	}
	return s
}

// maxReport bounds a report file, in bytes.
const maxReport = 256 << 20

// readFile reads a report file. It returns false if the file is missing, or broken before its first test.
// One in the project may be anything.
func readFile(project, path string, read func(io.Reader) (report.Summary, error)) (s report.Summary, ok bool) {
	open := os.Open // file: in a temporary folder of ralph
	if rel, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(rel) {
		open = projectfs.In(project).Open
	}
	f, err := open(path)
	if err != nil {
		return s, false
	}
	defer f.Close()
	s, err = read(io.LimitReader(f, maxReport))
	return s, err == nil || len(s.Tests) > 0
}

// hide removes the options and files that ralph added from the output.
func (r request) hide(output string) string {
	if r.dir == "" {
		return output
	}
	var lines []string
	for line := range strings.SplitSeq(output, "\n") {
		for _, quote := range []string{"", "'", `"`} {
			line = strings.ReplaceAll(line, jestOptions(quote+filepath.Join(r.dir, jestFile)+quote), "")
			line = strings.ReplaceAll(line, vitestOptions(quote+filepath.Join(r.dir, jestFile)+quote), "")
		}
		if !strings.Contains(line, filepath.Base(r.dir)) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
