package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhy_filesThatTheProgramNeeds_areNamedWhileTheyAreMissing(t *testing.T) {
	const setup = "FAIL\tx [setup failed]"
	for name, test := range map[string]struct {
		files, dir, command, output, want string
	}{
		"go without a module":           {"main.go", "", "go test ./...", setup, "there is no go.mod"},
		"go with one":                   {"go.mod main.go", "", "go test ./...", "FAIL", ""},
		"go with one below":             {"api/go.mod api/main.go", "", "cd api && go test ./...", "FAIL", ""},
		"go in a folder of a module":    {"go.mod api/main.go", "api", "go test ./...", "FAIL", ""},
		"go with tests alone":           {"go.mod a_test.go", "", "go test ./...", setup, "there is no Go code besides tests"},
		"a test that fails alone":       {"go.mod a_test.go", "", "go test ./...", "--- FAIL: TestA", ""},
		"go with code that is wrong":    {"go.mod a_test.go a.go", "", "go test ./...", setup, ""},
		"npm without a package":         {"a.js", "", "CI=true npm test", "ENOENT", "there is no package.json"},
		"pnpm with one":                 {"package.json", "", "pnpm test", "ENOENT", ""},
		"pytest without tests":          {"calc.py", "", "python3 -m pytest -q", "No module named pytest", "there is no test"},
		"pytest with some":              {"tests/test_calc.py", "", "python3 -m pytest -q", "No module named pytest", ""},
		"pytest of a virtual env":       {".venv/lib/test_x.py", "", ".venv/bin/pytest", "not found", "there is no test"},
		"cargo without a manifest":      {"main.rs", "", "cargo test", "could not find", "there is no Cargo.toml"},
		"cargo with one":                {"Cargo.toml", "", "cargo test", "could not find", ""},
		"make without a makefile":       {"a", "", "make check", "No rule to make target 'check'", "there is no makefile"},
		"make with one":                 {"Makefile", "", "make check", "No rule to make target 'check'", ""},
		"a word that looks like one":    {"a", "", "./my-go test", "FAIL", ""},
		"another program, red":          {"a", "", "sh test.sh", "FAIL", ""},
		"a module of what npm installs": {"node_modules/x/package.json", "", "npm test", "ENOENT", "there is no package.json"},
	} {
		top := t.TempDir()
		for _, file := range strings.Fields(test.files) {
			path := filepath.Join(top, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := whyUnneeded(top, filepath.Join(top, test.dir), test.command, test.output); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
