package gate

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/runner/gate/report"
	"ralph/runner/gate/workspace"
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

// instrument asks for structured results where that cannot change anything else:
// the command is one plain call of a known test runner, or the runner takes
// options from its environment.
func instrument(c Check, p Place) (request, error) {
	r := request{command: c.Command, env: p.Env, check: c}
	if formatOf(c) == report.ExitCode {
		return r, nil
	}
	wants := func(f report.Format) bool { return c.Format == report.Auto || c.Format == f }
	call := workspace.ParseCall(c.Command)
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

// withPytest makes every pytest in the command write a report. Only the xunit1
// family names the files of tests.
func withPytest(env []string, file string) []string {
	const name = "PYTEST_ADDOPTS"
	if env == nil {
		env = os.Environ()
	}
	options := fmt.Sprintf("--junitxml='%s' -o junit_family=xunit1", file)
	for _, e := range env {
		if given, ok := strings.CutPrefix(e, name+"="); ok && given != "" {
			options = given + " " + options
		}
	}
	return append(slices.Clone(env), name+"="+options)
}

// read adds the results in report files to those of the output.
func (r request) read(s report.Summary, dir string, began time.Time) report.Summary {
	var files []string
	if r.dir != "" {
		jest := func(file io.Reader) (report.Summary, error) { return report.ReadJest(file, dir) }
		if all, ok := readFile(filepath.Join(r.dir, jestFile), jest); ok {
			all.Nothing = s.Nothing
			s = all // the output shows some of the same tests, under other names where a root is set
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
		if found, ok := readFile(file, report.ReadJUnit); ok {
			s = s.Merge(found)
		}
	}
	return s
}

// readFile reads a report file. It returns false for one that is missing, or
// broken before its first test.
func readFile(path string, read func(io.Reader) (report.Summary, error)) (s report.Summary, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return s, false
	}
	defer f.Close()
	s, err = read(f)
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

func jestOptions(file string) string { return "--json --outputFile=" + file }

func vitestOptions(file string) string {
	return "--reporter=default --reporter=json --outputFile.json=" + file
}

// goJSON adds -json to a go test.
func goJSON(c workspace.Call) (string, bool) {
	if len(c.Words) < 2 || c.Words[0] != "go" || c.Words[1] != "test" ||
		c.HasAny("-json", "-c", "-o", "-list", "-n", "-h", "-help", "--help", "-fuzz", "-exec") {
		return "", false
	}
	return c.After(1, "-json"), true
}

// jestJSON makes a call of jest or vitest also write a JSON file. It follows
// scripts of package.json.
func jestJSON(c workspace.Call, file, dir string) (string, bool) {
	if word, arg := jestArgs(c, file); arg != "" {
		return c.After(word, arg), true
	}
	if len(c.Words) < 2 || len(c.Words) > 3 || !slices.Contains([]string{"npm", "pnpm", "yarn"}, c.Words[0]) {
		return "", false
	}
	script := c.Words[len(c.Words)-1]
	switch {
	case len(c.Words) == 3 && c.Words[1] == "run", script == "test" && len(c.Words) == 2:
	case script == "t" && len(c.Words) == 2:
		script = "test"
	default:
		return "", false
	}
	_, arg := jestArgs(workspace.ParseCall(workspace.Script(dir, script)), file)
	if arg == "" {
		return "", false
	}
	if c.Words[0] == "npm" {
		arg = "-- " + arg
	}
	return c.After(len(c.Words)-1, arg), true
}

// jestArgs returns the arguments to insert, and the index of the word before
// them; "" means none.
func jestArgs(c workspace.Call, file string) (int, string) {
	for i, word := range c.Words[:min(len(c.Words), 3)] {
		if i > 0 && !slices.Contains([]string{"npx", "pnpm", "exec", "yarn", "bunx"}, c.Words[i-1]) {
			break
		}
		switch filepath.Base(word) {
		case "jest":
			if c.HasAny("--json", "--outputFile", "--watch", "--watchAll", "--listTests") {
				return 0, ""
			}
			return i, jestOptions("'" + file + "'")
		case "vitest":
			if c.HasAny("--reporter", "--outputFile", "watch", "--watch", "-w", "list", "bench", "dev", "related") {
				return 0, ""
			}
			if i+1 < len(c.Words) && c.Words[i+1] == "run" {
				i++
			}
			return i, vitestOptions("'" + file + "'")
		}
	}
	return 0, ""
}
