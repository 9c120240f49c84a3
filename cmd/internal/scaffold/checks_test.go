package scaffold

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
	"ralph/runner/gate"
)

func shown(rows []gate.Check) (texts []string) {
	for _, c := range rows {
		texts = append(texts, c.Name+": "+c.Reproduce())
	}
	return texts
}

func TestChecks_evidence_becomesRows(t *testing.T) {
	const manifest = `{"scripts": {"test": "node --test", "lint": "eslint ."}}`
	long := strings.Repeat("x", 80)
	for _, test := range []struct {
		name    string
		files   map[string]string
		missing string // a program
		want    []string
	}{
		{"go", map[string]string{"go.mod": "module a", "a.go": "package a"}, "",
			[]string{"build: go build -o /dev/null ./...", "test: go test ./...", "lint: go vet ./..."}},
		{"go with a fast linter", map[string]string{"go.mod": "module a", "a.go": "package a", ".golangci.yml": ""}, "",
			[]string{"lint-fast: golangci-lint run", "build: go build -o /dev/null ./...", "test: go test ./..."}},
		{"python with ruff", map[string]string{"test_a.py": "", "pyproject.toml": "[tool.ruff]\n[tool.pytest]"}, "",
			[]string{"lint-fast: python3 -m ruff check .", "test: python3 -m pytest"}},
		{"types beside the build", map[string]string{"package.json": `{"scripts": {"build": "tsc", "typecheck": "tsc --noEmit", "lint": "eslint ."}}`}, "",
			[]string{"build: npm run build", "typecheck: npm run typecheck", "lint: npm run lint"}},
		{"types alone", map[string]string{"package.json": `{"scripts": {"typecheck": "tsc --noEmit"}}`}, "", []string{"build: npm run typecheck"}},
		{"tsconfig without a script for it", map[string]string{"package.json": `{"scripts": {"build": "vite build"}, "devDependencies": {"typescript": "5"}}`,
			"tsconfig.json": "{}"}, "", []string{"build: npm run build", "typecheck: npx --no-install tsc --noEmit"}},
		{"tsconfig that the build uses", map[string]string{"package.json": `{"scripts": {"build": "tsc -b"}, "devDependencies": {"typescript": "5"}}`,
			"tsconfig.json": "{}"}, "", []string{"build: npm run build"}},
		{"mypy", map[string]string{"test_a.py": "", "pyproject.toml": "[tool.mypy]\nstrict = true\n[tool.pytest]"}, "",
			[]string{"typecheck: python3 -m mypy .", "test: python3 -m pytest"}},
		{"pyright", map[string]string{"test_a.py": "", "pyproject.toml": "[tool.pytest]", "pyrightconfig.json": "{}", "uv.lock": ""}, "",
			[]string{"typecheck: uv run pyright", "test: uv run pytest"}},
		{"oxlint", map[string]string{"package.json": manifest, ".oxlintrc.json": "{}"}, "",
			[]string{"lint-fast: npx --no-install oxlint", "test: npm test", "lint: npm run lint"}},
		{"biome with pnpm", map[string]string{"package.json": manifest, "pnpm-lock.yaml": "", "biome.json": "{}"}, "",
			[]string{"lint-fast: pnpm exec biome lint", "test: pnpm test", "lint: pnpm run lint"}},
		{"no code yet", map[string]string{"go.mod": "module a"}, "", nil},
		{"program is not there", map[string]string{"go.mod": "module a", "a.go": "package a"}, "go", nil},
		{"two languages in one folder", map[string]string{"go.mod": "module a", "a.go": "package a", "package.json": manifest}, "",
			[]string{"build: go build -o /dev/null ./...", "test: go test ./...", "lint: go vet ./...", "test Node.js: npm test", "lint Node.js: npm run lint"}},
		{"make fills the gaps", map[string]string{"package.json": manifest, "Makefile": "test:\n\ttrue\nbuild:\n\ttrue\n"}, "",
			[]string{"test: npm test", "lint: npm run lint", "build: make build"}},
		{"only packages below", map[string]string{"go.work": "go 1.26\nuse ./api", "api/go.mod": "module api", "api/a.go": "package api", "web/package.json": manifest}, "",
			[]string{"build api: (cd api && go build -o /dev/null ./...)", "test api: (cd api && go test ./...)", "lint api: (cd api && go vet ./...)",
				"test web: (cd web && npm test)", "lint web: (cd web && npm run lint)"}},
		{"a root and another language below", map[string]string{"go.mod": "module a", "a.go": "package a", "tools/go.mod": "module t", "tools/t.go": "package t", "web/package.json": manifest}, "",
			[]string{"build: go build -o /dev/null ./...", "test: go test ./...", "lint: go vet ./...", "test web: (cd web && npm test)", "lint web: (cd web && npm run lint)"}},
		{"a root and packages below", map[string]string{"package.json": manifest, "web/package.json": manifest}, "",
			[]string{"test: npm test", "lint: npm run lint"}},
		{"npm workspace with a script in the root", map[string]string{"package.json": `{"workspaces": ["web"], "scripts": {"lint": "eslint ."}}`, "web/package.json": manifest}, "",
			[]string{"lint: npm run lint", "test web: (cd web && npm test)", "lint web: (cd web && npm run lint)"}},
		{"npm workspace with a linter in the root", map[string]string{"package.json": `{"workspaces": ["web"], "devDependencies": {"oxlint": "1"}}`, "web/package.json": manifest}, "",
			[]string{"lint-fast: npx --no-install oxlint", "test web: (cd web && npm test)", "lint web: (cd web && npm run lint)"}},
		{"npm workspace without a script in the root", map[string]string{"package.json": `{"workspaces": ["web"]}`, "web/package.json": manifest}, "",
			[]string{"test web: (cd web && npm test)", "lint web: (cd web && npm run lint)"}},
		{"pnpm workspace", map[string]string{"package.json": manifest, "pnpm-workspace.yaml": "packages: [web]", "web/package.json": manifest}, "",
			[]string{"test: pnpm test", "lint: pnpm run lint", "test web: (cd web && pnpm test)", "lint web: (cd web && pnpm run lint)"}},
		{"yarn workspace", map[string]string{"package.json": `{"workspaces": {"packages": ["web"]}, "scripts": {"test": "jest"}}`, "yarn.lock": "", "web/package.json": manifest}, "",
			[]string{"test: yarn test", "test web: (cd web && yarn test)", "lint web: (cd web && yarn run lint)"}},
		{"bun workspace, a package with another lock file", map[string]string{"package.json": `{"workspaces": ["*"], "scripts": {"lint": "eslint ."}}`, "bun.lock": "",
			"a/package.json": `{"scripts": {"test": "bun test"}}`, "b/package.json": manifest, "b/package-lock.json": ""}, "npx",
			[]string{"lint: bun run lint", "test a: (cd a && bun run test)", "test b: (cd b && npm test)", "lint b: (cd b && npm run lint)"}},
		{"lerna", map[string]string{"package.json": manifest, "lerna.json": `{"packages": ["web"]}`, "web/package.json": `{"scripts": {"test": "x"}}`}, "",
			[]string{"test: npm test", "lint: npm run lint", "test web: (cd web && npm test)"}},
		{"no tests in the root", map[string]string{"package.json": `{"scripts": {"lint": "eslint ."}}`, "web/package.json": manifest, "docs/package.json": `{"scripts": {"build": "x"}}`}, "",
			[]string{"lint: npm run lint", "test web: (cd web && npm test)", "lint web: (cd web && npm run lint)"}},
		{"makefile without tests", map[string]string{"Makefile": "lint:\n\ttrue\n", "web/package.json": `{"scripts": {"test": "x"}}`}, "",
			[]string{"lint: make lint", "test web: (cd web && npm test)"}},
		{"makefile with tests", map[string]string{"Makefile": "test:\n\ttrue\n", "web/package.json": `{"scripts": {"test": "x"}}`}, "", []string{"test: make test"}},
		{"makefile above a go workspace", map[string]string{"Makefile": "test:\n\ttrue\n", "go.work": "go 1.26\nuse \"./api/\" // ./old\n",
			"api/go.mod": "module api", "api/a.go": "package api", "old/go.mod": "module old", "old/a.go": "package old"}, "",
			[]string{"test: make test", "build api: (cd api && go build -o /dev/null ./...)", "test api: (cd api && go test ./...)", "lint api: (cd api && go vet ./...)"}},
		{"module with tests below another", map[string]string{"go.mod": "module a", "a.go": "package a", "sub/go.mod": "module sub", "sub/a_test.go": "package sub"}, "",
			[]string{"build: go build -o /dev/null ./...", "test: go test ./...", "lint: go vet ./...",
				"build sub: (cd sub && go build -o /dev/null ./...)", "test sub: (cd sub && go test ./...)", "lint sub: (cd sub && go vet ./...)"}},
		{"two languages in a folder below", map[string]string{"api/go.mod": "module api", "api/a.go": "package api", "api/package.json": manifest, "api/Makefile": "test:\n\ttrue\n"}, "",
			[]string{"build api: (cd api && go build -o /dev/null ./...)", "test api: (cd api && go test ./...)", "lint api: (cd api && go vet ./...)",
				"test api Node.js: (cd api && npm test)", "lint api Node.js: (cd api && npm run lint)"}},
		{"name that a shell must not read", map[string]string{"a b/package.json": `{"scripts": {"test": "x"}}`, "$(x)/package.json": `{"scripts": {"test": "x"}}`}, "",
			[]string{"test $(x): (cd '$(x)' && npm test)", "test a b: (cd 'a b' && npm test)"}},
		{"go workspace with a module in the root", map[string]string{"go.work": "go 1.26\nuse (\n\t.\n\t./api\n)", "go.mod": "module a", "a.go": "package a",
			"api/go.mod": "module api", "api/a.go": "package api", "other/go.mod": "module other", "other/a.go": "package other"}, "",
			[]string{"build: go build -o /dev/null ./...", "test: go test ./...", "lint: go vet ./...",
				"build api: (cd api && go build -o /dev/null ./...)", "test api: (cd api && go test ./...)", "lint api: (cd api && go vet ./...)"}},
		{"paths that are too long for a name", map[string]string{"a" + long + "/package.json": manifest, "b" + long + "/package.json": `{"scripts": {"test": "x"}}`}, "",
			[]string{"test ..." + long[:48] + ": (cd a" + long + " && npm test)", "lint ..." + long[:48] + ": (cd a" + long + " && npm run lint)",
				"test ..." + long[:48] + " Node.js: (cd b" + long + " && npm test)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := Checks(world.Project(t, test.files), func(program string) bool { return program != test.missing })
			if diff := cmp.Diff(test.want, shown(rows)); diff != "" {
				t.Error(diff)
			}
			for _, row := range rows {
				if err := row.Validate(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestChecks_folderIsMissing_areNone(t *testing.T) {
	if rows := Checks(filepath.Join(t.TempDir(), "no"), func(string) bool { return true }); rows != nil {
		t.Errorf("%+v", rows)
	}
}

// A file that a check leaves behind would count as the agent's work.
func TestChecks_goWithOneMainPackage_leaveNoFile(t *testing.T) {
	files := map[string]string{"go.mod": "module example.com/app\n", "cmd/app/main.go": "package main\n\nfunc main() {}\n"}
	dir := world.Project(t, files)
	for _, row := range Checks(dir, func(string) bool { return true }) {
		cmd := exec.Command("sh", "-c", row.Command)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", row.Command, err, out)
		}
	}
	f, err := open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(maps.Keys(files)); !slices.Equal(f.files, want) {
		t.Errorf("the checks leave %q, want %q", f.files, want)
	}
}
