package scaffold

import (
	"path"
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
