package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/config/option"
	"ralph/runner/agent"
	"ralph/runner/agent/custom"
	"ralph/runner/agent/environ"
)

var update = flag.Bool("update", false, "write the generated files")

func TestGeneratedFiles_areUpToDate(t *testing.T) {
	for path, want := range map[string]string{"../.ralphrc.example": example(), "../docs/options.md": optionsPage()} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is stale, run `go test ./config -update`:\n%s", path, diff)
		}
	}
}

func TestExample_uncommentedItSetsEveryOptionToItsDefault(t *testing.T) {
	var uncommented strings.Builder
	for line := range strings.Lines(example()) {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			if name, _, ok := strings.Cut(text, "="); ok && isName(name) {
				line = text
			}
		}
		uncommented.WriteString(line)
	}
	plain, _, err := Loader{Dir: t.TempDir()}.Load()
	if err != nil {
		t.Fatal(err)
	}
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, rcName, uncommented.String())
	set, warnings, err := l.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if diff := cmp.Diff(plain.Options, set.Options); diff != "" {
		t.Error(diff)
	}
	for _, row := range set.Rows() {
		if row.Source.Kind != SourceRC {
			t.Errorf("%s is not in the example", row.Key)
		}
	}
	if u, err := l.Untrusted(); u != nil || err != nil {
		t.Errorf("the example needs trust: %+v, %v", u, err)
	}
	write(t, l.Dir, rcName, example())
	if c, _, err := l.Load(); err != nil || c.Source("MODEL").Kind != SourceDefault {
		t.Errorf("as it is, the example sets something: %v", err)
	}
}

// example is .ralphrc.example: every option, commented out, at its default.
func example() string {
	var b strings.Builder
	b.WriteString("# Settings of ralph for this project. Remove a # to change a default.\n" +
		"# This file is data: KEY=value with quotes, ${NAME} and ${NAME:-default}. Nothing in it is run.\n")
	group := ""
	for _, o := range Table() {
		if o.Group != group {
			group = o.Group
			fmt.Fprintf(&b, "\n# --- %s ---\n", group)
		}
		fmt.Fprintf(&b, "\n# %s\n# %s=%s\n", o.Help, o.Key, rcQuote(o.Default))
	}
	return b.String()
}

// rcQuote writes a value so that .ralphrc reads it back unchanged.
func rcQuote(value string) string {
	if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value) + `"`
}

// optionsPage is docs/options.md.
func optionsPage() string {
	var b strings.Builder
	b.WriteString(`# Options

Generated from the table in ` + "`config/table.go`" + ` by ` + "`go test ./config -update`" + `.

A value comes from the first of these that sets it; ` + "`ralph config`" + ` shows every value with its source:

1. a flag
2. an environment variable of the option's name; an empty one counts as not set
3. ` + "`.ralphrc`" + ` in the project
4. ` + "`.ralph/config.yaml`" + ` in the project
5. ` + "`$XDG_CONFIG_HOME/ralph/config.yaml`" + ` (` + "`~/.config/ralph/config.yaml`" + `)
6. the default

A value that does not parse refuses to start (exit 2), also where a stronger source replaces it. An unknown key in a file warns.

` + "`.ralphrc`" + ` is data and is never run: ` + "`KEY=value`" + ` or ` + "`export KEY=value`" + `, one or more a line, with quotes, comments,
` + "`$NAME`, `${NAME}` and `${NAME:-default}`" + ` (from earlier lines, then from the environment). Everything else is refused
with its line. A file larger than 64 KiB is refused.

In ` + "`config.yaml`" + ` the path ` + "`limits.calls_per_hour`" + ` means ` + "`limits: {calls_per_hour: 50}`" + `; a list may be a YAML list.
The top-level key ` + "`hooks`" + ` is reserved. Checks stand under ` + "`checks`" + ` and agents of your own under ` + "`agents`" + `, see the end of this page.

Options marked with **trust** decide which programs run or which secrets they get. From a project's own file they need your consent, which
` + "`ralph trust`" + ` records for exactly these settings in this project; without it, a run on a terminal asks, any other is refused.
`)
	group := ""
	for _, o := range Table() {
		if o.Group != group {
			group = o.Group
			fmt.Fprintf(&b, "\n## %s\n\n| name | flag | config.yaml | default | allowed | meaning |\n|---|---|---|---|---|---|\n", group)
		}
		names := "`" + strings.Join(append([]string{o.Key}, o.Aliases...), "`, `") + "`"
		if o.Trust {
			names += " **trust**"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s |\n", names, flagCell(o), o.YAML, code(o.Default), o.Allowed(), o.Help)
	}
	b.WriteString(environmentPage())
	b.WriteString(checksPage())
	b.WriteString(agentsPage())
	return b.String()
}

func flagCell(o option.Row) string {
	var cells []string
	for _, name := range []string{"-" + o.Short, "--" + o.Flag, "--" + o.NoFlag} {
		if strings.Trim(name, "-") != "" {
			cells = append(cells, code(strings.TrimSpace(name)))
		}
	}
	return strings.Join(cells, ", ")
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// environmentPage is the part of docs/options.md about what agents and checks get.
func environmentPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, `
## What agent and checks get of the environment

They start with ralph's own environment, without what holds a secret by its name; ralph's own calls of git keep all of it. These are
looked at in this order, the last that matches decides, and a variable that none matches passes:

1. the keys of all agents are held back
2. what looks like a secret is held back: %s
3. the keys of the agent that works pass to it, not to the checks
4. an entry of `+"`ENV_EXCLUDE`"+` holds back, and passes with `+"`!`"+` before it, for the agent and the checks; what a row sets by `+"`env`"+` is always there, and `+"`PATH` and `HOME`"+` always pass

| agent | its keys |
|---|---|
`, code(strings.Join(environ.SecretNames(), "`, `")))
	for _, s := range agent.Specs() {
		cell := code(strings.Join(s.Env.Keys, "`, `"))
		if cell == "" {
			cell = "none: name them in `ENV_EXCLUDE`, or in the row of an agent of your own"
		}
		for _, cloud := range s.Env.Clouds {
			var when []string
			if len(cloud.Models) > 0 {
				when = append(when, "`MODEL` begins with "+code(strings.Join(cloud.Models, "`, `")))
			}
			if len(cloud.If) > 0 {
				when = append(when, "one of "+code(strings.Join(cloud.If, "`, `"))+" is on")
			}
			cell += "; while " + strings.Join(when, " or ") + " also " + code(strings.Join(cloud.Keys, "`, `"))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", s.Name, cell)
	}
	b.WriteString(`
` + "`ENV_EXCLUDE=\"DATABASE_URL,!GITHUB_TOKEN,!NPM_*\"`" + ` holds one more back and lets the others pass; ` + "`!*`" + ` switches all of it off. Upper and lower case
are the same. In YAML an entry with ` + "`!`" + ` needs quotes. ` + "`ralph config --env`" + ` shows what becomes of which variable, never a value.

This is no sandbox: the agent and the checks run as you, and can read your files and the environment of ralph's own process.
`)
	return b.String()
}

// checksPage is the part of docs/options.md about the list of checks.
func checksPage() string {
	var b strings.Builder
	b.WriteString(`
## A list of checks

What has to succeed after the agent's turn stands in a ` + "`config.yaml`" + ` as a list; only ` + "`name` and `command`" + ` are needed.
` + "`ralph check`" + ` runs all of them alone, ` + "`ralph doctor`" + ` names them.

` + "```yaml" + `
checks:
  - name: format
    command: test -z "$(gofmt -l .)"
    kind: lint-fast
    timeout: 30s
  - name: unit
    command: go test ./...
    format: go
    on_failure: retry
  - name: web
    command: npm test
    kind: test
    dir: web
    when: ["web/**", package.json]
    required: false
    junit: reports/*.xml
` + "```" + `

| key | default | allowed | meaning |
|---|---|---|---|
`)
	for _, f := range new(checkDraft).rows() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.TrimPrefix(f.YAML, checksKey+"."), code(f.Default), f.Allowed(), f.Help)
	}
	b.WriteString(`
A list takes the place of ` + "`TEST_COMMAND`, `BUILD_COMMAND` and `LINT_COMMAND`" + `, and both that of detected checks. The lists of both files
count; of two checks with one name it is the project's. A check of the project's file decides which programs run, and needs your
consent like the options marked with **trust**. One that does not fit refuses to start (exit 2).
`)
	return b.String()
}

