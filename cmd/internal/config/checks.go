package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/state/option"
)

// checksKey is the key of config.yaml for the project's checks.
const checksKey = "checks"

// Checks returns the checks of the config.yaml files, in their order; nil when
// they list none. All are valid, and their names differ.
func (c *Config) Checks() []gate.Check { return values(c.checks) }

// unusedCommands warns of command options that a list of checks replaces.
func (c *Config) unusedCommands() []Warning {
	var warnings []Warning
	for _, o := range c.table {
		isCommand := slices.Contains([]any{&c.TestCommand, &c.BuildCommand, &c.LintCommand, &c.TypesCommand,
			&c.FastCommand}, o.Field)
		if isCommand && c.text(o) != "" && len(c.checks) > 0 {
			warnings = append(warnings, warn(c.sources[o.Key].Where, "%s is not used, because %s lists %s", o.Key,
				c.checks[0].source.Where, checksKey))
		}
	}
	return warnings
}

// weaker says why a check does not block; empty: it blocks.
func weaker(c gate.Check) string {
	text := ""
	if c.Optional {
		text += "; required: false"
	}
	if c.OnFailure == gate.Warn {
		text += "; on_failure: warn"
	}
	if len(c.When) > 0 {
		text += "; when: " + strings.Join(c.When, ",")
	}
	return text
}

// checkClaim shows what a row decides about programs and about what they prove.
func checkClaim(c gate.Check) string {
	text := checksKey + "." + c.Name + "=" + c.Command
	if c.Dir != "" {
		text += " (in " + c.Dir + ")"
	}
	return text + weaker(c)
}

// checkDraft is a row that is being read.
type checkDraft struct {
	gate.Check
	required bool
}

// checkFields are the keys of a row, in the order of the documents.
func checkFields(d *checkDraft) []option.Row {
	return []option.Row{
		{YAML: "checks.name", Kind: option.String,
			Help: "Name in tables and messages; required and unique.", Field: &d.Name},
		{YAML: "checks.command", Kind: option.String, Help: "Command line for `sh -c`; required.", Field: &d.Command},
		{YAML: "checks.kind", Kind: option.Enum, Default: string(gate.KindTest),
			Values: texts(gate.KindLintFast, gate.KindBuild, gate.KindTest, gate.KindLint),
			Help:   "When it runs: kinds run in this order, checks of one kind in the order of the file.", Field: (*string)(&d.Kind)},
		{YAML: "checks.dir", Kind: option.Path,
			Help: "Folder inside the project to run it in; empty means the project itself.", Field: &d.Dir},
		{YAML: "checks.when", Kind: option.List,
			Help: "Globs, relative to the project. The check runs when a changed file matches one, " +
				"for the baseline, and at the end of a run in which a file matched. " +
				"`**` spans folders, and a glob without a slash matches a name in any folder; empty means always.", Field: &d.When},
		{YAML: "checks.required", Kind: option.Bool, Default: "true",
			Help: "Whether a failure blocks; otherwise ralph only shows it.", Field: &d.required},
		{YAML: "checks.on_failure", Kind: option.Enum, Default: string(gate.Retry),
			Values: texts(gate.Retry, gate.Warn, gate.BlockTask, gate.Stop),
			Help: "What ralph does when it fails: `retry` tells the agent and tries the task again, " +
				"`warn` tells only you, `block_task` puts the task aside, `stop` ends the run.", Field: (*string)(&d.OnFailure)},
		{YAML: "checks.timeout", Kind: option.Duration, Default: "10m", Min: "1s", Max: "24h",
			Help: "Time that one run of the check may take.", Field: &d.Timeout},
		{YAML: "checks.format", Kind: option.Enum, Values: texts(report.Formats()...),
			Help: "Format of its output; empty means that ralph detects the format of test output, " +
				"and uses the exit code for other kinds.", Field: (*string)(&d.Format)},
		{YAML: "checks.junit", Kind: option.Path,
			Help: "Glob, relative to `dir`, of the JUnit XML files it writes; empty means none.", Field: &d.JUnit},
	}
}

func texts[T ~string](values ...T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

// check reads one row.
func (r *yamlReader) check(node ast.Node) error {
	d := checkDraft{required: true}
	first, err := r.row(checksKey, checkFields(&d), node)
	if err != nil {
		return err
	}
	d.Optional = !d.required
	if err := d.Validate(); err != nil {
		return r.refuse(first, checksKey+": "+err.Error())
	}
	next := listed[gate.Check]{row: d.Check, source: Source{r.kind, r.where(first)}}
	r.settings = append(r.settings, setting{row: func(c *Config) (warnings []Warning, err error) {
		c.checks, warnings, err = put(c.checks, next, "the check "+quote(d.Name),
			func(o gate.Check) bool { return o.Name == d.Name })
		return warnings, err
	}})
	return nil
}
