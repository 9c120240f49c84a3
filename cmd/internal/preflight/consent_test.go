package preflight

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/internal/world"
)

// found is the project as a run finds it from a folder of it.
func found(t *testing.T, dir string, flags map[string]string) *Project {
	t.Helper()
	loader := config.Loader{Dir: dir, Home: t.TempDir(), Flags: flags}
	cfg, _, err := loader.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := New(&cmdline.Factory{Dir: dir}, loader, cfg)
	if err := p.FindPrompt(); err != nil {
		t.Fatal(err)
	}
	if err := p.FindPlan(); err != nil {
		t.Fatal(err)
	}
	return p
}

func lines(t *testing.T, p *Project) []string {
	t.Helper()
	all, err := p.Unagreed()
	if err != nil {
		t.Fatal(err)
	}
	return cmdline.Lines(all)
}

func TestUnagreed_promptOrPlanOutside_isNamed(t *testing.T) {
	outside := world.Project(t, map[string]string{"secret": "x", "plan.md": "- [ ] a\n"})
	secret, plan := filepath.Join(outside, "secret"), filepath.Join(outside, "plan.md")
	for _, test := range []struct {
		name  string
		files map[string]string
		flags map[string]string
		want  []string // ends of lines
	}{
		{name: "in the project", files: map[string]string{".ralph/PROMPT.md": "p", ".ralph/fix_plan.md": "- [ ] a\n"}},
		{name: "settings", files: map[string]string{".ralphrc": "PROMPT_FILE=" + secret + "\nPLAN_FILE=" + plan + "\n"},
			want: []string{"outside the project: " + secret, "outside the project: " + plan}},
		{name: "flags are the user's own", files: map[string]string{"x": ""}, flags: map[string]string{"PROMPT_FILE": secret, "PLAN_FILE": plan}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := world.Project(t, test.files)
			p := found(t, dir, test.flags)
			got := lines(t, p)
			if !slices.EqualFunc(got, test.want, strings.HasSuffix) {
				t.Fatalf("%q, want %q", got, test.want)
			}
			all, _ := p.Unagreed()
			if err := (&cmdline.Factory{}).Record(p.loader, all); err != nil {
				t.Fatal(err)
			}
			if got := lines(t, p); got != nil {
				t.Errorf("after consent: %q", got)
			}
		})
	}
}

func TestUnagreed_filesOfAnotherUser_areNamed(t *testing.T) {
	p := found(t, world.Project(t, map[string]string{".ralph/PROMPT.md": "p", ".ralphrc": ""}), nil)
	if got := lines(t, p); got != nil {
		t.Errorf("one's own: %q", got)
	}
	p.uid++ // now it is somebody else who looks
	got := lines(t, p)
	if len(got) != 2 || !strings.Contains(got[0], ".ralph belongs to another user") || !strings.Contains(got[1], ".ralphrc belongs to another user") {
		t.Errorf("%q", got)
	}
}

func TestUnagreed_projectAboveTheRepository_isNamed(t *testing.T) {
	dir := world.Project(t, map[string]string{".ralph/PROMPT.md": "p", "repo/sub/x": "", "repo/.git/HEAD": "ref: refs/heads/main\n"})
	for below, want := range map[string]bool{"repo/sub": true, "repo": true, ".": false, ".ralph": false} {
		p := found(t, dir, nil)
		p.above = filepath.Join(dir, below)
		got := lines(t, p)
		if (len(got) == 1 && strings.Contains(got[0], "above the repository "+filepath.Join(dir, "repo"))) != want {
			t.Errorf("from %s: %q", below, got)
		}
	}
}

func TestAgreeChecks_withoutATerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var text strings.Builder
	f := &cmdline.Factory{In: null, Out: &text, Err: &text}
	p := found(t, world.Project(t, map[string]string{"prompt.md": "p", "test.sh*": aProgram}), nil)
	if err := p.AgreeChecks(f); err != nil || p.Config.DetectChecks || !strings.Contains(text.String(), "./test.sh; agree with: ralph trust") {
		t.Errorf("left in: %v, %q", err, &text)
	}
	if len(p.LeftOut) != 1 || !strings.Contains(p.LeftOut[0], "the detected check test (./test.sh) does not run, because you have not agreed to it: ralph trust") {
		t.Errorf("to be named at the end: %q", p.LeftOut)
	}
	text.Reset()

	// Where there was nothing to run, what is there later is the loop's own.
	p = found(t, world.Project(t, map[string]string{"prompt.md": "p"}), nil)
	if err := p.AgreeChecks(f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Dir, "test.sh"), []byte(aProgram), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.AgreeChecks(f); err != nil || !p.Config.DetectChecks || text.Len() > 0 {
		t.Errorf("left out: %v, %q", err, &text)
	}
}

func TestAgreeChecks_programIsMissing_isNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for files, want := range map[string]int{"": 2, "TEST_COMMAND=make": 0, "DETECT_CHECKS=false": 0} {
		p := found(t, world.Project(t, map[string]string{"prompt.md": "p", "Cargo.toml": "[package]\nname = \"a\"\n", ".ralphrc": files}), nil)
		if err := p.AgreeChecks(&cmdline.Factory{}); err != nil {
			t.Fatal(err)
		}
		if len(p.LeftOut) != want || want > 0 && !strings.Contains(p.LeftOut[1], "check test (cargo test) does not run, because its program is not installed") {
			t.Errorf("with %q: %q", files, p.LeftOut)
		}
	}
}

// A program that is installed later must not run what a stranger wrote before.
func TestAgreeChecks_programIsMissing_isNoConsent(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	p := found(t, world.Project(t, map[string]string{"prompt.md": "p", "Cargo.toml": "[package]\nname = \"a\"\n"}), nil)
	if err := p.AgreeChecks(&cmdline.Factory{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "cargo"), []byte(aProgram), 0o755); err != nil {
		t.Fatal(err)
	}
	if left, err := p.UnagreedChecks(); err != nil || len(left) != 1 {
		t.Errorf("needs consent: %v, %v", left, err)
	}
}
