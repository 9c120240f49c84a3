package scaffold

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// row is one kind of project.
type row struct {
	Language string
	When     evidence
	// Manifests are file names that make a folder below the root a project of its own.
	Manifests []string
	// Apart reports for the root and a folder of the same language below it whether the root's commands leave the folder
	// out: it is a package of a workspace. nil: they never do.
	Apart                    func(root *folder, dir string) bool
	Setup, Build, Test, Lint []candidate
	Types, Fast              []candidate
	Allow                    []string // see Part
}

// candidate is a command and its condition.
type candidate struct {
	Line string
	When evidence
}

// table lists the kinds of projects that Detect knows. The first row that has a command
// provides it for the whole project; Make only fills gaps. It is made once, because each file of a project is looked up in it.
var table = sync.OnceValue(func() []row {
	return slices.Concat([]row{goRow(), rustRow()}, javaRows(), pythonRows(),
		[]row{rubyRow(), phpRow()}, nodeRows(), []row{makeRow(), shellRow()})
})

func goRow() row {
	golangci := []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"}
	// Without -o, the program of a single main package would land in the project.
	const build = "go build -o /dev/null ./..."
	return row{
		Language: "Go", When: file("go.mod"), Manifests: []string{"go.mod"},
		Apart: goApart,
		Setup: []candidate{{"go mod download", file("go.mod")}},
		Build: []candidate{{build, anywhere("*.go")}},
		Test:  []candidate{{"go test ./...", anywhere("*.go")}},
		Lint: []candidate{
			{"golangci-lint run", file(golangci...)},
			{"go vet ./...", anywhere("*.go")},
		},
		Fast:  []candidate{{"golangci-lint run", file(golangci...)}},
		Allow: []string{"go", "gofmt"},
	}
}

// goApart reports whether a module in a folder can be tested: go test ./... in the root leaves it out.
func goApart(root *folder, dir string) bool {
	work := string(root.read("go.work"))
	if work == "" {
		return slices.ContainsFunc(root.files, func(name string) bool {
			return strings.HasPrefix(name, dir+"/") && strings.HasSuffix(name, "_test.go")
		})
	}
	for line := range strings.Lines(work) {
		line, _, _ = strings.Cut(line, "//")
		for word := range strings.FieldsSeq(line) {
			if path.Clean(strings.Trim(word, `"`+"`")) == dir {
				return true
			}
		}
	}
	return false
}

func rustRow() row {
	workspace := text("Cargo.toml", "[workspace]")
	return row{
		Language: "Rust", When: file("Cargo.toml"), Manifests: []string{"Cargo.toml"},
		Build: []candidate{{"cargo build --workspace", workspace}, {"cargo build", file("Cargo.toml")}},
		Test:  []candidate{{"cargo test --workspace", workspace}, {"cargo test", file("Cargo.toml")}},
		Lint: []candidate{
			{"cargo clippy --all-targets",
				either(file("clippy.toml", ".clippy.toml"), text(".github/workflows/*", "cargo clippy"))},
		},
		Allow: []string{"cargo build", "cargo test", "cargo check", "cargo clippy", "cargo fmt", "cargo run",
			"cargo add"},
	}
}

func javaRows() []row {
	gradle := []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}
	return []row{{
		Language: "Java (Gradle)", When: file(gradle...), Manifests: gradle[:2],
		Build: []candidate{{"./gradlew assemble", file("gradlew")}, {"gradle assemble", file(gradle...)}},
		Test:  []candidate{{"./gradlew test", file("gradlew")}, {"gradle test", file(gradle...)}},
		Allow: []string{"./gradlew", "gradle"},
	}, {
		Language: "Java (Maven)", When: file("pom.xml"), Manifests: []string{"pom.xml"},
		Build: []candidate{{"./mvnw -q test-compile", file("mvnw")}, {"mvn -q test-compile", file("pom.xml")}},
		Test:  []candidate{{"./mvnw -q test", file("mvnw")}, {"mvn -q test", file("pom.xml")}},
		Allow: []string{"./mvnw", "mvn"},
	}}
}

