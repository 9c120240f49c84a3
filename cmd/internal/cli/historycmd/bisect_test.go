package historycmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
)

func TestCheckNamed_oneOfAPackage_isFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"package.json": `{"workspaces": ["packages/*"]}`, "packages/core/package.json": `{"name": "core", "scripts": {"test": "true"}}`} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := &verbs{&cmdline.Factory{Dir: dir, Env: []string{"HOME=" + dir, "TEST_COMMAND=npm test --workspaces"}}}
	p, _, err := preflight.Open(a.Factory, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.checkNamed(p, []string{"test packages/core"}, -1)
	if err != nil || c.Dir != "packages/core" || c.Command != "npm test" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err = a.checkNamed(p, []string{"x"}, -1); err == nil || !strings.Contains(err.Error(), "known: test, test packages/core;") {
		t.Errorf("%v", err)
	}
}
