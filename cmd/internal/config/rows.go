package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/hooks"
	"ralph/runner/roles"
	"ralph/runner/task"
	"ralph/state/option"
)

// listed is a row of a list in a config.yaml.
type listed[T any] struct {
	row      T
	source   Source
	replaced Source // of the row that it stands in for; zero: none
}

// put overlays a row: one of a stronger file replaces another that is the same. what is the row, for people.
func put[T any](rows []listed[T], next listed[T], what string, same func(T) bool) ([]listed[T], []Warning, error) {
	i := slices.IndexFunc(rows, func(r listed[T]) bool { return same(r.row) })
	if i < 0 {
		return append(rows, next), nil, nil
	}
	old := rows[i].source
	if old.Kind == next.source.Kind {
		return rows, nil, &UsageError{next.source.Where, what + " is also in " + old.Where}
	}
	next.replaced = old
	rows[i] = next
	return rows, []Warning{warn(next.source.Where, "%s replaces the one in %s", what, old.Where)}, nil
}

// values are the rows without their sources.
func values[T any](rows []listed[T]) (all []T) {
	for _, r := range rows {
		all = append(all, r.row)
	}
	return all
}

// row reads one row of a list into the fields of its keys and returns the first key, where the row stands.
func (r *yamlReader) row(list string, fields []option.Row, node ast.Node) (ast.Node, error) {
	var paths, keys []string
	for _, f := range fields {
		paths, keys = append(paths, f.YAML), append(keys, strings.TrimPrefix(f.YAML, list+"."))
	}
	m, ok := node.(*ast.MappingNode)
	if !ok || len(m.Values) == 0 {
		return nil, r.refuse(node, list+" must hold for each "+strings.TrimSuffix(list, "s")+" the keys "+
			strings.Join(keys, ", ")+", not "+describe(node))
	}
	seen := map[string]bool{}
	for _, pair := range m.Values {
		key, err := r.key(pair.Key, seen)
		if err != nil {
			return nil, err
		}
		path := list + "." + key
		i := slices.IndexFunc(fields, func(f option.Row) bool { return f.YAML == path || slices.Contains(f.YAMLAliases, path) })
		if i < 0 {
			_, err := unknown(r.where(pair.Key), path, option.Nearest(path, paths)) // never a warning: it is inside a protection
			return nil, err
		}
		name := fields[i].YAML
		if seen[name] { // as one of its aliases
			return nil, r.refuse(pair.Key, strings.TrimPrefix(name, list+".")+" is written twice, in two spellings")
		}
		seen[name] = true
		if err := r.field(fields[i], path, pair.Value); err != nil {
			return nil, err
		}
	}
	return m.Values[0].Key, nil
}

func (r *yamlReader) field(f option.Row, path string, node ast.Node) error {
	text, set, err := r.text(f, node)
	if err != nil || !set {
		return err
	}
	value, ok := f.Parse(text)
	if !ok {
		return r.refuse(node, path+": "+quote(text)+" is not "+f.Allowed())
	}
	option.Store(f.Field, value)
	globs, _ := value.([]string)
	if at := slices.IndexFunc(globs, neverMatches); at >= 0 && f.Kind == option.List {
		return r.refuse(node, path+": "+quote(globs[at])+
			" can match nothing: a glob is relative to the project, and only *, ?, [...] and ** stand for something")
	}
	return nil
}

// neverMatches finds globs of other tools, which would keep a row from ever
// running.
func neverMatches(glob string) bool {
	return strings.ContainsAny(glob, "{}") || slices.ContainsFunc([]string{"!", "/", "../", "~"},
		func(p string) bool { return strings.HasPrefix(glob, p) })
}

// each reads the rows of a list.
func (r *yamlReader) each(key string, node ast.Node, read func(ast.Node) error) error {
	switch n := node.(type) {
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		for _, item := range n.Values {
			if err := read(item); err != nil {
				return err
			}
		}
		return nil
	}
	return r.refuse(node, key+" must be a list, not "+describe(node))
}

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
	return termtext.Each(values, func(v T) string { return string(v) })
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

// judgesKey is the key of config.yaml for judges.
const judgesKey = "judges"

// JudgeRows returns the judges of the config.yaml files, in their order. All are valid, and their
// names differ.
func (c *Config) JudgeRows() []roles.Reviewer { return values(c.judges) }