// pythonRows has one row for each way to run the project's interpreter.
func pythonRows() []row {
	pip := func(python string) []candidate {
		return []candidate{
			{python + " -m pip install -r requirements.txt", file("requirements.txt")},
			{python + " -m pip install -e .", file("pyproject.toml", "setup.py")},
		}
	}
	plain := file("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pytest.ini", "tox.ini",
		"manage.py", "*.py", "tests/test_*.py", "tests/*_test.py", "test/test_*.py", "test/*_test.py")
	const venv = ".venv/bin/python"
	return []row{
		pythonRow("uv run ", "uv run python", []candidate{{"uv sync", file("pyproject.toml")}},
			either(file("uv.lock"), text("pyproject.toml", "[tool.uv"))),
		pythonRow("poetry run ", "poetry run python", []candidate{{"poetry install", file("pyproject.toml")}},
			either(file("poetry.lock"), text("pyproject.toml", "[tool.poetry"))),
		pythonRow("pipenv run ", "pipenv run python",
			[]candidate{{"pipenv install --dev", file("Pipfile")}}, file("Pipfile")),
		pythonRow(venv+" -m ", venv, pip(venv), both(file(venv), plain)),
		pythonRow("python3 -m ", "python3", pip("python3"), plain),
	}
}

// pythonRow is for a project whose tools are run as prefix + "pytest".
func pythonRow(prefix, python string, setup []candidate, when evidence) row {
	tests := anywhere("test_*.py", "*_test.py", "tests.py")
	unit := textAnywhere("unittest", "test_*.py", "*_test.py", "tests.py")
	named := either(file("pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"),
		text("pyproject.toml", "pytest"), text("setup.cfg", "pytest"), text("tox.ini", "pytest"),
		text("requirements*.txt", "pytest"), text("Pipfile", "pytest"))
	mypy := either(file("mypy.ini", ".mypy.ini"), text("pyproject.toml", "[tool.mypy"), text("setup.cfg", "[mypy"))
	ruff := either(file("ruff.toml", ".ruff.toml"), text("pyproject.toml", "ruff"), text("requirements*.txt", "ruff"))
	return row{
		Language: "Python", When: when, Manifests: []string{"pyproject.toml", "setup.py"},
		Setup: setup,
		// pytest and unittest fail if they find no test.
		Test: []candidate{
			{prefix + "pytest", both(tests, named)},
			{python + " manage.py test", both(tests, file("manage.py"))},
			{python + " -m unittest discover", both(unit, file("test*.py", "tests/__init__.py", "test/__init__.py"))},
			{python + " -m unittest discover -s tests", both(unit, file("tests/test*.py"))},
			{prefix + "pytest", tests},
		},
		Types: []candidate{
			{prefix + "mypy .", mypy},
			{prefix + "pyright", either(file("pyrightconfig.json"), text("pyproject.toml", "[tool.pyright"))},
		},
		Fast: []candidate{{prefix + "ruff check .", ruff}},
		Lint: []candidate{
			{prefix + "ruff check .", ruff},
			{prefix + "flake8", either(file(".flake8"), text("setup.cfg", "[flake8]"), text("tox.ini", "[flake8]"))},
		},
		Allow: []string{python, "python3", "pytest"},
	}
}

func rubyRow() row {
	return row{
		Language: "Ruby", When: file("Gemfile", "*.gemspec"), Manifests: []string{"Gemfile"},
		Setup: []candidate{{"bundle install", file("Gemfile")}},
		Test: []candidate{
			{"bundle exec rspec", anywhere("*_spec.rb")},
			{"bin/rails test", both(file("bin/rails"), anywhere("*_test.rb"))},
			{"bundle exec rake test", both(text("Rakefile", "test"), anywhere("*_test.rb", "test_*.rb"))},
		},
		Lint:  []candidate{{"bundle exec rubocop", file(".rubocop.yml")}},
		Allow: []string{"bundle exec", "bundle install", "ruby"},
	}
}

