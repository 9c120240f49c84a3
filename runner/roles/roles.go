// Package roles knows who a run asks about a task besides its developer: a table of
// roles, the judges and their personas, what each is asked, and how its answer is read.
//
//	task + what was done --> Question: a prompt with a nonce
//	final message + nonce --> Answer: verdict, score, reasons, findings
//
// It is pure: no files, no processes.
package roles

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The roles, as events name them.
const (
	Developer = "developer"
	QA        = "qa"
	Judge     = "judge"
)

// Events name these two like roles, but they are no rows of Table, because nothing would read their columns.
const (
	// Merger is the developer when its kept work conflicts with what has landed. The prompt, what it may write and what
	// follows are the developer's; a block of feedback names the files. It shows only when a slot begins the turn,
	// after the run has assigned it.
	Merger = "merger"
	// Merge is nobody: the merge queue runs the checks and calls no agent.
	Merge = "merge"
)

// The phases that a task passes through after its developer.
const (
	PhaseQA     = "qa"
	PhaseJudges = "judges"
)

// Role is a row of the table of roles: all that the program knows about it. Add a row, and a run asks it.
type Role struct {
	Name string
	// Phase is the phase in which it looks at a task; empty: it does the work.
	Phase string
	// Title is what people call its only reviewer; empty: its reviewers have names of their own.
	Title  string
	Writes Writes
	// Who are its reviewers for a task; none: the task skips the phase. Nil for a role that does the work.
	Who func(Review, Asking) []Reviewer
	// Prompt is what a reviewer of the role is asked. The last parameter is the nonce. Nil: the user's prompt.
	Prompt func(Case, Reviewer, string) string
	// Asked, Agent and Fails are its cells in docs/review.md: when a run asks it, which agent it is, and what
	// follows when it refuses.
	Asked, Agent, Fails string
}

// Single reports whether the role has one reviewer at most.
func (r Role) Single() bool { return r.Title != "" }

// Reviews reports whether the role looks at the work of another.
func (r Role) Reviews() bool { return r.Phase != "" }

// Writes is what a role may write.
type Writes string

// What a role may write, as docs/review.md says it.
const (
	Nothing    Writes = "nothing"
	TheReport  Writes = "nothing; in AIOS its report"
	TheProject Writes = "the project"
)

// Table lists the roles in the order of their phases.
func Table() []Role {
	return []Role{
		{Name: Developer, Writes: TheProject, Asked: "always", Agent: "`AGENT`"},
		{Name: QA, Phase: PhaseQA, Title: "QA", Writes: TheReport, Who: Review.qa, Prompt: judging(whole),
			Asked: "`QA=true` (`--qa`); stories of AIOS",
			Agent: "`QA_AGENT`, else another vendor's agent", Fails: "the developer gets the reasons"},
		{Name: Judge, Phase: PhaseJudges, Writes: Nothing, Who: Review.judges, Prompt: judging(persona),
			Asked: "`JUDGES`, `judges:` in `config.yaml`, or the task names it (`judges` of a PRD item)",
			Agent: "its `agent`, else another vendor's",
			Fails: "the developer gets the reasons, if the judge is required"},
	}
}

// ByPhase is the role that looks at a task in a phase.
func ByPhase(phase string) Role {
	i := slices.IndexFunc(Table(), func(r Role) bool { return r.Phase == phase })
	return Table()[max(i, 0)]
}

// Reviewer is a row: somebody who looks at the work of another. All but Name may be zero; the
// comments say what that means.
type Reviewer struct {
	Name            string        // unique
	Persona         string        // of the table of personas, or words of the user's own; empty: Name
	Criteria        []string      // what it checks besides
	Agent           string        // empty: another vendor than the author's, if one is installed
	AgentFrom       string        // the option that names Agent; empty: none does
	Model           string        // empty: the agent's own default
	RequireEvidence bool          // without evidence files the task does not pass
	Optional        bool          // its refusal is only shown
	Weight          float64       // in the panel's score; 0: 1
	Threshold       int           // of its score; 0: DefaultThreshold
	Timeout         time.Duration // 0: DefaultTimeout
}

// What holds for a reviewer whose row does not say it.
const (
	DefaultThreshold = 70
	DefaultTimeout   = 10 * time.Minute
)

// Validate says in one line what is wrong with a row.
func (r Reviewer) Validate() error {
	switch {
	case strings.TrimSpace(r.Name) == "":
		return fmt.Errorf("a judge needs a name")
	case len(r.Persona) > maxWords:
		return fmt.Errorf("the persona of %q has more than %d bytes", r.Name, maxWords)
	case r.Model != "" && r.Agent == "":
		return fmt.Errorf("the judge %q has a model, but no agent whose model it is", r.Name)
	}
	return nil
}

const maxWords = 4 << 10

// Describe is the row in one line.
func (r Reviewer) Describe() string {
	text := r.Name
	if r.Persona != "" && r.Persona != r.Name {
		text += "; persona: " + r.Persona
	}
	for _, c := range r.Criteria {
		text += "; " + c
	}
	if r.Agent != "" {
		text += "; agent: " + strings.TrimSpace(r.Agent+" "+r.Model)
	}
	return text
}

// Bound is how long a call of the reviewer may take.
func (r Reviewer) Bound() time.Duration { return cmp.Or(r.Timeout, DefaultTimeout) }

// What holds when the row does not say it.
func (r Reviewer) weight() float64          { return cmp.Or(r.Weight, 1) }
func (r Reviewer) threshold() int           { return cmp.Or(r.Threshold, DefaultThreshold) }
func (r Reviewer) persona() (Persona, bool) { return FindPersona(cmp.Or(r.Persona, r.Name)) }

// Named finds the judges of these names: rows, or built-in personas. The error lists the
// known names.
func Named(names []string, rows []Reviewer) ([]Reviewer, error) {
	var all []Reviewer
	for _, name := range names {
		r, err := find(name, rows)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(o Reviewer) bool { return Same(o.Name, r.Name) }) {
			all = append(all, r)
		}
	}
	return all, nil
}

func find(name string, rows []Reviewer) (Reviewer, error) {
	var known []string
	for _, r := range rows {
		if Same(r.Name, name) {
			return r, nil
		}
		known = append(known, r.Name)
	}
	if p, ok := FindPersona(name); ok {
		return Reviewer{Name: p.Name}, nil
	}
	for _, p := range Personas() {
		known = append(known, p.Key+" ("+p.Name+")")
	}
	return Reviewer{}, fmt.Errorf("%q is not a judge; known are %s", name, strings.Join(known, ", "))
}

// Same reports whether two names mean the same judge: as people type them, and a built-in judge has two.
func Same(a, b string) bool {
	p, known := FindPersona(a)
	q, _ := FindPersona(b)
	return plain(a) == plain(b) || known && p == q
}

func plain(name string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(strings.TrimSpace(name)))
}
