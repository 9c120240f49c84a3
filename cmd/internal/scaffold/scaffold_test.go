package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task/store"
)

// repo writes a little repository; a name that ends with + becomes executable.
func repo(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		mode := os.FileMode(0o644)
		if cut, ok := strings.CutSuffix(name, "+"); ok {
			name, mode = cut, 0o755
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func everything(string) bool { return true }

// show returns "test | build | lint".
func show(p Project) string {
	c := p.Commands()
	return strings.Join([]string{c.Test, c.Build, c.Lint}, " | ")
}

func TestDetect(t *testing.T) {
	t.Setenv("PKG", "core") // a run that cron starts does not have it, and must find the same checks
	const unit = "import unittest\n"
	pkg := func(scripts string) string { return `{"name":"x","scripts":{` + scripts + `}}` }
	for _, c := range []struct {
		name      string
		files     map[string]string
		languages string
		want      string
	}{
		{"empty folder", nil, "", " |  | "},
		{"only documents", map[string]string{"README.md": "", "LICENSE": ""}, "", " |  | "},

		{"go", map[string]string{"go.mod": "module x", "a/b/x.go": ""}, "Go", "go test ./... | go build -o /dev/null ./... | go vet ./..."},
		{"go without code would fail its own commands", map[string]string{"go.mod": "module x"}, "Go", " |  | "},
		{"go with golangci-lint", map[string]string{"go.mod": "", "x.go": "", ".golangci.yml": ""}, "Go", "go test ./... | go build -o /dev/null ./... | golangci-lint run"},
		{"go with make: make fills no gap", map[string]string{"go.mod": "", "x.go": "", "Makefile": "test:\n\ttrue\n"}, "Go, Make", "go test ./... | go build -o /dev/null ./... | go vet ./..."},
		{"code of others is not the project's", map[string]string{"go.mod": "", "vendor/x/x.go": "", "testdata/x.go": "", ".hidden/x.go": ""}, "Go", " |  | "},

		{"rust", map[string]string{"Cargo.toml": "[package]", "src/main.rs": ""}, "Rust", "cargo test | cargo build | "},
		{"rust workspace with clippy", map[string]string{"Cargo.toml": "[workspace]", "clippy.toml": ""}, "Rust", "cargo test --workspace | cargo build --workspace | cargo clippy --all-targets"},

		{"npm", map[string]string{"package.json": pkg(`"test":"jest","build":"tsc","lint":"eslint ."`)}, "Node.js", "npm test | npm run build | npm run lint"},
		{"npm without scripts", map[string]string{"package.json": `{}`}, "Node.js", " |  | "},
		{"npm with the stub of npm init", map[string]string{"package.json": pkg(`"test":"echo \"Error: no test specified\" && exit 1"`)}, "Node.js", " |  | "},
		{"npm with a watcher", map[string]string{"package.json": pkg(`"test":"vitest --watch"`)}, "Node.js", " |  | "},
		{"npm with create-react-app", map[string]string{"package.json": pkg(`"test":"react-scripts test"`)}, "Node.js", "CI=true npm test |  | "},
		{"npm with a broken manifest", map[string]string{"package.json": `{"scripts":`}, "Node.js", " |  | "},
		{"pnpm", map[string]string{"package.json": pkg(`"test":"vitest run","typecheck":"tsc"`), "pnpm-lock.yaml": ""}, "Node.js", "pnpm test | pnpm run typecheck | "},
		{"pnpm named by the manifest", map[string]string{"package.json": `{"packageManager":"pnpm@9.1.0","scripts":{"test":"x"}}`}, "Node.js", "pnpm test |  | "},
		{"yarn", map[string]string{"package.json": pkg(`"test":"jest"`), "yarn.lock": ""}, "Node.js", "yarn test |  | "},
		{"bun", map[string]string{"package.json": pkg(`"test":"bun test"`), "bun.lock": ""}, "Node.js", "bun run test |  | "},

		{"python with pytest", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]", "tests/test_x.py": ""}, "Python", "python3 -m pytest |  | "},
		{"python without tests", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]"}, "Python", " |  | "},
		{"python with unittest", map[string]string{"x.py": "", "test_x.py": unit}, "Python", "python3 -m unittest discover |  | "},
		{"python with unittest in a folder", map[string]string{"setup.py": "", "tests/test_x.py": unit}, "Python", "python3 -m unittest discover -s tests |  | "},
		{"python without a manifest", map[string]string{"src/x.py": "", "tests/test_x.py": ""}, "Python", "python3 -m pytest |  | "},
		{"python with uv and ruff", map[string]string{"pyproject.toml": "[dependency-groups]\ndev=['pytest','ruff']", "uv.lock": "", "tests/test_x.py": ""}, "Python", "uv run pytest |  | uv run ruff check ."},
		{"python with poetry", map[string]string{"pyproject.toml": "[tool.poetry]\npytest='*'", "tests/test_x.py": ""}, "Python", "poetry run pytest |  | "},
		{"python with pipenv", map[string]string{"Pipfile": "pytest='*'", "tests/test_x.py": unit}, "Python", "pipenv run pytest |  | "},
		{"python with its own interpreter", map[string]string{".venv/bin/python+": "", "requirements.txt": "pytest", "test_x.py": ""}, "Python", ".venv/bin/python -m pytest |  | "},
		{"django with assets", map[string]string{"manage.py": "", "shop/tests.py": "", "package.json": pkg(`"test":"jest","build":"vite build"`)}, "Python, Node.js", "python3 manage.py test | npm run build | "},

		{"gradle with wrapper", map[string]string{"build.gradle.kts": "", "gradlew+": ""}, "Java (Gradle)", "./gradlew test | ./gradlew assemble | "},
		{"maven", map[string]string{"pom.xml": ""}, "Java (Maven)", "mvn -q test | mvn -q test-compile | "},
		{"ruby", map[string]string{"Gemfile": "", "spec/x_spec.rb": "", ".rubocop.yml": ""}, "Ruby", "bundle exec rspec |  | bundle exec rubocop"},
		{"php", map[string]string{"composer.json": `{"scripts":{"test":["phpunit"]}}`}, "PHP", "composer test |  | "},
		{"php before composer install", map[string]string{"composer.json": `{}`, "phpunit.xml": ""}, "PHP", " |  | "},

		{"make only", map[string]string{"Makefile": "CC := gcc\nall: x\nlint check: x\n\techo test: no\n", "x.c": ""}, "Make", "make check | make | make lint"},
		{"make without such targets", map[string]string{"Makefile": "test := 1\ntest = 2\nclean:\n\trm x\n"}, "Make", " |  | "},
		{"make that wants a package", map[string]string{"Makefile": "test:\n\tgo test ./$(PKG)/...\ncheck:\nifndef NAME\n\t$(error NAME is required)\nendif\n\t./check $(NAME)\nlint: ## all\n\teslint $(ARGS)\n", "x.c": ""}, "Make", " |  | make lint"},
		{"make that wants a goal", map[string]string{"Makefile": "test:\n\t./run $(filter-out $@,$(MAKECMDGOALS))\n%:\n\t@:\n", "x.c": ""}, "Make", " |  | "},
		{"make that tests the shell's variable", map[string]string{"Makefile": "test:\n\t@[ -n \"$${TARGET_NAME}\" ] || { echo usage; exit 1; }\n\tx\ncheck:\n\t@: $${THIS_ONE:?is needed}\n", "x.c": ""}, "Make", " |  | "},
		{"make that has all it needs", map[string]string{"Makefile": "GO ?= go\nexport PKGS := ./...\ntest: KIND = unit\ntest: build\n\t$(GO) test $(PKGS) $(KIND) $(TESTFLAGS) $(LDLIBS) $(Q) $$HOME $(HOME) $(PATH) $@\n\nbuild:\n\t$(MAKE) -C $(CURDIR) x\n", "x.c": ""}, "Make", "make test | make build | "},
		{"make for a node project without scripts", map[string]string{"package.json": `{}`, "Makefile": "test:\n"}, "Node.js, Make", "make test |  | "},
		{"shell", map[string]string{"x.sh": "", "tests/x.bats": "", ".shellcheckrc": ""}, "Shell", "bats tests |  | shellcheck *.sh"},
		{"shell with a script that cannot be run", map[string]string{"test.sh": ""}, "Shell", " |  | "},

		{"monorepo", map[string]string{"api/go.mod": "", "api/x.go": "", "web/package.json": pkg(`"test":"jest"`)}, "Go, Node.js", " |  | "},
		{"monorepo with a root", map[string]string{"package.json": pkg(`"test":"turbo test"`), "apps/web/package.json": `{}`, "tools/Cargo.toml": ""}, "Node.js, Rust", "npm test |  | "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Detect(repo(t, c.files), everything)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.Languages(), ", "); got != c.languages {
				t.Errorf("languages %q, want %q", got, c.languages)
			}
			if got := show(p); got != c.want {
				t.Errorf("test | build | lint\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDetect_programIsNotInstalled_commandIsNotTaken(t *testing.T) {
	dir := repo(t, map[string]string{"go.mod": "", "x.go": "", ".golangci.yml": ""})
	p, err := Detect(dir, func(program string) bool { return program == "go" })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(p), "go test ./... | go build -o /dev/null ./... | go vet ./..."; got != want {
		t.Errorf("without golangci-lint: %s, want %s", got, want)
	}
	if p, err = Detect(dir, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if got, want := show(p), " |  | "; got != want {
		t.Errorf("without any program: %s, want %s", got, want)
	}
}

func TestDetect_monorepo_namesSubprojectsAndTheirCommands(t *testing.T) {
	p, err := Detect(repo(t, map[string]string{
		"api/go.mod": "", "api/x.go": "", "apps/web/package.json": `{"scripts":{"test":"x"}}`, "apps/web/yarn.lock": "",
		"node_modules/x/package.json": "{}", "examples/e/go.mod": "",
	}), everything)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Subprojects {
		got = append(got, s.Dir+": "+s.Language+": "+s.Test)
	}
	if want := []string{"api: Go: go test ./...", "apps/web: Node.js: yarn test"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A package that is not seen would not be checked.
func TestDetect_manySubprojects_areAllFound(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("packages/p%02d/package.json", i)] = "{}"
	}
	p, err := Detect(repo(t, files), everything)
	if err != nil || len(p.Subprojects) != 40 {
		t.Errorf("%d subprojects, %v", len(p.Subprojects), err)
	}
}

func TestDetect_folderIsMissing_fails(t *testing.T) {
	if _, err := Detect(filepath.Join(t.TempDir(), "no"), everything); err == nil {
		t.Error("no error")
	}
}

// answersFor agrees to what was found.
func answersFor(p Project) Answers {
	c := p.Commands()
	return Answers{Name: p.Name, Build: c.Build, Test: c.Test, Lint: c.Lint,
		Settings: []Setting{{Key: "AGENT", Help: "Which.", Value: "claude", Active: true}}}
}

func textOf(t *testing.T, files []File, path string) string {
	t.Helper()
	i := slices.IndexFunc(files, func(f File) bool { return f.Path == path })
	if i < 0 {
		t.Fatalf("no %s", path)
	}
	return files[i].Text
}

func TestFiles_plan_hasTheIntendedTasks(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		open  int
		first string
	}{
		{"nothing to work on is not a task", nil, 0, ""},
		{"a manifest alone is nothing to work on", map[string]string{"go.mod": "", "README.md": "", "LICENSE": ""}, 0, ""},
		{"tests are known", map[string]string{"go.mod": "", "x.go": ""}, 2, "Run `go test ./...` and make it succeed"},
		{"tests are not known", map[string]string{"x.c": ""}, 2, "Find out how to test this project, and write the command to `.ralph/AGENT.md`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repo(t, c.files)
			p, err := Detect(dir, everything)
			if err != nil {
				t.Fatal(err)
			}
			files, err := Files(dir, p, answersFor(p))
			if err != nil {
				t.Fatal(err)
			}
			if err := Write(dir, files); err != nil {
				t.Fatal(err)
			}
			list, err := store.Load(store.File{Path: filepath.Join(dir, ".ralph/fix_plan.md"), OptionalSections: []string{"Optional"}})
			if err != nil {
				t.Fatal(err)
			}
			open := 0
			for _, task := range list.Tasks {
				if !task.Done() {
					open++
					if task.Optional || len(task.Criteria) == 0 {
						t.Errorf("%q: optional %v, criteria %q", task.Title, task.Optional, task.Criteria)
					}
				}
			}
			if open != c.open || len(list.Tasks) != c.open {
				t.Errorf("%d open of %d, want %d open", open, len(list.Tasks), c.open)
			}
			if next, _ := list.Next(); next.Title != c.first {
				t.Errorf("first %q, want %q", next.Title, c.first)
			}
		})
	}
}

func TestFiles_textsNameTheCommandsAndThePlan(t *testing.T) {
	dir := repo(t, map[string]string{
		"go.mod": "", "x.go": "", "AGENTS.md": "", "prd.json": "{}", "web/package.json": `{"scripts":{"test":"x"}}`,
	})
	p, err := Detect(dir, everything)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(dir, p, answersFor(p))
	if err != nil {
		t.Fatal(err)
	}
	for path, words := range map[string][]string{
		".ralph/PROMPT.md": {"# shop\n", "`prd.json`: the plan", "`AGENTS.md`: read it too", "`go build -o /dev/null ./...`, `go test ./...`, `go vet ./...`"},
		".ralph/AGENT.md":  {"## Go\n", "- test: `go test ./...`\n", "### `web` (Node.js)\n", "- test: `npm test`\n", "- `go vet ./...`\n"},
		".ralphrc":         {"# Which.\nAGENT=claude\n"},
	} {
		text := textOf(t, files, path)
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %q:\n%s", path, w, text)
			}
		}
	}
	for _, f := range files {
		if strings.Contains(f.Text, "\n\n\n") || strings.Contains(f.Text, "<no value>") || strings.HasSuffix(f.Text, "\n\n") || !strings.HasSuffix(f.Text, "\n") {
			t.Errorf("%s is untidy:\n%s", f.Path, f.Text)
		}
	}
}

func TestFiles_kept_namesWhatIsThere(t *testing.T) {
	dir := repo(t, map[string]string{"PROMPT.md": "", ".ralph/AGENT.md": "", ".ralph/prd.json": "{}", ".ralph/config.yaml": ""})
	if err := os.Symlink("nowhere", filepath.Join(dir, ".ralph/.gitignore")); err != nil {
		t.Fatal(err)
	}
	files, err := Files(dir, Project{}, Answers{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Path+" <- "+f.Kept)
	}
	if diff := cmp.Diff([]string{
		".ralph/PROMPT.md <- PROMPT.md", ".ralph/fix_plan.md <- .ralph/prd.json", ".ralph/AGENT.md <- .ralph/AGENT.md",
		".ralph/.gitignore <- .ralph/.gitignore", ".ralphrc <- .ralph/config.yaml",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// tree returns every file below dir with its text.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWrite_newAndOldFiles_haveTextAndMode(t *testing.T) {
	dir := repo(t, map[string]string{".ralph/a": "old"})
	if err := os.Chmod(filepath.Join(dir, ".ralph/a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, []File{{Path: ".ralph/a", Text: "new"}, {Path: "b", Text: "b"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{".ralph/": "", ".ralph/a": "new", "b": "b"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{".ralph/a", "b"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o644 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestWrite_oneFileIsImpossible_leavesEverythingAsItWas(t *testing.T) {
	for _, c := range []struct {
		name  string
		there map[string]string
		files []File
	}{
		{"the last is a folder", map[string]string{"a": "old", "z/x": ""}, []File{{Path: ".ralph/n"}, {Path: "a", Text: "new"}, {Path: "b"}, {Path: "z"}}},
		{"a folder is a file", map[string]string{"a": "old", ".ralph": "file"}, []File{{Path: "a", Text: "new"}, {Path: ".ralph/n"}}},
		{"a folder cannot be made", map[string]string{"a": "old"}, []File{{Path: "a", Text: "new"}, {Path: "no/no/n"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repo(t, c.there)
			before := tree(t, dir)
			if err := Write(dir, c.files); err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A second plan would come before the one that is there.
func TestFiles_planOfAnyFormat_isKept(t *testing.T) {
	for _, name := range []string{".kiro/specs/a/tasks.md", "openspec/changes/a/tasks.md", ".taskmaster/tasks/tasks.json", "prd.json"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		files, err := Files(dir, Project{Name: "p"}, Answers{Name: "p"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Path == planFile && f.Kept != name {
				t.Errorf("%s: kept %q", name, f.Kept)
			}
			if f.Path == ".ralph/PROMPT.md" && !strings.Contains(f.Text, name) {
				t.Errorf("the prompt does not name %s", name)
			}
		}
	}
}

// The user sets TEST_COMMAND later, and this file stays.
func TestFiles_noTestCommand_promptStaysTrueWithOne(t *testing.T) {
	prompt := content{}.prompt()
	if want := "If no check is listed below, ralph knows no test command:"; !strings.Contains(prompt, want) {
		t.Errorf("%q lacks %q", prompt, want)
	}
}
