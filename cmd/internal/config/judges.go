package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ralph/runner/roles"
	"ralph/runner/task"
	"ralph/state/option"
)

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
