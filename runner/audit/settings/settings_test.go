package settings

import "testing"

func TestCompare_whatIsTheSameOrStricter_isNoFinding(t *testing.T) {
	for name, tc := range map[string]struct {
		path, before, after string
		want                string
	}{
		"make, variable":                {"Makefile", "test:\n\tpython3 -m pytest\n", "PY := python3\nPT = $(PY) -m pytest\n\ntest:\n\t$(PT)\n", ""},
		"make, variable with less":      {"Makefile", "F = -race ./...\n\ntest:\n\tgo test $(F)\n", "F = ./...\n\ntest:\n\tgo test $(F)\n", `the make targets were changed: removed "go test -race ./..."`},
		"make, variable of environment": {"Makefile", "export GOFLAGS = -race\n\ntest:\n\tgo test\n", "test:\n\tgo test\n", `the make targets were changed: removed "export GOFLAGS = -race"`},
		"make, line goes on":            {"Makefile", "test:\n\tgo vet ./... && \\\n\tgo test ./...\n", "test:\n\tgo vet ./... && go test ./...\n", ""},
		"make, guard with exit":         {"Makefile", "lint:\n\ttest -z x || \\\n\techo bad && exit 1\n", "lint:\n\ttrue\n", `the make targets were changed: removed "test -z x ||  \techo bad && exit 1"`},
		"make, a new command in a pipe": {"Makefile", "build:\n\tgo build -o bin/a ./cmd/a\n", "build:\n\tgo build -o bin/a ./cmd/a\n\tgo build -o bin/b ./cmd/b | tee log\n", ""},
		"make, a new command may fail":  {"Makefile", "build:\n\tgo build ./...\n", "build:\n\t-rm old\n\tmkdir bin || true\n\tgo build ./...\n", ""},
		"make, a command gets a pipe":   {"Makefile", "build:\n\tgo build ./cmd/a\n", "build:\n\tgo build ./cmd/a | tee log\n", `the make targets were changed: added "go build ./cmd/a | tee log"`},
		"make, a new check in a pipe":   {"Makefile", "test:\n\tgo vet ./...\n", "test:\n\tgo vet ./...\n\tgo test ./... | tee log\n", `the make targets were changed: added "go test ./... | tee log"`},
		"placeholder":                   {"package.json", `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`, `{"scripts": {"test": "jest"}}`, ""},
		"placeholder comes back":        {"package.json", `{"scripts": {"test": "jest"}}`, `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`, `the scripts of package.json were changed: removed "test: jest"`},
		"exit in a check script":        {"check.sh", "if bad; then\n\techo bad; exit 1\nfi\n", "if bad; then\n\techo bad\nfi\n", `the check scripts were changed: removed "echo bad; exit 1"`},
		"echo in a check script":        {"check.sh", "echo tests\ngo test\n", "go test\n", ""},
		"list becomes a block":          {".github/workflows/a.yml", "on: [push, pull_request]\n", "on:\n  - push\n  - pull_request\n", ""},
		"list becomes a shorter block":  {".github/workflows/a.yml", "on: [push, pull_request]\n", "on:\n  - push\n", `the CI configuration was changed: removed "on: [push, pull_request]"`},
		"steps instead of a script":     {".github/workflows/a.yml", "- run: |\n    make lint\n    make test\n", "- run: make lint\n- run: make test\n", ""},
		"a higher gate in a command":    {".github/workflows/a.yml", "- run: pytest --cov-fail-under=80\n", "- run: pytest --cov-fail-under=90\n", ""},
		"a lower gate in a command":     {".github/workflows/a.yml", "- run: pytest --cov-fail-under=80\n", "- run: pytest --cov-fail-under=70\n", `the CI configuration was changed: removed "- run: pytest --cov-fail-under=80"`},
		"other quotes":                  {".eslintrc.js", "rules: {\n \"no-var\": \"error\",\n}\n", "rules: {\n 'no-var': 'error',\n}\n", ""},
		"shorter lines":                 {".flake8", "[flake8]\nmax-line-length=100\n", "[flake8]\nmax-line-length = 88\n", ""},
		"longer lines":                  {"ruff.toml", "line-length = 88\n", "line-length = 120\n", `the Python tool configuration was changed: removed "line-length = 88"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, f := range Compare([]File{{tc.path, tc.before, tc.after, true, true}}, "") {
				got += f.Text
			}
			if got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestCompare_settingsMoveToAnotherFile_onlyWithoutLossIsNoFinding(t *testing.T) {
	ini := File{Path: "setup.cfg", Before: "[tool:pytest]\naddopts = --strict-markers\n\n[coverage:report]\nfail_under = 90\n", Existed: true}
	toml := func(percent string) File {
		return File{Path: "pyproject.toml", Exists: true, After: "[tool.coverage.report]\nfail_under = " + percent +
			"\n\n[tool.pytest.ini_options]\naddopts = \"--strict-markers\"\n"}
	}
	if found := Compare([]File{ini, toml("90")}, ""); len(found) > 0 {
		t.Error(found)
	}
	ruff := File{Path: "ruff.toml", After: "line-length = 88\n\n[lint]\nselect = [\"E\"]\n", Exists: true}
	shared := File{Path: "pyproject.toml", Before: "[tool.ruff]\nline-length = 88\n\n[tool.ruff.lint]\nselect = [\"E\"]\n", Existed: true}
	if found := Compare([]File{shared, ruff}, ""); len(found) > 0 {
		t.Error(found)
	}
	if found := Compare([]File{ini, toml("50")}, ""); len(found) != 1 || found[0].File != "pyproject.toml" {
		t.Error(found)
	}
}

func TestCompare_targetsMoveToAnIncludedFile_noFinding(t *testing.T) {
	if found := Compare([]File{
		{"Makefile", "GO ?= go\n\ntest:\n\t$(GO) test ./...\n", "GO ?= go\n\ninclude mk/test.mk\n", true, true},
		{"mk/test.mk", "", "test:\n\t$(GO) test ./...\n", false, true},
	}, ""); len(found) > 0 {
		t.Error(found)
	}
}

func TestCompare_settingMovesToAFileOfAnotherKind_noFinding_ciKeepsItsSteps(t *testing.T) {
	script := File{"package.json", `{"scripts": {"lint": "eslint src"}}`, `{"scripts": {}}`, true, true}
	if found := Compare([]File{script, {"Makefile", "", "lint:\n\teslint src\n", false, true}}, ""); len(found) > 0 {
		t.Error(found)
	}
	ci := File{".github/workflows/a.yml", "- run: go vet ./...\n", "", true, true}
	if found := Compare([]File{ci, {"Makefile", "", "lint:\n\t- run: go vet ./...\n", false, true}}, ""); len(found) != 1 {
		t.Errorf("a target that CI does not run: %v", found)
	}
}