// ownJudges names the judges of the user's own file, joined by commas; nil: there are none.
func (c *Config) ownJudges() *string {
	var names []string
	for _, row := range c.judges {
		if row.source.Kind == SourceUser || row.replaced.Kind == SourceUser {
			names = append(names, row.row.Name)
		}
	}
	if names == nil {
		return nil
	}
	own := strings.Join(names, ",")
	return &own
}

// judgeClaim shows what a row of the project makes of a judge that the user may rely on; empty: it adds one, or
// asks more of a built-in one.
func judgeClaim(row listed[roles.Reviewer]) string {
	j := row.row
	text := judgesKey + "." + j.Describe()
	if j.Optional {
		text += "; required: false"
	}
	low := j.Threshold > 0 && j.Threshold < roles.DefaultThreshold
	if low {
		text += fmt.Sprintf("; threshold: %d", j.Threshold)
	}
	_, builtIn := roles.FindPersona(j.Name)
	switch milder := j.Optional || low || j.Persona != "" && j.Persona != j.Name || len(j.Criteria) > 0; {
	case row.replaced.Where != "":
		return text + "; in place of your own"
	case builtIn && milder:
		return text
	}
	return ""
}

// Reviewers returns an error for a reviewer that does not exist, or whose agent does not exist.
func (c *Config) Reviewers() error {
	for _, row := range c.judges {
		if _, err := c.Spec(row.row.Agent); err != nil && row.row.Agent != "" {
			return &UsageError{row.source.Where, judgesKey + ": " + err.Error()}
		}
	}
	for _, r := range c.For(roles.Asking{Task: task.Task{ID: "any"}, Project: true}).All() {
		if _, err := c.Spec(r.Agent); err != nil && r.AgentFrom != "" && r.Agent != "" {
			return c.Bad(r.AgentFrom, err)
		}
	}
	if _, err := roles.Named(c.Judges, c.JudgeRows()); err != nil {
		return c.Bad("JUDGES", err)
	}
	return nil
}

// NamedReviewer is a reviewer with an agent of its own. From names the setting, for people.
type NamedReviewer struct{ From, Agent, Model string }

// NamedReviewers lists the reviewers with an agent of their own that open tasks will need, each once.
func (c *Config) NamedReviewers(dir string, tasks []task.Task) (all []NamedReviewer) {
	stories, rows := roles.AIOSOptions(c.AIOSOptions).At(dir), c.JudgeRows()
	for _, t := range tasks {
		if !t.Pending() || !t.Required() {
			continue
		}
		for _, r := range c.For(roles.Asking{Task: t, Rows: rows, Project: stories.Asks(t)}).All() {
			named := NamedReviewer{cmp.Or(r.AgentFrom, "the judge "+r.Name), r.Agent, r.Model}
			if r.Agent != "" && !slices.Contains(all, named) {
				all = append(all, named)
			}
		}
	}
	return all
}

// Bad is the error for the value of an option. A file and its line do not name the option; a flag
// and a variable do.
func (c *Config) Bad(key string, err error) error {
	source := c.sources[key]
	if source.Kind == SourceFlag || source.Kind == SourceEnvironment {
		return &UsageError{source.Where, err.Error()}
	}
	return &UsageError{source.Where, cmp.Or(c.spelled[key], key) + ": " + err.Error()}
}

// judgeDraft is a row that is being read.
type judgeDraft struct {
	roles.Reviewer
	required bool
	weight   int
}

