package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ralph/config/option"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
)

// checksKey is the key of the project's checks in config.yaml.
const checksKey = "checks"

// checkRow is one check of a config.yaml.
type checkRow struct {
	check  gate.Check
	source Source
}

// Checks returns the checks of the config.yaml files in order, nil if there are none.
// Each is valid and has a unique name.
func (c *Config) Checks() []gate.Check {
	var checks []gate.Check
	for _, row := range c.checks {
		checks = append(checks, row.check)
	}
	return checks
}

// addCheck adds a row. The project's replaces the user's row of the same name.
func (c *Config) addCheck(row checkRow) []Warning {
	i := slices.IndexFunc(c.checks, func(o checkRow) bool { return o.check.Name == row.check.Name })
	if i < 0 {
		c.checks = append(c.checks, row)
		return nil
	}
	old := c.checks[i].source
	c.checks[i] = row
	return []Warning{warn(row.source.Where, "the check %s replaces the one in %s", quote(row.check.Name), old.Where)}
}

// unusedCommands warns about commands that a list of checks replaces.
func (c *Config) unusedCommands() []Warning {
	var warnings []Warning
	for _, o := range c.table {
		isCommand := slices.Contains([]any{&c.TestCommand, &c.BuildCommand, &c.LintCommand}, o.Field)
		if isCommand && c.text(o) != "" && len(c.checks) > 0 {
			warnings = append(warnings, warn(c.sources[o.Key].Where, "%s is not used, because %s lists %s", o.Key, c.checks[0].source.Where, checksKey))
		}
	}
	return warnings
}

// checkClaim shows what a row decides about programs.
func checkClaim(c gate.Check) string {
	text := checksKey + "." + c.Name + "=" + c.Command
	if c.Dir != "" {
		text += " (in " + c.Dir + ")"
	}
	return text
}

// checkDraft is an incomplete row.
type checkDraft struct {
	gate.Check
	required bool
}

// rows are the keys of a row, bound to d, in the order of the documentation.
func (d *checkDraft) rows() []option.Row {
	return []option.Row{
		{YAML: "checks.name", Kind: option.String, Help: "Name in tables and messages, one of its own for each check; needed.", Field: &d.Name},
		{YAML: "checks.command", Kind: option.String, Help: "Command line for `sh -c`; needed.", Field: &d.Command},
		{YAML: "checks.kind", Kind: option.Enum, Default: string(gate.KindTest), Values: texts(gate.KindLintFast, gate.KindBuild, gate.KindTest, gate.KindLint),
			Help: "When it runs: the kinds follow each other in this order, checks of one kind in that of the file.", Field: (*string)(&d.Kind)},
		{YAML: "checks.dir", Kind: option.Path, Help: "Folder inside the project in which it runs; empty is the project itself.", Field: &d.Dir},
		{YAML: "checks.when", Kind: option.List,
			Help: "Globs, relative to the project: it runs only when a changed file matches one, besides the baseline; at the end of a run, when one has matched in it. `**` spans folders, a glob without a slash matches a name in any folder; empty is always.", Field: &d.When},
		{YAML: "checks.required", Kind: option.Bool, Default: "true", Help: "Whether a failure blocks; one that is not required is only shown.", Field: &d.required},
		{YAML: "checks.on_failure", Kind: option.Enum, Default: string(gate.Retry), Values: texts(gate.Retry, gate.Warn, gate.BlockTask, gate.Stop),
			Help: "What a failure does: `retry` tells the agent and goes on with the task, `warn` tells only you, `block_task` puts the task aside, `stop` ends the run.", Field: (*string)(&d.OnFailure)},
		{YAML: "checks.timeout", Kind: option.Duration, Default: "10m", Min: "1s", Max: "24h", Help: "Time that one run of it may take.", Field: &d.Timeout},
		{YAML: "checks.format", Kind: option.Enum, Values: texts(report.Formats()...),
			Help: "What its output is read as; empty: that of a test is recognised, of the other kinds only the exit code counts.", Field: (*string)(&d.Format)},
		{YAML: "checks.junit", Kind: option.Path, Help: "Glob, relative to `dir`, of the JUnit XML files that it writes; empty is none.", Field: &d.JUnit},
	}
}

func texts[T ~string](values ...T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

func checkKeys(rows []option.Row) string {
	var keys []string
	for _, o := range rows {
		keys = append(keys, strings.TrimPrefix(o.YAML, checksKey+"."))
	}
	return strings.Join(keys, ", ")
}

// checkList reads the rows under checks:.
func (r *yamlReader) checkList(node ast.Node) error {
	switch n := node.(type) {
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		for _, item := range n.Values {
			if err := r.check(item); err != nil {
				return err
			}
		}
		return nil
	}
	return r.refuse(node, checksKey+" must be a list, not "+describe(node))
}

// check reads one row.
func (r *yamlReader) check(node ast.Node) error {
	d := checkDraft{required: true}
	rows := d.rows()
	m, ok := node.(*ast.MappingNode)
	if !ok || len(m.Values) == 0 {
		return r.refuse(node, checksKey+" must hold for each check the keys "+checkKeys(rows)+", not "+describe(node))
	}
	for _, pair := range m.Values {
		if err := r.checkField(rows, &d, pair); err != nil {
			return err
		}
	}
	d.Optional = !d.required
	first := m.Values[0].Key
	if err := d.Validate(); err != nil {
		return r.refuse(first, checksKey+": "+err.Error())
	}
	for _, s := range r.settings {
		if s.check != nil && s.check.check.Name == d.Name {
			return r.refuse(first, fmt.Sprintf("%s: the name %s is taken by the check in %s", checksKey, quote(d.Name), s.check.source.Where))
		}
	}
	r.settings = append(r.settings, setting{check: &checkRow{d.Check, Source{r.kind, r.where(first)}}})
	return nil
}

func (r *yamlReader) checkField(rows []option.Row, d *checkDraft, pair *ast.MappingValueNode) error {
	if pair.Key.IsMergeKey() {
		return r.refuse(pair.Key, "merge keys are not allowed")
	}
	path := checksKey + "." + pair.Key.GetToken().Value
	i := slices.IndexFunc(rows, func(o option.Row) bool { return o.YAML == path })
	if i < 0 {
		var paths []string
		for _, o := range rows {
			paths = append(paths, o.YAML)
		}
		r.warnings = append(r.warnings, warn(r.where(pair.Key), "unknown key %s%s", quote(path), didYouMean(nearest(path, paths))))
		return nil
	}
	text, set, err := r.text(rows[i], pair.Value)
	if err != nil || !set {
		return err
	}
	value, ok := rows[i].Parse(text)
	if !ok {
		return r.refuse(pair.Value, path+": "+quote(text)+" is not "+rows[i].Allowed())
	}
	option.Store(rows[i].Field, value)
	if at := slices.IndexFunc(d.When, neverMatches); at >= 0 {
		return r.refuse(pair.Value, path+": "+quote(d.When[at])+" can match nothing: a glob is relative to the project, and only *, ?, [...] and ** stand for something")
	}
	return nil
}

// neverMatches reports globs in the syntax of other tools, with which a check would
// never run.
func neverMatches(glob string) bool {
	return strings.ContainsAny(glob, "{}") || slices.ContainsFunc([]string{"!", "/", "../", "~"}, func(p string) bool { return strings.HasPrefix(glob, p) })
}
