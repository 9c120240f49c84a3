package roles

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"ralph/config/option"
	"ralph/logs/termtext"
	"ralph/runner/task"
)

// Review is what a user can say about reviewers.
type Review struct {
	QA             bool
	QAAgent        string   // empty: another vendor than the author's, if one is installed
	Judges         []string // names of rows or personas; empty: all rows
	JudgesFailFast bool     // one after the other, up to the first refusal
}

// Options are the rows of the option table that fill o.
func (o *Review) Options() []option.Row {
	return []option.Row{{
		Group: "Review", Key: "QA", Flag: "qa", YAML: "review.qa",
		Kind: option.Bool, Default: "false", Field: &o.QA,
		Help: "Let another agent review each task before it counts as done.",
	}, {
		Group: "Review", Key: "QA_AGENT", YAML: "review.qa_agent",
		Kind: option.String, Field: &o.QAAgent,
		Help: "Agent that reviews; empty means one of another vendor than the author's, if one is installed.",
	}, {
		Group: "Review", Key: "JUDGES", Flag: "judges", Arg: "LIST", YAML: "review.judges",
		Kind: option.List, Field: &o.Judges,
		Help: "Judges that look at each task before it counts as done: qa, security, ux, performance, architecture, or names under judges: in config.yaml; empty means all of the latter.",
	}, {
		Group: "Review", Key: "JUDGES_FAIL_FAST", YAML: "review.fail_fast",
		Kind: option.Bool, Default: "false", Field: &o.JudgesFailFast,
		Help: "Ask the judges one after the other, up to the first refusal; otherwise all at once.",
	}}
}

// qa is the reviewer of the QA phase.
func (o Review) qa() Reviewer { return Reviewer{Name: QA, Agent: o.QAAgent} }

// For says which phases a task goes through. named are the judges that the plan gave it when
// work on it began, rows those of config.yaml.
func (o Review) For(t task.Task, named []string, rows []Reviewer) Plan {
	var p Plan
	if t.ID == "" {
		return p
	}
	if o.QA {
		p.QA = []Reviewer{o.qa()}
	}
	names := slices.Clone(o.Judges)
	if len(names) == 0 {
		for _, r := range rows {
			names = append(names, r.Name)
		}
	}
	for _, name := range slices.Concat(names, named, t.Judges) {
		r := row(name, rows)
		if r.Name != "" && !slices.ContainsFunc(p.Judges, func(o Reviewer) bool { return same(o.Name, r.Name) }) {
			p.Judges = append(p.Judges, r)
		}
	}
	return p
}

// row is a judge by its name, or by what a plan says about it.
func row(name string, rows []Reviewer) Reviewer {
	if r, err := find(name, rows); err == nil {
		return r
	}
	if strings.HasPrefix(name, "{") {
		return written(name, rows)
	}
	return Reviewer{Name: termtext.Fit(termtext.Line(name), maxName)}
}

const maxName = 80 // runes

// written is a judge that a plan describes as a JSON object.
func written(text string, rows []Reviewer) Reviewer {
	var j struct {
		Name, Persona, Agent, Provider, Model string
		Criteria                              []string
		RequireEvidence                       bool `json:"require_evidence"`
		Required                              *bool
		Weight                                float64
		Threshold                             int
	}
	if json.Unmarshal([]byte(text), &j) != nil {
		return Reviewer{}
	}
	r, err := find(cmp.Or(j.Name, j.Persona), rows)
	if err != nil {
		r = Reviewer{Name: termtext.Fit(termtext.Line(cmp.Or(j.Name, j.Persona)), maxName), Persona: j.Persona}
	}
	r.Criteria, r.Agent, r.Model = append(r.Criteria, j.Criteria...), cmp.Or(j.Agent, j.Provider,
		r.Agent), cmp.Or(j.Model, r.Model)
	r.RequireEvidence, r.Optional = r.RequireEvidence || j.RequireEvidence, r.Optional || j.Required != nil &&
		!*j.Required
	r.Weight, r.Threshold = cmp.Or(max(j.Weight, 0), r.Weight), cmp.Or(min(max(j.Threshold, 0), 100), r.Threshold)
	return r
}