// judgeFields are the keys of a row, in the order of the documents.
func judgeFields(d *judgeDraft) []option.Row {
	return []option.Row{
		{YAML: "judges.name", Kind: option.String,
			Help: "Unique name, for messages and `JUDGES`; `my judge` and `My-Judge` are the same name. If it is " +
				"missing, a short persona of one line is the name. The name of a built-in judge brings its persona.", Field: &d.Name},
		{YAML: "judges.persona", Kind: option.String,
			Help: "Who it is: a built-in judge, or what to look for and what to ignore, in your words.", Field: &d.Persona},
		{YAML: "judges.criteria", Kind: option.Lines,
			Help: "What it checks in particular: a text or a list of them.", Field: &d.Criteria},
		{YAML: "judges.agent", YAMLAliases: []string{"judges.provider"}, Kind: option.String,
			Help: "Who is asked; empty means another vendor's agent than the author's, if one is installed.", Field: &d.Agent},
		{YAML: "judges.model", Kind: option.String,
			Help: "Model of the agent; only together with `agent`; empty means the agent's own default.", Field: &d.Model},
		{YAML: "judges.require_evidence", Kind: option.Bool, Default: "false",
			Help: "Whether a task without files in `.ralph/evidence/TASK/` fails.", Field: &d.RequireEvidence},
		{YAML: "judges.required", Kind: option.Bool, Default: "true",
			Help: "Whether its refusal blocks; otherwise ralph only shows it.", Field: &d.required},
		{YAML: "judges.weight", Kind: option.Int, Default: "1", Min: "1", Max: "1000",
			Help: "Its weight in the score of all judges.", Field: &d.weight},
		{YAML: "judges.threshold", Kind: option.Int, Default: "70", Min: "1", Max: "100",
			Help: "Score that a task needs to pass.", Field: &d.Threshold},
		{YAML: "judges.timeout", Kind: option.Duration, Default: "10m", Min: "1s", Max: "24h",
			Help: "Time that one answer may take.", Field: &d.Timeout},
	}
}

// judge reads one row.
func (r *yamlReader) judge(node ast.Node) error {
	d := judgeDraft{required: true}
	first, err := r.row(judgesKey, judgeFields(&d), node)
	if err != nil {
		return err
	}
	if persona := strings.TrimSpace(d.Persona); d.Name == "" && len(persona) <= 80 && !strings.Contains(persona, "\n") {
		d.Name = persona // as for the judges of an item
	}
	d.Optional, d.Weight = !d.required, float64(d.weight)
	if err := d.Validate(); err != nil {
		return r.refuse(first, judgesKey+": "+err.Error())
	}
	next := listed[roles.Reviewer]{row: d.Reviewer, source: Source{r.kind, r.where(first)}}
	r.settings = append(r.settings, setting{row: func(c *Config) (_ []Warning, err error) {
		c.judges, _, err = put(c.judges, next, "the judge "+quote(d.Name),
			func(o roles.Reviewer) bool { return roles.Same(o.Name, d.Name) })
		return nil, err
	}})
	return nil
}

// hooksKey is the key of config.yaml for the user's hooks.
const hooksKey = "hooks"

// hookRow is one hook of a config.yaml.
type hookRow struct {
	hook hooks.Hook
	key  string // of the option that it was written as; empty: it is a row of a list
}

// Hooks returns the hooks of the config.yaml files in their order, then those of
// HOOK_PRE_ITERATION and its siblings. Each is valid.
func (c *Config) Hooks() []hooks.Hook {
	var all []hooks.Hook
	for _, row := range c.hooks {
		all = append(all, row.row.hook)
	}
	return append(all, c.Commands.Hooks()...)
}

// keepHook keeps the command of a config.yaml for a point when a stronger source gives another
// one. Hooks of all sources run, so none replaces another.
func (c *Config) keepHook(o option.Row) {
	i := slices.IndexFunc(c.Commands.Options(), func(row option.Row) bool { return row.Key == o.Key })
	from := c.sources[o.Key]
	if i < 0 || c.Commands.Hook[i] == "" || from.Kind != SourceUser && from.Kind != SourceProject {
		return
	}
	h := hooks.Hook{Point: hooks.Points()[i].Point, Command: c.Commands.Hook[i]}
	c.hooks = append(c.hooks, listed[hookRow]{row: hookRow{h, o.Key}, source: from})
}

// checkHookAgents returns an error for a hook that asks an agent which does not exist.
func (c *Config) checkHookAgents() error {
	for _, row := range c.hooks {
		h := row.row.hook
		if _, err := c.Spec(h.Agent); err != nil && h.Agent != "" {
			return &UsageError{row.source.Where, hooksKey + "." + string(h.Point) + ": " + err.Error()}
		}
	}
	return nil
}

// noPoint says why HOOK_NAME is not an option. nil: it is one, or has another name.
func noPoint(where, key string) error {
	name, isHook := strings.CutPrefix(key, "HOOK_")
	if !isHook {
		return nil
	}
	if _, err := hooks.Find(strings.ToLower(name)); err != nil {
		return &UsageError{where, key + ": " + err.Error()}
	}
	return nil
}

