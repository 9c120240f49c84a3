package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func open(t *testing.T, archive string) *workspaces {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return openWorkspaces(root)
}

const cargoSpace = `
-- Cargo.toml --
[workspace]
resolver = "2"
members = [
    "crates/*", # all of them
    'tool',
]
exclude = ["crates/old"]
[workspace.package]
members = ["no"]
-- crates/core/Cargo.toml --
[package]
name = "core-x"
-- crates/app/Cargo.toml --
[package]
name = "app"
[dependencies]
core-x = { path = "../core" }
-- crates/old/Cargo.toml --
[package]
name = "old"
-- tool/Cargo.toml --
[package]
name = "tool"
[dependencies]
core-xy = "1"
`

const pnpmSpace = `
-- package.json --
{"name": "root", "scripts": {"test": "pnpm -r test"}}
-- pnpm-workspace.yaml --
packages:
  - "apps/**"
  - '!**/fixtures/**'
catalog:
  react: &react 19.1.0
  react-dom: *react
-- apps/web/package.json --
{"name": "web", "scripts": {"test": "x", "build": "y"}, "dependencies": {"ui": "workspace:*"}}
-- apps/libs/ui/package.json --
{"name": "ui", "scripts": {"test": "x"}}
-- apps/web/node_modules/dep/package.json --
{"name": "dep", "scripts": {"test": "x"}}
-- apps/web/fixtures/f/package.json --
{"name": "f", "scripts": {"test": "x"}}
`

const uvSpace = `
-- pyproject.toml --
[tool.uv.workspace]
members = ["packages/*"]
exclude = ["packages/seeds"]
-- packages/a/pyproject.toml --
[project]
name = "a-lib"
-- packages/b/pyproject.toml --
[project]
name = "b"
dependencies = ["a-lib>=1"]
[tool.uv.sources]
a-lib = { workspace = true }
-- packages/seeds/pyproject.toml --
[project]
name = "seeds"
`

const goSpace = `
-- go.work --
go 1.24

use . // the root
use (
	./a
	"./b"
)
replace example.com/z => ./z
-- go.mod --
module example.com/root
-- a/go.mod --
module example.com/root/a
-- b/go.mod --
module example.com/b
require example.com/root/a v0.0.0
-- z/go.mod --
module example.com/z
`

const yarnSpace = `
-- package.json --
{"workspaces": {"packages": ["p/*"]}}
-- p/a/package.json --
{"name": "a", "scripts": {"lint": "x"}}
-- p/b/package.json --
{"name": "b"}
-- p/c/package.json --
{ broken
`

