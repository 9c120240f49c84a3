package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/state/option"
)

func TestChecks_everyKey_reachesTheRow(t *testing.T) {
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, yamlName, `
checks:
  - name: unit tests
    command: "go test ./... | tee out"
    kind: test
    dir: ./api
    when: ["api/**", go.mod]
    required: no
    on_failure: block_task
    timeout: 90s
    format: go
    junit: out/*.xml
  - name: style
    # only what is staged
    command: |
      make style
    kind: lint-fast
    when: "*.go, *.md"
  - {name: 3, command: "true", dir: , required: yes}
`)
	c, warnings, err := l.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	want := []gate.Check{
		{Name: "unit tests", Command: "go test ./... | tee out", Kind: gate.KindTest, Dir: "./api", When: []string{"api/**", "go.mod"}, Optional: true,
			OnFailure: gate.BlockTask, Timeout: 90 * time.Second, Format: report.Go, JUnit: "out/*.xml"},
		{Name: "style", Command: "make style", Kind: gate.KindLintFast, When: []string{"*.go", "*.md"}},
		{Name: "3", Command: "true"},
	}
	if diff := cmp.Diff(want, c.Checks()); diff != "" {
		t.Error(diff)
	}
	for _, row := range c.Checks() {
		if err := row.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestChecks_noneListed_isNil(t *testing.T) {
	for _, text := range []string{"", "checks:", "checks: []", "commands: {test: make}"} {
		l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
		write(t, l.Home, ".config/ralph/config.yaml", text)
		c, warnings, err := l.Load()
		if err != nil || len(warnings) > 0 || c.Checks() != nil {
			t.Errorf("%q: %v, %q, %v", text, c.Checks(), warnings, err)
		}
	}
}

func TestChecks_badRow_isRefusedInOneLineWithItsPlaceAndWhatIsAllowed(t *testing.T) {
	const keys = "name, command, kind, dir, when, required, on_failure, timeout, format, junit"
	row := func(line string) string { return "checks:\n  - name: a\n    command: b\n    " + line }
	for _, test := range []struct{ name, text, want string }{
		{"text", "checks: make test", `:1: checks must be a list, not "make test"`},
		{"mapping", "checks:\n  test: {command: a}", ":2: checks must be a list, not a mapping"},
		{"text for a row", "checks:\n  - make test", ":2: checks must hold for each check the keys " + keys + `, not "make test"`},
		{"empty row", "checks:\n  - name: a\n    command: b\n  - {}", ":4: checks must hold for each check the keys " + keys + ", not a mapping"},
		{"nothing for a row", "checks:\n  -\n  - name: a", ":2: checks must hold for each check the keys " + keys + ", not nothing"},
		{"no name", "checks:\n  - command: make", `:2: checks: check with command "make": it needs a name`},
		{"no command", "checks:\n  - kind: test\n    name: a", `:2: checks: check "a": it needs a command`},
		{"merge key", row("<<: {kind: test}"), ":4: merge keys are not allowed"},
		{"long name", "checks: [{name: " + strings.Repeat("x", 81) + ", command: a}]", `:1: checks: check "` + strings.Repeat("x", 81) + `": the name must be one line of at most 80 bytes`},
		{"list for a command", "checks:\n  - name: a\n    command: [make, test]", ":3: checks.command must be text on one line that does not start with -, not a list"},
		{"two lines", "checks:\n  - name: a\n    command: |\n      make\n      make test", `:3: checks.command: "make\nmake test" is not text on one line that does not start with -`},
		{"option for a command", "checks:\n  - name: a\n    command: -x", `:3: checks.command: "-x" is not text on one line that does not start with -`},
		{"kind", row("kind: tests"), `:4: checks.kind: "tests" is not one of lint-fast, build, test, lint`},
		{"on_failure", row("on_failure: halt"), `:4: checks.on_failure: "halt" is not one of retry, warn, block_task, stop`},
		{"format", row("format: junit"), `:4: checks.format: "junit" is not one of go, pytest, unittest, jest, node, cargo, tap, script, exit-code`},
		{"required", row("required: maybe"), `:4: checks.required: "maybe" is not true or false`},
		{"timeout without a unit", row("timeout: 5"), `:4: checks.timeout: "5" is not a duration such as 30s, 5m or 2h, from 1s to 24h`},
		{"no timeout", row("timeout: 0s"), `:4: checks.timeout: "0s" is not a duration such as 30s, 5m or 2h, from 1s to 24h`},
		{"long timeout", row("timeout: 25h"), `:4: checks.timeout: "25h" is not a duration such as 30s, 5m or 2h, from 1s to 24h`},
		{"mapping for globs", row("when: {a: b}"), ":4: checks.when must be a comma list with balanced parentheses and no entry that starts with -, not a mapping"},
		{"mapping among globs", row("when:\n      - {a: b}"), ":5: checks.when must be a list of plain values, not of a mapping"},
		{"broken glob", row(`when: "a["`), `:2: checks: check "a": when "a[" is not a path glob`},
		{"braces", row(`when: ["*.go", "src/*.{ts,tsx}"]`), `:4: checks.when: "src/*.{ts" can match nothing: a glob is relative to the project, and only *, ?, [...] and ** stand for something`},
		{"absolute glob", row("when: /src/**"), `:4: checks.when: "/src/**" can match nothing: a glob is relative to the project, and only *, ?, [...] and ** stand for something`},
		{"folder outside", row("dir: ../other"), `:2: checks: check "a": folder "../other" is not inside the project`},
		{"absolute folder", row("dir: /tmp"), `:2: checks: check "a": folder "/tmp" is not inside the project`},
		{"report outside", row("junit: ../*.xml"), `:2: checks: check "a": junit "../*.xml" is not a path glob inside its folder`},
		{"alias", row("kind: *k"), ":4: checks.kind must be one of lint-fast, build, test, lint, not an anchor, alias or tag"},
		{"the same name twice", "checks:\n  - {name: a, command: b}\n\n  - {name: a, command: c}", `:4: the check "a" is also in .ralph/config.yaml:2`},
		{"the same key twice", row("name: b"), `:4: is not valid YAML: mapping key "name" already defined at [2:5]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Loader{Dir: t.TempDir()}
			write(t, l.Dir, yamlName, test.text)
			c, _, err := l.Load()
			if c != nil || err == nil || err.Error() != oneLine(yamlName+test.want) {
				t.Errorf("error\n%v, want\n%s", err, yamlName+test.want)
			}
		})
	}
}

func TestChecks_unknownKey_isRefusedWithASuggestion(t *testing.T) {
	for text, want := range map[string]string{
		"check: [{name: a, command: b}]":                             `:1: unknown key "check"` + "; did you mean checks?; correct or remove it to start",
		"checks:\n  - name: a\n    comand: x\n    command: make\n":   `:3: unknown key "checks.comand"` + "; did you mean checks.command?; correct or remove it to start",
		"checks:\n  - name: a\n    command: x\n    colour: {red: 1}": `:4: unknown key "checks.colour"` + "; correct or remove it to start",
	} {
		l := Loader{Dir: t.TempDir()}
		write(t, l.Dir, yamlName, text)
		if _, _, err := l.Load(); err == nil || err.Error() != yamlName+want {
			t.Errorf("%v, want\n%s", err, yamlName+want)
		}
	}
}

func TestChecks_enumsAreThoseOfTheGate(t *testing.T) {
	for _, f := range checkFields(new(checkDraft)) {
		if f.Kind != option.Enum {
			continue
		}
		d := checkDraft{Check: gate.Check{Name: "a", Command: "b"}}
		store := func(value string) {
			for _, own := range checkFields(&d) {
				if own.YAML == f.YAML {
					option.Store(own.Field, value)
				}
			}
		}
		for _, value := range f.Values {
			store(value)
			if err := d.Validate(); err != nil {
				t.Error(err)
			}
		}
		store("none of them")
		// The gate's message ends with all that it knows.
		if err := d.Validate(); err == nil || !strings.HasSuffix(err.Error(), "known: "+strings.Join(f.Values, ", ")) {
			t.Errorf("%s: %v, here %q", f.YAML, err, f.Values)
		}
	}
}

func TestChecks_projectRowReplacesTheUsersAndSaysSo(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	user := write(t, l.Home, ".config/ralph/config.yaml", "checks: [{name: a, command: users, required: false}, {name: b, command: users}]")
	write(t, l.Dir, yamlName, "checks:\n  - {name: c, command: projects}\n  - {name: a, command: projects}")
	c, warnings, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Warning{Warning(`.ralph/config.yaml:3: the check "a" replaces the one in ` + user + ":1")}, warnings); diff != "" {
		t.Error(diff)
	}
	want := []gate.Check{{Name: "a", Command: "projects"}, {Name: "b", Command: "users"}, {Name: "c", Command: "projects"}}
	if diff := cmp.Diff(want, c.Checks()); diff != "" {
		t.Error(diff)
	}
}

func TestChecks_commandsBesideAList_warnThatTheyAreNotUsed(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Env: []string{"LINT_COMMAND=lint"}}
	write(t, l.Dir, yamlName, "checks:\n  - {name: a, command: b}\ncommands: {build: make}")
	write(t, l.Dir, rcName, "TEST_COMMAND=\n")
	_, warnings, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := []Warning{
		".ralph/config.yaml:3: BUILD_COMMAND is not used, because .ralph/config.yaml:2 lists checks",
		"$LINT_COMMAND: LINT_COMMAND is not used, because .ralph/config.yaml:2 lists checks",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
}

func TestUntrusted_checkRows(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Home, ".config/ralph/config.yaml", "checks: [{name: b, command: users}]")
	if u, err := l.Untrusted(); u != nil || err != nil {
		t.Fatalf("the user's own row: %+v, %v", u, err)
	}
	claim := func(row string) []Untrusted {
		t.Helper()
		write(t, l.Dir, yamlName, "checks:\n  - "+row)
		u, err := l.Untrusted()
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	if u := claim("{name: test, command: make test}"); u == nil || linesOf(u)[0] != ".ralph/config.yaml:2: checks.test=make test" {
		t.Errorf("%+v", u)
	}
	u := claim("{name: test, command: ./run.sh, dir: web}")
	if u == nil || u[0].File != yamlName || len(linesOf(u)) != 1 || linesOf(u)[0] != ".ralph/config.yaml:2: checks.test=./run.sh (in web)" {
		t.Fatalf("%+v", u)
	}
	if err := trustAll(l, u); err != nil {
		t.Fatal(err)
	}
	if u := claim("# moved\n    name: test\n    command: ./run.sh\n    dir: web\n    timeout: 5m\n    on_failure: stop"); u != nil {
		t.Errorf("what runs is the same, yet: %+v", u)
	}
	for _, row := range []string{
		"{name: test, command: ./run.sh -x, dir: web}",
		"{name: test, command: ./run.sh, dir: api}",
		"{name: test, command: ./run.sh}",
		"{name: test, command: ./run.sh, dir: web, required: false}",
		"{name: test, command: ./run.sh, dir: web, on_failure: warn}",
		"{name: test, command: ./run.sh, dir: web, when: [docs/**]}",
		"{name: test, command: ./run.sh, dir: web}\n  - {name: b, command: projects}",
	} {
		if claim(row) == nil {
			t.Errorf("trusted although something else runs, or proves less: %s", row)
		}
	}
}

func TestAddAgent_besideChecks_keepsThem(t *testing.T) {
	l := Loader{Dir: t.TempDir()}
	const before = "checks:\n  - name: a # first\n    command: b\n"
	write(t, l.Dir, yamlName, before)
	if _, err := l.AddAgent("my", []AgentField{{"command", "x"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, l.Dir, yamlName), before+"\nagents:\n  my:\n    command: \"x\"\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestChecks_exampleOfTheDocuments_isValid(t *testing.T) {
	_, rest, _ := strings.Cut(checksPage(), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, yamlName, example)
	c, warnings, err := l.Load()
	if err != nil || len(warnings) > 0 || !found {
		t.Fatal(found, warnings, err)
	}
	for _, f := range checkFields(new(checkDraft)) {
		key := strings.TrimPrefix(f.YAML, checksKey+".")
		if !regexp.MustCompile(`(?m)^  [- ] ` + key + `: `).MatchString(example) {
			t.Errorf("the example does not show %s", key)
		}
		if !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: help %q", f.YAML, f.Help)
		}
	}
	if !slices.ContainsFunc(c.Checks(), func(c gate.Check) bool { return c.Optional }) || len(c.Checks()) != 3 {
		t.Errorf("%+v", c.Checks())
	}
}
