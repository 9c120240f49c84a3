package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/world"
	"ralph/state"
)

const aProgram = "#!/bin/sh\nexit 0\n"

// verb runs one verb for a project, without a terminal, and returns what it says.
func verb(t *testing.T, dir string, argv ...string) (string, error) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var text strings.Builder
	root, _ := newRootCmd(&cmdline.Factory{In: null, Out: &text, Err: &text, Env: os.Environ()})
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
	t.Setenv(state.InsideVar, "") // an agent may run these tests
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
}

func TestCheck_nothingConfigured_runsWhatTheFilesShow(t *testing.T) {
	otherHome(t)
	agreed := func(files map[string]string) string {
		dir := world.Project(t, files)
		if out, err := verb(t, dir, "trust", "--yes"); err != nil {
			t.Fatal(err, out)
		}
		return dir
	}
	green := map[string]string{"test.sh*": "#!/bin/sh\necho 'ok 1 - a'\n"}
	if out, err := verb(t, agreed(green), "check"); err != nil || !strings.Contains(out, "test   passed  1 ") {
		t.Errorf("%v\n%s", err, out)
	}
	red := map[string]string{"test.sh*": "#!/bin/sh\necho 'not ok 1 - a'\nexit 1\n"}
	out, err := verb(t, agreed(red), "check")
	if exit := (*cmdline.ExitError)(nil); !errors.As(err, &exit) || exit.Code != state.ExitError || !strings.Contains(out, "test   failed") {
		t.Errorf("%v\n%s", err, out)
	}
	red[".ralphrc"] = "TEST_MODE=report\n"
	if out, err := verb(t, agreed(red), "check"); err != nil || !strings.Contains(out, "test   failed") {
		t.Errorf("%v\n%s", err, out)
	}
	red[".ralphrc"] = "DETECT_CHECKS=false\n"
	if out, err := verb(t, world.Project(t, red), "check"); err == nil || strings.Contains(out, "CHECK") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCheck_listOfTheProject_needsConsentAndThenRuns(t *testing.T) {
	otherHome(t)
	dir := world.Project(t, map[string]string{
		".ralph/config.yaml": "checks:\n  - {name: touch, command: touch ran, dir: sub}\n", "sub/x": ""})
	if _, err := verb(t, dir, "check"); err == nil || !strings.Contains(err.Error(), ".ralph/config.yaml:2: checks.touch=touch ran (in sub)") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sub/ran")); err == nil {
		t.Error("it ran without consent")
	}
	if out, err := verb(t, dir, "trust"); err == nil || !strings.Contains(err.Error(), "ralph trust --yes agrees to: .ralph/config.yaml:2") {
		t.Errorf("nobody was asked: %v\n%s", err, out)
	}
	for _, argv := range [][]string{{"trust", "--yes"}, {"check"}} {
		if out, err := verb(t, dir, argv...); err != nil {
			t.Errorf("%s: %v\n%s", argv, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "sub/ran")); err != nil {
		t.Error(err)
	}
}

func TestCheck_detectedInAFreshClone_needsConsentThatLasts(t *testing.T) {
	otherHome(t)
	dir := world.Project(t, map[string]string{"test.sh*": "#!/bin/sh\ntouch ran\necho 'ok 1 - a'\n"})
	out, err := verb(t, dir, "check")
	if _, ran := os.Stat(filepath.Join(dir, "ran")); ran == nil || err == nil ||
		!strings.Contains(out, "left out, because you have not agreed to run what was detected: detected check test: ./test.sh; agree with: ralph trust") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := verb(t, dir, "trust", "--yes"); err != nil || !strings.Contains(out, "detected check test: ./test.sh") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := verb(t, dir, "check"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := verb(t, dir, "doctor"); strings.Contains(out, "left out") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestProject_dotRalphIsALink_isRefused(t *testing.T) {
	otherHome(t)
	dir, elsewhere := world.Project(t, map[string]string{"prompt.md": "p"}), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, ".ralph")); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"run"}, {"init", "--yes"}, {"status"}, {"check"}} {
		_, err := verb(t, dir, argv...)
		if cmdline.ExitCode(err) != state.ExitUsage || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s: %v", argv, err)
		}
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Error("something was written through the link")
	}
}