// hookClaim shows what a row decides about programs.
func hookClaim(h hooks.Hook) string { return hooksKey + "." + string(h.Point) + "=" + h.Describe() }

// hookFields are the keys of a row, in the order of the documents.
func hookFields(h *hooks.Hook) []option.Row {
	points := termtext.Each(hooks.Points(), func(p hooks.Row) string { return string(p.Point) })
	return []option.Row{
		{YAML: "hooks.point", Kind: option.Enum, Values: points,
			Help: "When it runs.", Field: (*string)(&h.Point)},
		{YAML: "hooks.type", Kind: option.Enum, Default: string(hooks.Shell),
			Values: texts(hooks.Types()...), Help: "`shell` runs a command, `agent` asks an agent.", Field: (*string)(&h.Type)},
		{YAML: "hooks.command", Kind: option.String, Help: "Command line for `sh -c`; of an agent, the same as `prompt`.", Field: &h.Command},
		{YAML: "hooks.prompt", Kind: option.String, Help: "What an agent is asked, on one line.", Field: &h.Prompt},
		{YAML: "hooks.agent", Kind: option.String, Help: "Who is asked; empty means the run's agent.", Field: &h.Agent},
		{YAML: "hooks.model", Kind: option.String,
			Help: "Model of the agent; empty means its own default, or the run's.", Field: &h.Model},
		{YAML: "hooks.timeout", Kind: option.Duration, Min: "1s", Max: "24h",
			Help: "Time that it may take; empty means one minute for a command, ten for an agent.", Field: &h.Timeout},
		{YAML: "hooks.on_failure", Kind: option.Enum, Default: string(hooks.WarnContinue),
			Values: texts(hooks.OnFailures()...),
			Help: "What ralph does when it fails: `warn_continue` shows it, `skip_task` puts the task aside, " +
				"`abort_loop` ends the run, `ask_agent` tells the agent in the next prompt.", Field: (*string)(&h.OnFailure)},
		{YAML: "hooks.when", Kind: option.List,
			Help: "Globs, as for checks: the hook runs only if the turn changed a file that matches one. " +
				"Works only at points after a turn.", Field: &h.When},
	}
}

// hookRows reads what stands under hooks: a list of rows, or for each point a command or a
// list of rows.
func (r *yamlReader) hookRows(node ast.Node) error {
	m, ok := node.(*ast.MappingNode)
	if !ok {
		return r.each(hooksKey, node, func(item ast.Node) error { return r.hook("", item) })
	}
	keys := map[string]bool{}
	for _, pair := range m.Values {
		name, err := r.key(pair.Key, keys)
		if err != nil {
			return err
		}
		if _, err := hooks.Find(name); err != nil {
			return r.refuse(pair.Key, hooksKey+": "+err.Error())
		}
		path := hooksKey + "." + name
		if _, plain := scalar(pair.Value); plain {
			if err := r.value(r.paths[path], path, pair.Value); err != nil {
				return err
			}
			continue
		}
		if err := r.each(path, pair.Value, func(item ast.Node) error { return r.hook(hooks.Point(name), item) }); err != nil {
			return err
		}
	}
	return nil
}

// hook reads one row of a point; empty: the row names it.
func (r *yamlReader) hook(p hooks.Point, node ast.Node) error {
	h := hooks.Hook{Point: p}
	first := node
	if command, plain := scalar(node); plain && option.Printable(command) {
		h.Command = command
	} else {
		var err error
		if first, err = r.row(hooksKey, hookFields(&h), node); err != nil {
			return err
		}
	}
	if h.Type == hooks.Agent && h.Prompt == "" {
		h.Prompt, h.Command = h.Command, ""
	}
	err := h.Validate()
	switch {
	case p != "" && h.Point != p:
		return r.refuse(first, hooksKey+"."+string(p)+": the row names another point, "+quote(string(h.Point)))
	case h.Point == "":
		return r.refuse(first, hooksKey+": the row names no point")
	case err != nil:
		return r.refuse(first, hooksKey+"."+string(h.Point)+": "+err.Error())
	}
	next := listed[hookRow]{row: hookRow{hook: h}, source: Source{r.kind, r.where(first)}}
	r.settings = append(r.settings, setting{row: func(c *Config) ([]Warning, error) {
		c.hooks = append(c.hooks, next)
		return nil, nil
	}})
	return nil
}