func TestParts_wholeWorkspaceCommand_isSplit(t *testing.T) {
	for _, c := range []struct{ name, space, command, want string }{
		{"go", goSpace, "go test -race ./...", ". go test -race ./...|a go test -race ./...|b go test -race ./..."},
		{"go, one package", goSpace, "go test ./a", ""},
		{"go, more than a call", goSpace, "go vet ./... && go test ./...", ""},
		{"go, another tool", goSpace, "cargo test", ""},
		{"cargo, virtual", cargoSpace, "cargo test", "crates/app cargo test|crates/core cargo test|tool cargo test"},
		{"cargo, flag", cargoSpace, "cargo clippy --workspace --all-targets", "crates/app cargo clippy --all-targets|crates/core cargo clippy --all-targets|tool cargo clippy --all-targets"},
		{"cargo, one crate", cargoSpace, "cargo test -p app", ""},
		{"cargo, root is a crate", strings.Replace(cargoSpace, "[workspace]\n", "[package]\nname = \"root\"\n[workspace]\n", 1), "cargo test", ""},
		{"cargo, root is a crate, flag", strings.Replace(cargoSpace, "[workspace]\n", "[package]\nname = \"root\"\n[workspace]\n", 1), "cargo test --workspace", ". cargo test|crates/app cargo test|crates/core cargo test|tool cargo test"},
		{"pnpm", pnpmSpace, "pnpm -r test", "apps/libs/ui pnpm test|apps/web pnpm test"},
		{"pnpm, a script that one has", pnpmSpace, "pnpm --recursive run build", "apps/web pnpm run build"},
		{"pnpm, the root's own script", pnpmSpace, "pnpm test", ""},
		{"pnpm, a script that the root lacks", pnpmSpace, "pnpm run build", "apps/web pnpm run build"},
		{"yarn", yarnSpace, "yarn workspaces run lint", "p/a yarn run lint"},
		{"uv", uvSpace, "uv run pytest -q", "packages/a uv run pytest -q|packages/b uv run pytest -q"},
		{"uv, all at once", uvSpace, "uv run --all-packages pytest", ""},
		{"none", "", "go test ./...", ""},
	} {
		var got []string
		for _, p := range open(t, c.space).Parts(c.command) {
			got = append(got, p.Dir+" "+p.Command)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTouched_packagesAndTheirDependents(t *testing.T) {
	for _, c := range []struct {
		name, space string
		dirs        []string
		changed     []string
		want        string
	}{
		{"go", goSpace, []string{".", "a", "b"}, []string{"a/x.go"}, "a b"},
		{"go, no dependent", goSpace, []string{".", "a", "b"}, []string{"b/x.go"}, "b"},
		{"go, root module", goSpace, []string{".", "a", "b"}, []string{"cmd/main.go"}, "."},
		{"go, root file", goSpace, []string{".", "a", "b"}, []string{"go.work"}, ". a b"},
		{"cargo", cargoSpace, []string{"crates/app", "crates/core", "tool"}, []string{"crates/core/src/lib.rs"}, "crates/app crates/core"},
		{"uv", uvSpace, []string{"packages/a", "packages/b"}, []string{"packages/a/x.py"}, "packages/a packages/b"},
		{"uv, requirements are not a document", uvSpace, []string{"packages/a", "packages/b"}, []string{"requirements.txt"}, "packages/a packages/b"},
		{"pnpm", pnpmSpace, []string{"apps/web", "apps/libs/ui"}, []string{"apps/libs/ui/a.ts"}, "apps/web apps/libs/ui"},
		{"nothing", pnpmSpace, []string{"apps/web", "apps/libs/ui"}, nil, ""},
		{"document", pnpmSpace, []string{"apps/web", "apps/libs/ui"}, []string{"docs/a.md", ".ralph/status.json"}, ""},
		{"a folder that no manifest names", pnpmSpace, []string{"apps/web", "e2e"}, []string{"e2e/a.ts"}, "e2e"},
	} {
		w := open(t, c.space)
		for _, dir := range c.dirs {
			w.Add(dir)
		}
		touched := w.Touched(c.changed)
		var got []string
		for _, dir := range c.dirs {
			if touched(dir) {
				got = append(got, dir)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: touched %q, want %q", c.name, got, c.want)
		}
	}
}

func TestScript_brokenManifest_isEmpty(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{", "[]", `{"scripts": 7}`} {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := packageScript(dir, "test"); got != "" {
			t.Errorf("Script() of %q = %q", text, got)
		}
	}
	if got := packageScript(t.TempDir(), "test"); got != "" {
		t.Errorf("Script() without a manifest = %q", got)
	}
}

func TestMatch_globsOfUsers(t *testing.T) {
	for _, c := range []struct {
		glob, file string
		want       bool
	}{
		{"*.go", "a/b/x.go", true}, {"./*.go", "x.go", true}, {"a/*.go", "a/b/x.go", false}, {"a/**/*.go", "a/x.go", true},
		{"**/x.go", "x.go", true}, {"docs/", "docs/a/b.md", true}, {"docs", "docs/a.md", false}, {"**", "a/b", true},
		{"web/**", "web", true}, {"web-*/**", "web-shop", true}, {"web-*/**", "web-shop/a.ts", true},
		{"*.{ts,tsx}", "a/x.tsx", true}, {"{api,web}/**", "web/x", true}, {"[!a]*.go", "b.go", true}, {"[!a]*.go", "a.go", false},
		{"[", "[", false}, {"a/{b", "a/{b", false},
	} {
		if got := MatchGlob(c.glob, c.file); got != c.want {
			t.Errorf("Match(%q, %q) = %t, want %t", c.glob, c.file, got, c.want)
		}
		if bad := c.glob == "[" || c.glob == "a/{b"; badGlob(c.glob) != bad {
			t.Errorf("BadGlob(%q) = %t, want %t", c.glob, !bad, bad)
		}
	}
}

func TestUsedDirs(t *testing.T) {
	text := "go 1.26 // use nothing\n\nuse ./one\nuse \"./two words\"\n\nuse (\n\t./three // the third\n\t`four`\n\n)\nreplace x => ./user\nreplace (\n\ty => ./z\n)\n"
	if got, want := usedDirs(text), []string{"one", "two words", "three", "four"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
