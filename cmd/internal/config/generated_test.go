package config

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mvdan.cc/sh/v3/syntax"

	"ralph/logs"
	"ralph/runner/agent"
	"ralph/runner/hooks"
	"ralph/state/option"
)

var update = flag.Bool("update", false, "write the generated files")

func TestGeneratedFiles_areUpToDate(t *testing.T) {
	for path, want := range map[string]string{"../../../.ralphrc.example": example(), "../../../docs/options.md": optionsPage()} {
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
			if name, _, ok := strings.Cut(text, "="); ok && syntax.ValidName(name) {
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

// optionsPage is docs/options.md.
func optionsPage() string {
	var b strings.Builder
	b.WriteString(`# Options

ralph takes each value from the first source that sets it. ` + "`ralph config`" + ` shows every value with its source.

1. a flag
2. an environment variable with the option's name; an empty one counts as not set
3. ` + "`.ralphrc`" + ` in the project
4. ` + "`.ralph/config.yaml`" + ` in the project
5. ` + "`$XDG_CONFIG_HOME/ralph/config.yaml`" + ` (` + "`~/.config/ralph/config.yaml`" + `)
6. the default

[.ralphrc.example](../.ralphrc.example) lists all options by group: what each does, its default, the allowed values, its flag
and its key in ` + "`config.yaml`" + `, where ` + "`limits.calls_per_hour`" + ` means ` + "`limits: {calls_per_hour: 50}`" + `.

ralph refuses to start (exit code 2) when any source has a value that is not allowed, even if another source overrides it.
It warns about an unknown key in a file; one among the keys of checks, reviews, hooks, permissions or the sandbox, or one
that looks like a misspelled option of these, is an error, too, and so is an invalid row in one of the lists below.

A text, a path and an entry of a list are on one line, and do not start with -. A duration is written like 30s, 5m or 2h.

` + "`.ralphrc`" + ` is data; ralph never executes it. It takes ` + "`KEY=value`" + ` or ` + "`export KEY=value`" + `, quotes, comments, and
` + "`$NAME`, `${NAME}` and `${NAME:-default}`" + ` (from earlier lines, then from the environment), and nothing else.

## Consent

Options marked "needs consent", checks, hooks and agents decide which programs run, what the agent may do, which secrets it
gets, or how its work is judged. When a project file sets one, ralph needs your consent. A run on a terminal asks, any
other run refuses to start, and ` + "`ralph trust`" + ` shows these settings and records your consent to exactly these values.

What ` + "`ralph init`" + ` wrote needs no consent, nor do harmless values: entries of ` + "`ALLOWED_TOOLS`" + ` that are in its default,
` + "`ANTI_CHEAT`" + ` other than warn, ` + "`TEST_MODE`" + ` other than report, ` + "`LAND`" + ` other than pr, ` + "`SANDBOX` and `SANDBOX_NET`" + ` that
contain as much as your own configuration does, ` + "`QA` and `JUDGES`" + ` that ask for as many reviewers, and a judge that neither
replaces one of yours nor makes a built-in one milder.

ralph also asks about checks that it detects, a prompt or a plan outside the project, a ` + "`.ralph/`" + ` that belongs to another
user, and a project above the repository that you are in. An agent can neither give consent nor accept its own work.
`)
	b.WriteString(environmentPage())
	b.WriteString(checksPage())
	b.WriteString(judgesPage())
	b.WriteString(hooksPage())
	b.WriteString(agentsPage())
	return b.String()
}

// brief says what is allowed without what is true of each value of its kind: the top of the page says that.
func brief(allowed string) string {
	return strings.NewReplacer(
		" on one line", "", " that does not start with -", "", " with balanced parentheses and no entry that starts with -", "",
		" such as 30s, 5m or 2h", "", ", or as long a duration, such as 90s or 2h", "", ", or as long a duration, such as 90m or 48h", "",
		"a whole number from", "from", "a number of minutes from", "minutes from", "a number of hours from", "hours from",
	).Replace(allowed)
}

// spellings are the values of other tools that an option takes.
func spellings(o option.Row) string {
	var all []string
	for _, theirs := range slices.Sorted(maps.Keys(o.Spellings)) {
		all = append(all, fmt.Sprintf("%s (%s)", theirs, o.Spellings[theirs]))
	}
	if len(all) == 0 {
		return ""
	}
	return "; also " + strings.Join(all, ", ")
}

// properties are what .ralphrc.example says of an option besides its meaning and default.
func properties(o option.Row) string {
	parts := []string{brief(o.Allowed()) + spellings(o)}
	for _, flag := range []string{"-" + o.Short, "--" + o.Flag, "--" + o.NoFlag} {
		if strings.Trim(flag, "-") != "" {
			parts = append(parts, flag)
		}
	}
	parts = append(append(parts, o.Aliases...), append([]string{o.YAML}, o.YAMLAliases...)...)
	if o.Trust {
		parts = append(parts, "needs consent")
	}
	return strings.Join(parts, "; ")
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
## What agents and checks get from the environment

Agents and checks get ralph's own environment without the variables that look like secrets. Of these rules, the last one
that matches decides; a variable that no rule matches passes.

1. Withhold the keys of all agents.
2. Withhold what looks like a secret, and pass names with `+"`!`"+`: %s
3. Withhold a variable whose value is an address with a password, such as `+"`redis://:password@host`"+`. Still pass
   `+"`*_PROXY`"+`, and to agents also `+"`*_BASE_URL`"+`.
4. Pass the keys of the current agent to this agent, but not to checks.
5. Withhold each entry of `+"`ENV_EXCLUDE`"+` from agents and checks; pass it if it starts with `+"`!`"+`.

`+"`PATH` and `HOME`"+` always pass, and an agent always gets the variables that its own entry sets in `+"`env`"+`.

| agent | its keys |
|---|---|
`, code(strings.Join(logs.SecretNameGlobs(), "`, `")))
	for _, s := range agent.Specs() {
		cell := keysOf(s.Env.Keys)
		if cell == "" {
			cell = "none: name them in `ENV_EXCLUDE`, or describe an agent of your own"
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
` + "`ENV_EXCLUDE=\"KUBECONFIG,!GITHUB_TOKEN,!NPM_*\"`" + ` withholds one more variable and passes the others; ` + "`!*`" + ` passes
everything. Names are not case-sensitive.

This is not a sandbox: agents and checks run as you, and can read your files and the environment of the ralph process.
`)
	return b.String()
}

// keysOf lists the keys of an agent. If it takes those of many vendors, a pattern stands for them.
func keysOf(names []string) string {
	of := func(name string) bool { return strings.HasSuffix(name, "_API_KEY") }
	others := slices.DeleteFunc(slices.Clone(names), of)
	if n := len(names) - len(others); n > 10 {
		return fmt.Sprintf("`*_API_KEY` of %d vendors, ", n) + code(strings.Join(others, "`, `"))
	}
	return code(strings.Join(names, "`, `"))
}

// rowTable lists the keys that a row of a list may have.
func rowTable(rows []option.Row) string {
	var b strings.Builder
	b.WriteString("| key | default | allowed | meaning |\n|---|---|---|---|\n")
	for _, f := range rows {
		allowed := brief(f.Allowed())
		if f.Kind == option.String || f.Kind == option.Bool {
			allowed = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.YAML[strings.LastIndex(f.YAML, ".")+1:], code(f.Default), allowed, f.Help)
	}
	return b.String()
}

// checksPage is the part of docs/options.md about the list of checks.
func checksPage() string {
	var b strings.Builder
	b.WriteString(`
## A list of checks

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

` + rowTable(checkFields(new(checkDraft))))
	b.WriteString(`
ralph joins the lists of the project's and your own ` + "`config.yaml`" + `; of two checks with the same name, it takes the project's.
`)
	return b.String()
}

// judgesPage is the part of docs/options.md about the list of judges.
func judgesPage() string {
	var b strings.Builder
	b.WriteString(`
## A list of judges

A [judge](review.md#judges) looks at a task before it counts as done. A project's judge replaces yours of the same name.

` + rowTable(judgeFields(new(judgeDraft))))
	return b.String()
}

// hooksPage is the part of docs/options.md about the list of hooks.
func hooksPage() string {
	var b strings.Builder
	b.WriteString(`
## A list of hooks

[hooks.md](hooks.md) lists the points. Write just the command, or a row with more settings:

` + "```yaml" + `
hooks:
  pre_task: ./scripts/setup.sh
  post_iteration:
    - command: gofmt -l . | grep . && exit 1 || true
      when: ["*.go"]
      timeout: 30s
      on_failure: ask_agent
` + "```" + `

` + rowTable(hookFields(new(hooks.Hook))))
	b.WriteString(`
` + "`hooks`" + ` may also be one list, in which each row names its ` + "`point`" + `. ralph runs all hooks of the user's and the project's
` + "`config.yaml`" + `, and then the one in ` + "`HOOK_PRE_TASK`" + ` or its sibling.
`)
	return b.String()
}

// agentsPage is the part of docs/options.md about agents of one's own.
func agentsPage() string {
	return `
## Agents of your own

The agent ` + "`text`" + ` is any program that reads the prompt from standard input and prints text. ` + "`AGENT_CMD`" + ` names it:

    AGENT=text AGENT_CMD='my-agent --yes' ralph

Describe any other CLI in ` + "`config.yaml`" + `, under a name of your choice, or let ` + "`ralph agent add`" + ` ask you and write the entry.
Only ` + "`command`" + ` is required:

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
    models: models list
    login: login status
    description: The agent of our company
    env:
      MY_AGENT_NO_UPDATE: "1"
    env_keys: MY_AGENT_API_KEY
    home: .my-agent/
    patterns:
      usage-limit: "quota of the day is used up"
      none: ["warning: .*rate limit"]
` + "```" + `

| key | default | meaning |
|---|---|---|
| ` + "`command`" + ` | | Program and arguments, with shell quoting or as a list. A program with a slash is relative to the project. ` + "`${NAME}`" + ` comes from the environment; nothing else is expanded. |
| ` + "`prompt`" + ` | stdin | How it takes the prompt. ` + "`stdin`" + `; ` + "`arg`" + `: as the last argument, or in place of ` + "`{prompt}`" + `; ` + "`file`" + `: in a private temporary file whose path replaces ` + "`{prompt_file}`" + `. |
| ` + "`format`" + ` | text | Format of its output: ` + code(strings.Join(agent.CustomFormats(), "`, `")) + `. |
| ` + "`output`" + ` | pty | Where it prints: ` + "`pty`" + ` is a terminal, ` + "`pipe`" + ` a pipe. |
| ` + "`resume`, `model`" + ` | | Arguments that resume a session or select a model; ` + "`{}`" + ` is the value. Empty means that the agent cannot do it. |
| ` + "`allowed_tools`" + ` | | Arguments for the permission mode ` + "`allowed-tools`" + `; with ` + "`{}`" + `, repeated for each entry of ` + "`ALLOWED_TOOLS`" + `. |
| ` + "`bypass`" + ` | | Arguments for the permission mode ` + "`bypass`" + `. |
| ` + "`version`" + ` | | Arguments that make it print its version and exit. They show that it is installed. |
| ` + "`models`" + ` | | Arguments that make it print the names of its models, one per line, and exit. |
| ` + "`login`" + ` | | Arguments that make it end with exit code 0 if it is logged in. |
| ` + "`description`" + ` | | One line about it, for ` + "`ralph agent list`" + `. |
| ` + "`env`" + ` | | Variables for every call. |
| ` + "`env_keys`" + ` | | Names or globs of the variables that hold its keys. Only this agent gets them. |
| ` + "`home`" + ` | | Files and folders that it keeps in your home folder, such as ` + "`.aider/`" + `. In a [sandbox](sandbox.md) it may read and write them, and no others of your home folder. |
| ` + "`patterns`" + ` | | Regular expressions (RE2, case-insensitive) for its own error texts, by outcome class. ralph tries them before the built-in ones. ` + "`none`" + ` is for texts to ignore. The row of a built-in agent may hold this key only. |

` + "`{permissions}`, `{model}` and `{resume}`" + ` mark where those arguments go in ` + "`command`" + `; arguments without a mark come last.
Without the key ` + "`model`" + `, ` + "`{model}`" + ` is the name itself, as in ` + "`-m {model}`" + ` or ` + "`--model={model}`" + `. If no model is
named, ralph leaves it out, together with the option before it.
`
}

// example returns a .ralphrc with every option commented out at its default.
func example() string {
	var b strings.Builder
	b.WriteString("# ralph's settings for this project. Remove a # to change a default.\n" +
		"# This file is data: KEY=value with quotes, ${NAME} and ${NAME:-default}. ralph never executes it.\n" +
		"# In brackets: the allowed values, the flag, other names, and the key in .ralph/config.yaml.\n")
	group := ""
	for _, o := range Table() {
		if o.Group != group {
			group = o.Group
			fmt.Fprintf(&b, "\n# --- %s ---\n", group)
		}
		fmt.Fprintf(&b, "\n# %s\n# [%s]\n# %s=%s\n", o.Help, properties(o), o.Key, rcQuote(o.Default))
	}
	return b.String()
}

// rcQuote writes a value the way that .ralphrc reads it back.
func rcQuote(value string) string {
	if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value) + `"`
}