func phpRow() row {
	return row{
		Language: "PHP", When: file("composer.json"), Manifests: []string{"composer.json"},
		Setup: []candidate{{"composer install", file("composer.json")}},
		Test: []candidate{
			{"composer test", script("composer.json", "test")},
			{"vendor/bin/phpunit", file("phpunit.xml", "phpunit.xml.dist")},
		},
		Lint: []candidate{
			{"composer lint", script("composer.json", "lint")},
			{"vendor/bin/phpstan analyse", file("phpstan.neon", "phpstan.neon.dist")},
		},
		Allow: []string{"composer install", "php", "vendor/bin/phpunit"},
	}
}

// nodeRows has one row for each package manager. npm is last because package.json alone
// means npm.
func nodeRows() []row {
	own := file("package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb")
	by := func(e evidence) evidence { // a package without a lock file uses what the root does
		return func(f *folder) bool { return e(f) || f.root != nil && !own(f) && e(f.root) }
	}
	return []row{
		nodeRow("pnpm", "pnpm test", "pnpm exec ",
			by(either(file("pnpm-lock.yaml", "pnpm-workspace.yaml"), packageManager("pnpm")))),
		nodeRow("yarn", "yarn test", "yarn run ", by(either(file("yarn.lock"), packageManager("yarn")))),
		nodeRow("bun", "bun run test", "bunx --no-install ",
			by(either(file("bun.lock", "bun.lockb"), packageManager("bun")))),
		nodeRow("npm", "npm test", "npx --no-install ", file("package.json")),
	}
}

// nodeRow is for a package manager that runs installed programs as exec + "biome".
func nodeRow(manager, test, exec string, when evidence) row {
	const manifest = "package.json"
	install := manager + " install"
	return row{
		Language: "Node.js", When: both(file(manifest), when), Manifests: []string{manifest},
		Apart: func(root *folder, _ string) bool {
			return either(file("pnpm-workspace.yaml", "lerna.json"), text(manifest, `"workspaces"`))(root)
		},
		Setup: []candidate{{install, file(manifest)}},
		Build: []candidate{
			{manager + " run build", script(manifest, "build")},
			{manager + " run typecheck", script(manifest, "typecheck")},
		},
		Types: []candidate{
			{manager + " run typecheck", script(manifest, "typecheck")},
			{manager + " run type-check", script(manifest, "type-check")},
			// A script that runs tsc checks the types in its own way.
			{exec + "tsc --noEmit", both(both(file("tsconfig.json"), text(manifest, `"typescript"`)),
				no(text(manifest, "tsc")))},
		},
		Fast: []candidate{
			{exec + "oxlint", either(file(".oxlintrc.json"), text(manifest, `"oxlint"`))},
			{exec + "biome lint", file("biome.json", "biome.jsonc")},
		},
		Test: []candidate{
			// Outside CI it watches forever.
			{"CI=true " + test, both(script(manifest, "test"), text(manifest, "react-scripts test"))},
			{test, script(manifest, "test")},
		},
		Lint:  []candidate{{manager + " run lint", script(manifest, "lint")}},
		Allow: []string{test, manager + " run", install, "npx", "node"},
	}
}

func makeRow() row {
	return row{
		Language: "Make", When: file("Makefile", "makefile", "GNUmakefile"),
		Build: []candidate{{"make build", target("build")}, {"make", target("all")}},
		Test:  []candidate{{"make test", target("test")}, {"make check", target("check")}},
		Lint:  []candidate{{"make lint", target("lint")}},
		Allow: []string{"make"},
	}
}

func shellRow() row {
	return row{
		Language: "Shell", When: file("*.sh", "*.bats", "bin/*.sh", "test/*.bats", "tests/*.bats"),
		Test: []candidate{
			{"bats test", file("test/*.bats")},
			{"bats tests", file("tests/*.bats")},
			{"bats .", file("*.bats")},
			{"./test.sh", file("test.sh")},
			{"./tests/run.sh", file("tests/run.sh")},
		},
		Lint:  []candidate{{"shellcheck *.sh", both(file(".shellcheckrc"), file("*.sh"))}},
		Allow: []string{"sh", "bash"},
	}
}

// evidence is a condition on a folder's files.
type evidence func(*folder) bool

// folder is a folder of the project with its list of files.
type folder struct {
	fsys  fs.FS
	files []string // slash paths, at most maxDepth levels down, sorted
	has   func(program string) bool
	root  *folder // of the project; nil: this is it
}

