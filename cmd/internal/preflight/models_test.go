package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/config"
	"ralph/internal/world"
)

func TestModels_ofTheProgramAreKept_elseThoseOfTheDocumentation(t *testing.T) {
	dir := world.Project(t, map[string]string{"bin/opencode*": "#!/bin/sh\necho asked >>" + filepath.Join(t.TempDir(), "asked") + "\necho a/b\n"})
	t.Setenv("PATH", filepath.Join(dir, "bin")+":/bin:/usr/bin")
	cfg, _, err := config.Loader{Dir: dir}.Load()
	if err != nil {
		t.Fatal(err)
	}
	p, home := &Project{Dir: dir, Config: cfg, Env: os.Environ()}, t.TempDir()
	models := func(name string) string {
		t.Helper()
		one, err := p.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(p.Models(t.Context(), one, home), " ")
	}
	if got := models("opencode"); got != "a/b" {
		t.Errorf("first %q", got)
	}
	script, err := os.ReadFile(filepath.Join(dir, "bin/opencode"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "bin/opencode"))
	if err != nil {
		t.Fatal(err)
	}
	set := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "bin/opencode"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set(strings.ReplaceAll(string(script), "a/b", "c/d"))
	if err := os.Chtimes(filepath.Join(dir, "bin/opencode"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := models("opencode"); got != "a/b" {
		t.Errorf("the kept list was not used: %q", got)
	}
	later := info.ModTime().Add(1e9)
	if err := os.Chtimes(filepath.Join(dir, "bin/opencode"), later, later); err != nil {
		t.Fatal(err)
	}
	if got := models("opencode"); got != "c/d" {
		t.Errorf("another program has the old list: %q", got)
	}
	set("#!/bin/sh\nexit 1\n")
	if got := models("opencode"); got != "" {
		t.Errorf("a failed list: %q", got)
	}
	if got := models("claude"); got != "opus sonnet haiku" {
		t.Errorf("documented names: %q", got)
	}
}