func TestTrust_insideOfARun_isRefused(t *testing.T) {
	otherHome(t)
	dir := world.Project(t, map[string]string{".ralphrc": "TEST_COMMAND=evil\n"})
	t.Setenv(state.InsideVar, "run-1")
	for _, argv := range [][]string{{"trust", "--yes"}, {"accept"}} {
		if out, err := verb(t, dir, argv...); cmdline.ExitCode(err) != state.ExitUsage || !strings.Contains(err.Error(), "inside of run run-1") {
			t.Errorf("%s: %v\n%s", argv, err, out)
		}
	}
	fresh := world.Project(t, map[string]string{"go.mod": "module x\n"})
	if out, err := verb(t, fresh, "init", "--yes"); err != nil || !strings.Contains(out, "not trusted yet") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestDoctorAndDryRun_nameTheReviewers(t *testing.T) {
	otherHome(t)
	t.Setenv("AGENT", "text")
	t.Setenv("AGENT_CMD", "cat")
	for settings, want := range map[string]string{"": "no reviewer: wrong code", "QA=true\nJUDGES=security,ux\n": "each task by QA, then Security Auditor, UX Designer"} {
		dir := world.Project(t, map[string]string{".ralphrc": settings, ".ralph/fix_plan.md": "- [ ] one\n", ".ralph/PROMPT.md": "Work.\n"})
		for _, args := range [][]string{{"doctor"}, {"run", "--dry-run"}} {
			if out, _ := verb(t, dir, args...); !strings.Contains(out, want) {
				t.Errorf("%q %q, want %q:\n%s", settings, args, want, out)
			}
		}
	}
}

func TestDoctor_namesTheChecks(t *testing.T) {
	world.Long(t, "many runs of verbs")
	otherHome(t)
	for _, test := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"test.sh*": aProgram}, "warn  checks    left out until you agree to run them: test: ./test.sh (detected); agree with: ralph trust\n"},
		{map[string]string{"README.md": ""}, "warn  checks    none: nothing proves what the agent says; name them in .ralphrc, for example: TEST_COMMAND=\"make test\"\n"},
		{map[string]string{".ralph/config.yaml": "checks:\n  - {name: a, command: make}\n  - {name: b, command: x, dir: web}\n"}, "ok    checks    a: make; b: (cd web && x)\n"},
	} {
		out, _ := verb(t, world.Project(t, test.files), "doctor")
		if !strings.Contains(out, test.want) {
			t.Errorf("%s\nwant %s", out, test.want)
		}
	}
}

func TestCheckWithoutItsProgram_isSaidBeforeTheRun(t *testing.T) {
	otherHome(t)
	const missing = `check test: its program "pytst" is not found on PATH`
	for _, test := range []struct {
		rc, want string
		refused  bool
	}{
		{"TEST_COMMAND='pytst -q'", missing, true},
		{"TEST_COMMAND='pytst -q'\nHOOK_RUN_START='make tools'", missing, false},
		{"TEST_COMMAND=./pytst", `check test: its program "./pytst" is not an executable file`, false},
		{"TEST_COMMAND='pytst -q || true'", "", false}, // a shell may know what it is
		{"TEST_COMMAND='PATH=tools pytst'", "", false},
		{"TEST_COMMAND='test -d .'", "", false}, // the shell itself knows it
	} {
		dir := world.Project(t, map[string]string{".ralphrc": test.rc + "\n", ".ralph/PROMPT.md": "Work.\n", ".ralph/fix_plan.md": "- [ ] a\n"})
		t.Setenv("AGENT", "text")
		t.Setenv("AGENT_CMD", "true")
		if out, err := verb(t, dir, "trust", "--yes"); err != nil {
			t.Fatal(err, out)
		}
		mark := map[bool]string{true: "FAIL  checks    ", false: "warn  checks    "}[test.refused]
		out, _ := verb(t, dir, "doctor")
		if told := strings.Contains(out, mark+test.want); told != (test.want != "") || test.want == "" && strings.Contains(out, "its program") {
			t.Errorf("%s: doctor says\n%s", test.rc, out)
		}
		out, err := verb(t, dir, "run", "--max-iterations=1")
		refused := cmdline.ExitCode(err) == state.ExitUsage && strings.Contains(err.Error(), missing)
		warned := strings.Contains(out, "warning: "+test.want) && test.want != ""
		if refused != test.refused || warned != (test.want != "" && !test.refused) {
			t.Errorf("%s: run ends with %v and says\n%s", test.rc, err, out)
		}
	}
}

func TestAgentThatCannotStart_doctorAndRunSayWhyAndWhatNamesIt(t *testing.T) {
	otherHome(t)
	dir := world.Project(t, map[string]string{"badint*": "#!/nosuch/interp\n", "badelf*": "\x7fELFbroken",
		".ralph/fix_plan.md": "- [ ] one\n", ".ralph/PROMPT.md": "Work.\n"})
	t.Setenv("AGENT", "text")
	for name, want := range map[string]string{"badint": `program not found: its interpreter "/nosuch/interp" is missing`,
		"badelf": "program not executable: it is neither a script with a #! line nor a program for this machine"} {
		file := filepath.Join(dir, name)
		t.Setenv("AGENT_CMD", file)
		out, _ := verb(t, dir, "doctor")
		if line := fmt.Sprintf("FAIL  agent     text cannot run: start %q: %s\n", file, want); !strings.Contains(out, line) {
			t.Errorf("%s\nwant %s", out, line)
		}
		out, err := verb(t, dir, "run")
		if cmdline.ExitCode(err) != state.ExitAgent || !strings.Contains(out, want+" (rule agent_unusable") ||
			!strings.Contains(out, "next: install or mend the program of the agent text, or name another with AGENT_CMD") {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