const (
	maxDepth = 4
	maxFiles = 20000
	maxText  = 1 << 20 // of a file that is searched for a word
)

// foreign lists folders whose files are not the project's own.
var foreign = []string{
	"node_modules", "vendor", "third_party", "testdata", "fixtures", "examples", "example",
	"dist", "build", "target", "venv", "__pycache__",
}

// open lists the files of dir. It skips unreadable and deep folders; only dir itself must
// be readable.
func open(dir string, has func(string) bool) (*folder, error) {
	f := &folder{fsys: os.DirFS(dir), has: has}
	err := fs.WalkDir(f.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil
		case !d.IsDir():
			if len(f.files) < maxFiles || isManifest(name) { // a project that is not seen is not checked
				f.files = append(f.files, name)
			}
		case name == ".":
		case strings.HasPrefix(d.Name(), "."), slices.Contains(foreign, d.Name()),
			strings.Count(name, "/") >= maxDepth-1:
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read project: %w", err)
	}
	return f, nil
}

// subfolders returns the folders with a manifest of the table.
func (f *folder) subfolders() []string {
	var dirs []string
	for _, name := range f.files {
		if dir := path.Dir(name); dir != "." && isManifest(name) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// canRun reports whether the program of a command line exists, on PATH or, with a slash,
// in the folder.
func (f *folder) canRun(line string) bool {
	for word := range strings.FieldsSeq(line) {
		switch {
		case strings.Contains(word, "="): // an assignment before the program
			continue
		case strings.Contains(word, "/"):
			info, err := fs.Stat(f.fsys, path.Clean(word))
			return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
		}
		return f.has(word)
	}
	return false
}

// file: one of the globs, relative to the folder, matches.
func file(globs ...string) evidence {
	return func(f *folder) bool {
		return slices.ContainsFunc(globs, func(glob string) bool { return len(f.glob(glob)) > 0 })
	}
}

// anywhere: the name of a file, at any depth, matches one of the globs.
func anywhere(globs ...string) evidence {
	return func(f *folder) bool { return len(f.named(globs)) > 0 }
}

// text: a file that matches the glob contains the words.
func text(glob, words string) evidence {
	return func(f *folder) bool { return f.contain(f.glob(glob), words) }
}

// textAnywhere: one of the first 20 files with a matching name contains the words.
func textAnywhere(words string, globs ...string) evidence {
	return func(f *folder) bool {
		names := f.named(globs)
		return f.contain(names[:min(len(names), 20)], words)
	}
}

// script: the manifest defines the script, and it is not npm's stub or a watcher that
// never ends.
func script(manifest, name string) evidence {
	return func(f *folder) bool {
		var m struct {
			Scripts map[string]any `json:"scripts"`
		}
		if json.Unmarshal(f.read(manifest), &m) != nil {
			return false
		}
		if list, ok := m.Scripts[name].([]any); ok { // composer runs them in order
			return len(list) > 0
		}
		line, _ := m.Scripts[name].(string)
		watches := strings.HasSuffix(line, "--watch") || strings.Contains(line, "--watch ") ||
			strings.Contains(line, "--watchAll ")
		return line != "" && !watches && !strings.Contains(line, "no test specified")
	}
}

// packageManager: package.json names it.
func packageManager(name string) evidence {
	return func(f *folder) bool {
		var m struct {
			PackageManager string `json:"packageManager"`
		}
		return json.Unmarshal(f.read("package.json"), &m) == nil && strings.HasPrefix(m.PackageManager, name+"@")
	}
}

// target: the Makefile has a rule for this target, and make needs no more than its name to run it.
func target(name string) evidence {
	return func(f *folder) bool {
		found, wants := f.target(name)
		return found && wants == ""
	}
}

// target reports whether the Makefile has a rule for this target, and the variable that it wants.
func (f *folder) target(name string) (found bool, wants string) {
	for _, makefile := range []string{"GNUmakefile", "makefile", "Makefile"} {
		text := string(f.read(makefile))
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			names, rest, isRule := strings.Cut(line, ":")
			isRule = isRule && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(rest, "=") &&
				!strings.HasPrefix(rest, ":=")
			if isRule && slices.Contains(strings.Fields(names), name) {
				_, here, _ := strings.Cut(rest, ";")
				return true, wanted(text, here+"\n"+recipe(lines[i+1:]))
			}
		}
	}
	return false, ""
}

// recipe is what follows the first line of a rule and belongs to it, conditional directives included.
func recipe(lines []string) string {
	directive := regexp.MustCompile(`^\s*(?:ifn?def|ifn?eq|else|endif)\b|^\t|^\s*#|^\s*$`)
	end := slices.IndexFunc(lines, func(line string) bool { return !directive.MatchString(line) })
	if end < 0 {
		end = len(lines)
	}
	return strings.Join(lines[:end], "\n")
}

// wanted returns a variable that somebody has to give, for a recipe uses it: neither the makefile nor make sets it, and not
// every environment has it; empty: none. It does not look at the environment: a run that cron starts must find the same checks.
// Variables with a name such as ARGS may be empty, unless the recipe tests for that.
func wanted(makefile, recipe string) string {
	const name = `[A-Za-z_]\w*`
	mayBeEmpty := regexp.MustCompile(`(?i:arg|flag|opt|extra|verbose|quiet|debug|colou?r|lib|dir|prefix)|^[A-Z]{1,2}$`)
	missing := func(variable string) bool {
		builtIn := slices.Contains([]string{"MAKE", "MAKEFLAGS", "MAKEFILE_LIST", "CURDIR", "SHELL", "PWD", "HOME", "USER", "LOGNAME", "PATH", "OS", "CC", "CXX", "CPP", "AR", "AS", "LD", "RM"}, variable)
		assigned := regexp.MustCompile(`(?m)(?:^|\s)` + variable + `\s*[:?+!]*=|^define ` + variable + `\b`)
		return !builtIn && !assigned.MatchString(makefile)
	}
	find := func(text, pattern string, is func(variable string) bool) string {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			if is(m[1]) {
				return m[1]
			}
		}
		return ""
	}
	all := find(makefile, `(?m)^ifndef\s+(`+name+`) *\n *\$\(error\b`, missing)
	tested := find(recipe, `(?:ifndef\s+|ifeq\s*\(\s*\$[({]|-[zn]\s+"?\$+[({]?|\$\(if\s+\$[({])(`+name+`)`, missing)
	if !strings.Contains(recipe, "exit") && !strings.Contains(recipe, "error") { // it does not fail
		tested = ""
	}
	used := find(recipe, `(?:^|[^$])\$[({](`+name+`)[)}]`, func(v string) bool { return missing(v) && !mayBeEmpty.MatchString(v) })
	if regexp.MustCompile(`(?m)^-?s?include\s`).MatchString(makefile) {
		used = ""
	}
	return cmp.Or(all, tested, find(recipe, `(`+name+`):\?`, missing), used, find(recipe, `\$\((MAKECMDGOALS)\)`, func(string) bool { return true }))
}

func both(a, b evidence) evidence { return func(f *folder) bool { return a(f) && b(f) } }

func no(e evidence) evidence { return func(f *folder) bool { return !e(f) } }

func either(all ...evidence) evidence {
	return func(f *folder) bool {
		return slices.ContainsFunc(all, func(e evidence) bool { return e(f) })
	}
}

func (f *folder) glob(glob string) []string {
	names, _ := fs.Glob(f.fsys, glob) // the globs are constants
	return names
}

func (f *folder) named(globs []string) []string {
	var names []string
	for _, name := range f.files {
		matches := func(glob string) bool {
			ok, _ := path.Match(glob, path.Base(name))
			return ok
		}
		if slices.ContainsFunc(globs, matches) {
			names = append(names, name)
		}
	}
	return names
}

func (f *folder) contain(names []string, words string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(string(f.read(name)), words) })
}

// read returns the start of a file, or nothing on an error.
func (f *folder) read(name string) []byte {
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(file, maxText))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return data
}

// exists is also true for a broken link.
func exists(name string) bool {
	_, err := os.Lstat(filepath.FromSlash(name))
	return !errors.Is(err, fs.ErrNotExist)
}
