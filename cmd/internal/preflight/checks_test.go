package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/config"
	"ralph/runner/gate"
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
			p := &Project{Dir: dir, Config: cfg}
			rows, detected := p.Checks()
			if diff := cmp.Diff(test.want, shown(rows)); diff != "" {
				t.Error(diff)
			}
			for _, row := range rows {
				if err := row.Validate(); err != nil {
					t.Error(err)
				}
			}
			if m := p.Mode(detected); detected != test.detected || m != test.mode {
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