// agentsPage is the part of docs/options.md about agents of one's own.
func agentsPage() string {
	return `
## Agents of your own

A CLI that has no built-in row gets one in a ` + "`config.yaml`" + `, under a name of its own; ` + "`ralph agent add`" + ` writes it by asking,
` + "`ralph agent list`" + ` shows all, and ` + "`AGENT`" + ` chooses it. Only ` + "`command`" + ` is needed:

` + "```yaml" + `
agents:
  my-agent:
    command: my-agent --json {permissions} {model} {resume}
    prompt: stdin
    format: claude-stream-json
    output: pty
    resume: --resume {}
    model: --model {}
    allowed_tools: --allow {}
    bypass: --yes
    version: --version
    env:
      MY_AGENT_NO_UPDATE: "1"
    env_keys: MY_AGENT_API_KEY
    patterns:
      usage-limit: "quota of the day is used up"
      none: ["warning: .*rate limit"]
` + "```" + `

| key | default | meaning |
|---|---|---|
| ` + "`command`" + ` | | Program and arguments, in the shell's quoting or as a list; a program with a slash is relative to the project, ` + "`${NAME}`" + ` comes from the environment, nothing else is expanded. |
| ` + "`prompt`" + ` | stdin | ` + "`stdin`" + `; ` + "`arg`" + `: the last argument, or where ` + "`{prompt}`" + ` stands; ` + "`file`" + `: a private temporary file, whose path replaces ` + "`{prompt_file}`" + `. |
| ` + "`format`" + ` | text | What it prints: ` + code(strings.Join(custom.Formats(), "`, `")) + `. |
| ` + "`output`" + ` | pty | ` + "`pty`" + `: its output goes to a terminal; ` + "`pipe`" + `: into a pipe. |
| ` + "`resume`, `model`" + ` | | Arguments that resume a session or choose a model; ` + "`{}`" + ` is the value. Without them it can do neither. |
| ` + "`allowed_tools`" + ` | | Arguments of the permission mode ` + "`allowed-tools`" + `; with ` + "`{}`" + ` once for each entry of ` + "`ALLOWED_TOOLS`" + `. |
| ` + "`bypass`" + ` | | Arguments of the permission mode ` + "`bypass`" + `. |
| ` + "`version`" + ` | | Arguments with which it prints its version and ends. |
| ` + "`env`" + ` | | Variables for every call. |
| ` + "`env_keys`" + ` | | Names or globs of the variables that hold its keys; they pass to it and to nobody else. |
| ` + "`patterns`" + ` | | Regular expressions (RE2, case-insensitive), by outcome class, for its own error texts; looked at before the built-in ones. ` + "`none`" + ` is a text that means nothing. |

` + "`{permissions}`, `{model}`, `{resume}`" + ` in ` + "`command`" + ` are where those arguments go; what has no place comes last. A row in the project's
file decides which programs run, and needs your consent like the options marked with **trust**. A row that does not fit refuses to start (exit 2).
`
}
