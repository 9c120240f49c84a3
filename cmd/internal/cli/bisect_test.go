package cli

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
	f := &cmdline.Factory{Dir: dir, Env: []string{"HOME=" + dir, "TEST_COMMAND=npm test --workspaces"}}
	o := &bisectOptions{pastOptions: pastOptions{Factory: f}, args: []string{"test packages/core"}, dash: -1}
	p, _, err := preflight.Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.named(p)
	if err != nil || c.Dir != "packages/core" || c.Command != "npm test" {
		t.Errorf("%+v, %v", c, err)
	}
	o.args = []string{"x"}
	if _, err = o.named(p); err == nil || !strings.Contains(err.Error(), "known: test, test packages/core;") {
		t.Errorf("%v", err)
	}
}
