package state

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"ralph/logs/termtext"
)

// The words of a verdict.
const (
	VerdictPass     = "pass"
	VerdictConcerns = "concerns"
	VerdictFail     = "fail"
	VerdictNone     = "none" // the reviewer gave no answer that can be read
)

// Verdict is what one reviewer says about a task.
type Verdict struct {
	Name      string      `json:"name"` // qa, or that of a judge
	Agent     string      `json:"agent"`
	Model     string      `json:"model,omitempty"`
	Verdict   string      `json:"verdict"`             // pass, concerns, fail or none
	Score     int         `json:"score,omitempty"`     // 0 to 100
	Threshold int         `json:"threshold,omitempty"` // of the score; 0: the verdict alone counts
	Weight    float64     `json:"weight,omitempty"`    // in the panel's score; 0: not part of it
	Optional  bool        `json:"optional,omitempty"`  // it does not block
	Reasons   []Reason    `json:"reasons,omitempty"`
	Justified []Justified `json:"justified,omitempty"` // findings of the audit that it closes
	Why       string      `json:"why,omitempty"`       // there is no verdict, or it was not asked for
	Changed   []string    `json:"changed,omitempty"`   // files that it changed, which it may not: they are not kept
	Seconds   float64     `json:"seconds"`
	Usage     Usage       `json:"usage"`
}

// Reason is one reason of a verdict.
type Reason struct {
	Text string `json:"text"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // 0: not said
}

func (r Reason) String() string {
	switch {
	case r.File == "":
		return r.Text
	case r.Line > 0:
		return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Text)
	}
	return r.File + ": " + r.Text
}

// Justified is a finding of the audit that a reviewer calls justified.
type Justified struct {
	Finding string `json:"finding"` // its text
	Why     string `json:"why"`
}

// Passes reports whether the reviewer lets the task pass.
func (v Verdict) Passes() bool { return v.Verdict == VerdictPass && v.Score >= v.Threshold }

// Short is the verdict in a few words.
func (v Verdict) Short() string {
	if v.Verdict == VerdictPass && !v.Passes() {
		return fmt.Sprintf("%s: %d of 100, needs %d", v.Name, v.Score, v.Threshold)
	}
	text := v.Name + ": " + v.Verdict
	if v.Optional && !v.Passes() {
		text += " (not required, does not block)"
	}
	return text
}

// Unasked reports whether ralph refused for the reviewer, which was not asked.
func (v Verdict) Unasked() bool { return v.Verdict == VerdictFail && v.Why != "" }

// Line is the verdict in one line, for people.
func (v Verdict) Line() string {
	text := v.Name
	if v.Agent != "" { // else nobody was asked
		text += " (" + v.Agent + ")"
	}
	text += ": " + v.Verdict
	switch {
	case v.Verdict == VerdictNone:
		return text + ": " + v.Why
	case v.Threshold > 0:
		text += fmt.Sprintf(", %d of 100, needs %d", v.Score, v.Threshold)
	case v.Unasked():
		text += ", not asked"
	}
	if v.Optional {
		text += ", not required"
		if !v.Passes() {
			text += ", does not block"
		}
	}
	reasons := termtext.Each(v.Reasons, Reason.String)
	if len(v.Changed) > 0 {
		reasons = append(reasons, "it changed "+strings.Join(v.Changed, ", ")+", which is not kept")
	}
	if len(reasons) > 0 {
		text += ": " + strings.Join(reasons, "; ")
	}
	return text
}

// PanelScore is the score of all reviewers who gave one, by weight, and how many they are. It decides nothing.
func PanelScore(all []Verdict) (score, of int) {
	var sum, weight float64
	for _, v := range all {
		if v.Verdict != VerdictNone && v.Weight > 0 {
			sum, weight, of = sum+float64(v.Score)*v.Weight, weight+v.Weight, of+1
		}
	}
	if of == 0 {
		return 0, 0
	}
	return int(math.Round(sum / weight)), of
}

// VerdictLines are the verdicts of a phase for people, and the score of all if there are several.
func VerdictLines(all []Verdict) []string {
	lines := termtext.Each(all, Verdict.Line)
	if score, of := PanelScore(all); of > 1 {
		lines = append(lines, fmt.Sprintf("the panel, by weight: %d of 100", score))
	}
	return lines
}

// Redacted hides what hide finds in the words of the verdict.
func (v Verdict) Redacted(hide func(string) string) Verdict {
	v.Why = hide(v.Why)
	v.Reasons, v.Justified = append([]Reason(nil), v.Reasons...), append([]Justified(nil), v.Justified...)
	for i := range v.Reasons {
		v.Reasons[i].Text = hide(v.Reasons[i].Text)
	}
	for i := range v.Justified {
		v.Justified[i].Why = hide(v.Justified[i].Why)
	}
	return v
}

// Reviewing is where a task stands between developer and reviewers. The zero value: the
// developer works on it, and nothing was reviewed yet.
type Reviewing struct {
	Phase    string    `json:"phase,omitempty"`    // that comes next; empty: the developer
	Base     string    `json:"base,omitempty"`     // object id of the files before the first attempt; empty: not known
	Refused  int       `json:"refused,omitempty"`  // refusals in a row
	Judges   []string  `json:"judges,omitempty"`   // that the plan named when work began
	Verdicts []Verdict `json:"verdicts,omitempty"` // of the latest phase
	Kept     bool      `json:"kept,omitempty"`     // the work is kept for worktrees, and is not in the user's files

	// Run and Iteration are the developer's turn that is looked at. Zero: none is.
	Run       string `json:"run,omitempty"`
	Iteration int    `json:"iteration,omitempty"`
}

// Begun reports whether there is anything to remember.
func (r Reviewing) Begun() bool { return cmp.Or(r.Phase, r.Base) != "" || r.Refused > 0 }
