package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/config"
	"ralph/runner/gate"
	"ralph/runner/rules"
)

// project writes files and returns their folder; a name that ends with * is
// that of a program.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if plain, ok := strings.CutSuffix(name, "*"); ok {
			name, mode = plain, 0o755
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	aList    = "checks:\n  - {name: mine, command: \"true\"}\n"
	aProgram = "#!/bin/sh\nexit 0\n"
)

func TestChecks_comeFromTheFirstThatNamesSome(t *testing.T) {
	for _, test := range []struct {
		name     string
		files    map[string]string
		want     []string
		detected bool
		mode     gate.Mode
	}{
		{"a list, before commands and files", map[string]string{".ralph/config.yaml": aList, ".ralphrc": "TEST_COMMAND=make", "test.sh*": aProgram},
			[]string{"mine: true"}, false, gate.ModeGate},
		{"commands, before files", map[string]string{".ralphrc": "TEST_COMMAND=make\nLINT_COMMAND='make lint'\nBUILD_COMMAND=cc", "test.sh*": aProgram},
			[]string{"build: cc", "test: make", "lint: make lint"}, false, gate.ModeGate},
		{"files", map[string]string{"test.sh*": aProgram}, []string{"test: ./test.sh"}, true, gate.ModeTDD},
		{"files, and a mode", map[string]string{"test.sh*": aProgram, ".ralphrc": "TEST_MODE=report"}, []string{"test: ./test.sh"}, true, gate.ModeReport},
		{"a list, and a mode", map[string]string{".ralph/config.yaml": aList, ".ralphrc": "TEST_MODE=tdd"}, []string{"mine: true"}, false, gate.ModeTDD},
		{"not to be looked for", map[string]string{"test.sh*": aProgram, ".ralphrc": "DETECT_CHECKS=false"}, nil, false, gate.ModeGate},
		{"nothing", map[string]string{"README.md": ""}, nil, false, gate.ModeGate},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := project(t, test.files)
			cfg, _, err := config.Loader{Dir: dir}.Load()
			if err != nil {
				t.Fatal(err)
			}
			rows, detected := (&app{}).checks(dir, cfg)
			if diff := cmp.Diff(test.want, shown(rows)); diff != "" {
				t.Error(diff)
			}
			if err := gate.ValidateAll(rows); err != nil {
				t.Error(err)
			}
			if m := mode(cfg, detected); detected != test.detected || m != test.mode {
				t.Errorf("detected %v, mode %q", detected, m)
			}
		})
	}
}

func shown(rows []gate.Check) (texts []string) {
	for _, c := range rows {
		texts = append(texts, c.Name+": "+c.Reproduce())
	}
	return texts
}

