package roles

import (
	"cmp"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state/option"
)

// Review is what a user can say about reviewers.
type Review struct {
	QA      bool
	QAAgent string   // empty: another vendor than the author's, if one is installed
	Judges  []string // names of rows or personas; empty: all rows
}

// Options are the rows of the option table that fill o.
func (o *Review) Options() []option.Row {
	return []option.Row{{
		Group: "Review", Key: "QA", Flag: "qa", YAML: "review.qa",
		Kind: option.Bool, Default: "false", Field: &o.QA, Weakens: func(own, value string) bool {
			return own == "true" && value != own
		},
		Help: "Let another agent review each task before it counts as done: " +
			"it finds wrong code that no test notices, for about one more call per task.",
	}, {
		Group: "Review", Key: "QA_AGENT", YAML: "review.qa_agent",
		Kind: option.String, Field: &o.QAAgent,
		Help: "Agent that reviews; empty means an agent from another vendor than the author's, if one is installed.",
	}, {
		Group: "Review", Key: "JUDGES", Flag: "judges", Arg: "LIST", YAML: "review.judges",
		Kind: option.List, Full: true, What: "a comma list of names without an empty entry", Field: &o.Judges,
		Weakens: fewer,
		Help: "Judges that look at each task before it counts as done: qa, security, ux, performance, " +
			"architecture, or names under judges: in config.yaml; empty means all of those in config.yaml.",
	}}
}

// fewer reports whether a list of judges leaves out one of the user's own.
func fewer(own, value string) bool {
	names := strings.Split(value, ",")
	return slices.ContainsFunc(strings.Split(own, ","), func(judge string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return Same(name, judge) })
	})
}

// qa is the reviewer of the QA phase; none: the task does not go through it.
func (o Review) qa(a Asking) []Reviewer {
	if !o.QA && !a.Project {
		return nil
	}
	return []Reviewer{{Name: QA, Agent: o.QAAgent, AgentFrom: "QA_AGENT"}}
}

// judges are the reviewers of the judges' phase.
func (o Review) judges(a Asking) (all []Reviewer) {
	names := slices.Clone(o.Judges)
	if len(names) == 0 {
		for _, r := range a.Rows {
			names = append(names, r.Name)
		}
	}
	for _, name := range slices.Concat(names, a.Named, a.Task.Judges) {
		r := row(name, a.Rows)
		if r.Name != "" && !slices.ContainsFunc(all, func(o Reviewer) bool { return Same(o.Name, r.Name) }) {
			all = append(all, r)
		}
	}
	return all
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

// Misspelled returns the single word that a plan has as a judge, and the built-in judge that it probably means; empty:
// it means what it says.
func Misspelled(judge string, rows []Reviewer) (word, meant string) {
	r := row(judge, rows)
	_, other := find(r.Name, rows)
	word = strings.TrimSpace(cmp.Or(r.Persona, r.Name))
	if _, known := FindPersona(word); known || other == nil || len(r.Criteria) > 0 || strings.Contains(word, " ") {
		return "", ""
	}
	keys := termtext.Each(Personas(), func(p Persona) string { return p.Key })
	return word, option.Nearest(strings.ToLower(word), keys)
}

const maxName = 80 // runes
