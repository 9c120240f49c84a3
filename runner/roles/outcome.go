package roles

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
)

// Outcome is what a phase came to.
type Outcome struct {
	Verdicts []state.Verdict
	// Passed is true when nobody who is required refused, Missing names those of them who
	// gave no verdict.
	Passed  bool
	Missing []string
	Score   int // of the panel, by weight
	Scored  int // of the reviewers gave one
}

// Settle makes the outcome of the verdicts.
func Settle(all []state.Verdict) Outcome {
	o := Outcome{Verdicts: all, Passed: true}
	o.Score, o.Scored = state.PanelScore(all)
	for _, v := range all {
		none := v.Verdict == state.VerdictNone
		if none && !v.Optional {
			o.Missing = append(o.Missing, v.Name)
		}
		if !none && !v.Optional && !v.Passes() {
			o.Passed = false
		}
	}
	return o
}

// Summary is the outcome in one line.
func (o Outcome) Summary() string {
	names := termtext.Each(o.Verdicts, state.Verdict.Short)
	text := strings.Join(names, ", ")
	if o.Scored > 1 {
		text += fmt.Sprintf(" (score %d)", o.Score)
	}
	return text
}

// Result is one verdict as a plan stores it.
type Result struct {
	Judge   string   `json:"judge"`
	Agent   string   `json:"agent,omitempty"`
	Verdict string   `json:"verdict"`
	Score   int      `json:"score"`
	Passed  bool     `json:"passed"`
	Reasons []string `json:"reasons"`
}

// Results are the verdicts as a plan stores them.
func (o Outcome) Results(hide func(string) string) []Result {
	all := make([]Result, 0, len(o.Verdicts))
	for _, v := range o.Verdicts {
		v = v.Redacted(hide)
		r := Result{Judge: v.Name, Agent: v.Agent, Verdict: v.Verdict, Score: v.Score, Passed: v.Passes(),
			Reasons: []string{}}
		for _, why := range v.Reasons {
			r.Reasons = append(r.Reasons, why.String())
		}
		all = append(all, r)
	}
	return all
}

// Feedback is what the developer is told after a refusal, a block for each reviewer that has
// something to say.
func (o Outcome) Feedback() []string {
	var blocks []string
	for _, v := range o.Verdicts {
		if v.Verdict == state.VerdictNone || v.Passes() && len(v.Reasons) == 0 {
			continue
		}
		lines := []string{fmt.Sprintf("The reviewer %s %s", v.Name, opinion(v))}
		for _, r := range v.Reasons {
			lines = append(lines, "- "+r.String())
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return blocks
}

// opinion is how the reasons of a verdict begin.
func opinion(v state.Verdict) string {
	switch {
	case v.Passes():
		return "lets your work pass, with these remarks:"
	case v.Unasked() && v.Optional:
		return "was not asked. That does not hold your work up:"
	case v.Unasked():
		return "was not asked, and your work does not pass until it is:"
	case v.Optional:
		return "would not let your work pass. That does not hold it up, but look at its remarks:"
	case v.Verdict == state.VerdictPass:
		return fmt.Sprintf("looked at your work and finds it not good enough yet: %d of 100, and %d are needed. "+
			"Its reasons, in its own words:", v.Score, v.Threshold)
	case v.Verdict == state.VerdictConcerns:
		return "looked at your work and has concerns. They are, in its own words:"
	}
	return "looked at your work and refuses it. Its reasons, in its own words:"
}

// Refusals are the reasons of those who refused, in short.
func (o Outcome) Refusals() []string {
	var all []string
	for _, v := range o.Verdicts {
		if v.Verdict == state.VerdictNone || v.Passes() || v.Optional {
			continue
		}
		for _, r := range v.Reasons {
			all = append(all, v.Name+": "+r.String())
		}
	}
	return all
}

// Closed are the findings that the reviewers call justified: somebody says so, nobody who
// gave a verdict refuses, and all of them pass.
func (o Outcome) Closed() []state.Justified {
	if !o.Passed || len(o.Missing) > 0 {
		return nil
	}
	var all []state.Justified
	for _, v := range o.Verdicts {
		for _, j := range v.Justified {
			if !v.Optional && !slices.ContainsFunc(all,
				func(o state.Justified) bool { return o.Finding == j.Finding }) {
				all = append(all, j)
			}
		}
	}
	return all
}