func TestDetectChecks(t *testing.T) {
	const manifest = `{"scripts": {"test": "node --test", "lint": "eslint ."}}`
	long := strings.Repeat("x", 80)
	for _, test := range []struct {
		name    string
		files   map[string]string
		missing string // a program
		want    []string
	}{
		{"go", map[string]string{"go.mod": "module a", "a.go": "package a"}, "",
			[]string{"build: go build ./...", "test: go test ./...", "lint: go vet ./..."}},
		{"no code yet", map[string]string{"go.mod": "module a"}, "", nil},
		{"program is not there", map[string]string{"go.mod": "module a", "a.go": "package a"}, "go", nil},
		{"two languages in one folder", map[string]string{"go.mod": "module a", "a.go": "package a", "package.json": manifest}, "",
			[]string{"build: go build ./...", "test: go test ./...", "lint: go vet ./...", "test Node.js: npm test", "lint Node.js: npm run lint"}},
		{"make fills the gaps", map[string]string{"package.json": manifest, "Makefile": "test:\n\ttrue\nbuild:\n\ttrue\n"}, "",
			[]string{"test: npm test", "lint: npm run lint", "build: make build"}},
		{"only packages below", map[string]string{"go.work": "go 1.26\nuse ./api", "api/go.mod": "module api", "api/a.go": "package api", "web/package.json": manifest}, "",
			[]string{"build api: (cd 'api' && go build ./...)", "test api: (cd 'api' && go test ./...)", "lint api: (cd 'api' && go vet ./...)",
				"test web: (cd 'web' && npm test)", "lint web: (cd 'web' && npm run lint)"}},
		{"a root and another language below", map[string]string{"go.mod": "module a", "a.go": "package a", "tools/go.mod": "module t", "tools/t.go": "package t", "web/package.json": manifest}, "",
			[]string{"build: go build ./...", "test: go test ./...", "lint: go vet ./...", "test web: (cd 'web' && npm test)", "lint web: (cd 'web' && npm run lint)"}},
		{"a root and packages below", map[string]string{"package.json": manifest, "web/package.json": manifest}, "",
			[]string{"test: npm test", "lint: npm run lint"}},
		{"path that is too long for a name", map[string]string{long + "/package.json": manifest}, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := detectChecks(project(t, test.files), func(program string) bool { return program != test.missing })
			if diff := cmp.Diff(test.want, shown(rows)); diff != "" {
				t.Error(diff)
			}
			if err := gate.ValidateAll(rows); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDetectChecks_folderIsMissing_areNone(t *testing.T) {
	if rows := detectChecks(filepath.Join(t.TempDir(), "no"), func(string) bool { return true }); rows != nil {
		t.Errorf("%+v", rows)
	}
}

// verb runs one verb for a project, without a terminal, and returns what it says.
func verb(t *testing.T, dir string, argv ...string) (string, error) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var text strings.Builder
	a := &app{in: null, out: &text, err: &text, env: os.Environ()}
	root := a.root()
	// Without --dir the project would be that of these sources, whose checks run this test.
	root.SetArgs(append([]string{"--dir=" + dir}, argv...))
	root.SilenceErrors, root.SilenceUsage = true, true
	err = root.Execute()
	return text.String(), err
}

// otherHome keeps what this user has configured out of a test.
func otherHome(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
}

func TestCheck_nothingConfigured_runsWhatTheFilesShow(t *testing.T) {
	otherHome(t)
	green := map[string]string{"test.sh*": "#!/bin/sh\necho 'ok 1 - a'\n"}
	if out, err := verb(t, project(t, green), "check"); err != nil || !strings.Contains(out, "test   passed") {
		t.Errorf("%v\n%s", err, out)
	}
	red := map[string]string{"test.sh*": "#!/bin/sh\necho 'not ok 1 - a'\nexit 1\n"}
	out, err := verb(t, project(t, red), "check")
	if exit := (*exitError)(nil); !errors.As(err, &exit) || exit.code != rules.ExitError || !strings.Contains(out, "test   failed") {
		t.Errorf("%v\n%s", err, out)
	}
	red[".ralphrc"] = "TEST_MODE=report\n"
	if out, err := verb(t, project(t, red), "check"); err != nil || !strings.Contains(out, "test   failed") {
		t.Errorf("%v\n%s", err, out)
	}
	red[".ralphrc"] = "DETECT_CHECKS=false\n"
	if out, err := verb(t, project(t, red), "check"); err == nil || strings.Contains(out, "CHECK") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCheck_listOfTheProject_needsConsentAndThenRuns(t *testing.T) {
	otherHome(t)
	dir := project(t, map[string]string{
		".ralph/config.yaml": "checks:\n  - {name: touch, command: touch ran, dir: sub}\n", "sub/x": ""})
	if _, err := verb(t, dir, "check"); err == nil || !strings.Contains(err.Error(), ".ralph/config.yaml:2: checks.touch=touch ran (in sub)") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sub/ran")); err == nil {
		t.Error("it ran without consent")
	}
	for _, name := range []string{"trust", "check"} {
		if out, err := verb(t, dir, name); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "sub/ran")); err != nil {
		t.Error(err)
	}
}

func TestDoctor_namesTheChecks(t *testing.T) {
	otherHome(t)
	for _, test := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"test.sh*": aProgram}, "ok    checks    test: ./test.sh (detected)\n"},
		{map[string]string{"README.md": ""}, "warn  checks    none: nothing proves what the agent says; name them in .ralphrc, as in: TEST_COMMAND=\"make test\"\n"},
		{map[string]string{".ralph/config.yaml": "checks:\n  - {name: a, command: make}\n  - {name: b, command: x, dir: web}\n"}, "ok    checks    a: make; b: (cd 'web' && x)\n"},
	} {
		out, _ := verb(t, project(t, test.files), "doctor")
		if !strings.Contains(out, test.want) {
			t.Errorf("%s\nwant %s", out, test.want)
		}
	}
}
