package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the generated files")

func TestGeneratedFiles_areUpToDate(t *testing.T) {
	for path, want := range map[string]string{"../.ralphrc.example": Example(), "../docs/options.md": optionsPage()} {
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
	for line := range strings.Lines(Example()) {
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
	write(t, l.Dir, rcName, Example())
	if c, _, err := l.Load(); err != nil || c.Source("MODEL").Kind != SourceDefault {
		t.Errorf("as it is, the example sets something: %v", err)
	}
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
The top-level keys ` + "`agents`, `checks`, `hooks`" + ` are reserved.

Options marked with **trust** decide which programs run. From a project's own file they need your consent, which
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
	return b.String()
}

func flagCell(o Option) string {
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
