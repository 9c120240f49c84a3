package preflight

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/cmd/internal/config"
	"ralph/internal/world"
	"ralph/runner/gate"
)

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
			[]string{"mine: true"}, false, gate.ModeAuto},
		{"commands, before files", map[string]string{".ralphrc": "TEST_COMMAND=make\nLINT_COMMAND='make lint'\nBUILD_COMMAND=cc", "test.sh*": aProgram},
			[]string{"build: cc", "test: make", "lint: make lint"}, false, gate.ModeAuto},
		{"files", map[string]string{"test.sh*": aProgram}, []string{"test: ./test.sh"}, true, gate.ModeAuto},
		{"files, and a mode", map[string]string{"test.sh*": aProgram, ".ralphrc": "TEST_MODE=report"}, []string{"test: ./test.sh"}, true, gate.ModeReport},
		{"a list, and a mode", map[string]string{".ralph/config.yaml": aList, ".ralphrc": "TEST_MODE=tdd"}, []string{"mine: true"}, false, gate.ModeTDD},
		{"not to be looked for", map[string]string{"test.sh*": aProgram, ".ralphrc": "DETECT_CHECKS=false"}, nil, false, gate.ModeAuto},
		{"nothing", map[string]string{"README.md": ""}, nil, false, gate.ModeAuto},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := world.Project(t, test.files)
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
			if m := gate.Mode(cfg.TestMode); detected != test.detected || m != test.mode {
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
