package roles

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
)

// Bounds of an answer.
const (
	maxReasons = 20
	maxReason  = 500  // runes
	maxAnswers = 1000 // places where one may begin
)

// NoReason stands for the reasons of a reviewer that gave none.
const NoReason = "the reviewer gave no reason"

// answer is the form of an answer.
type answer struct {
	Nonce    string   `json:"nonce"`
	Verdict  string   `json:"verdict"`
	Score    *float64 `json:"score"`
	Reasons  []reason `json:"reasons"`
	Findings []struct {
		N         int    `json:"n"`
		Justified bool   `json:"justified"`
		Why       string `json:"why"`
	} `json:"findings"`
}

// reason is an object, or only its text.
type reason struct {
	Text string `json:"text"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *reason) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &r.Text) == nil {
		return nil
	}
	type plain reason
	return json.Unmarshal(data, (*plain)(r))
}

// Read takes the verdict from a final message. The error says why there is none: the answer
// is the one object with the nonce. Two of them that differ are none.
func (r Reviewer) Read(final, nonce string, findings []string) (state.Verdict, error) {
	a, err := answerIn(final, nonce)
	if err != nil {
		return r.Silent(err.Error()), err
	}
	v := r.Silent("")
	v.Verdict, v.Score = a.Verdict, int(math.Round(*a.Score))
	for _, one := range a.Reasons[:min(len(a.Reasons), maxReasons)] {
		if text := termtext.Fit(termtext.Line(one.Text), maxReason); text != "" {
			file := termtext.Fit(termtext.Line(one.File), maxReason)
			v.Reasons = append(v.Reasons, state.Reason{Text: text, File: file, Line: max(one.Line, 0)})
		}
	}
	for _, f := range a.Findings {
		if why := termtext.Line(f.Why); f.Justified && why != "" && f.N >= 1 && f.N <= len(findings) {
			v.Justified = append(v.Justified, state.Justified{Finding: findings[f.N-1],
				Why: termtext.Fit(why, maxReason)})
		}
	}
	if v.Verdict != state.VerdictPass && len(v.Reasons) == 0 {
		v.Reasons = []state.Reason{{Text: NoReason}}
	}
	if v.Verdict == state.VerdictPass && v.Score < v.Threshold && len(v.Reasons) == 0 {
		v.Reasons = []state.Reason{{Text: fmt.Sprintf("the score %d is below %d", v.Score, v.Threshold)}}
	}
	return v, nil
}

// Silent is the verdict of a reviewer that gave none.
func (r Reviewer) Silent(why string) state.Verdict {
	return state.Verdict{Name: r.Name, Weight: r.weight(), Threshold: r.threshold(), Optional: r.Optional,
		Verdict: state.VerdictNone, Why: why}
}

// Without is the verdict on a task that cannot pass, whatever the reviewer would say.
func (r Reviewer) Without(reason string) state.Verdict {
	v := r.Silent("the reviewer was not asked")
	v.Verdict, v.Reasons = state.VerdictFail, []state.Reason{{Text: reason}}
	v.Weight, v.Threshold = 0, 0 // it gave no score
	return v
}

// answerIn finds the answer in a final message.
func answerIn(final, nonce string) (answer, error) {
	var found []answer
	var broken error
	left := maxAnswers
	for at := len(final); left > 0; left-- {
		if at = strings.LastIndexByte(final[:at], '{'); at < 0 {
			break
		}
		var a answer
		d := json.NewDecoder(strings.NewReader(final[at:]))
		if err := d.Decode(&a); err != nil || a.Nonce != nonce || nonce == "" {
			continue
		}
		if err := a.valid(); err != nil {
			broken = err
			continue
		}
		if rest := strings.Trim(final[at+int(d.InputOffset()):], " \t\r\n`"); len(found) == 0 && rest != "" {
			return answer{}, errors.New("there is text after the JSON object")
		}
		found = append(found, a)
	}
	switch {
	case broken != nil:
		return answer{}, broken
	case len(found) == 0:
		return answer{}, errors.New("it has no JSON object with the nonce")
	case slices.ContainsFunc(found, func(a answer) bool {
		return a.Verdict != found[0].Verdict ||
			*a.Score != *found[0].Score
	}):
		return answer{}, errors.New("it has two verdicts that differ")
	}
	return found[0], nil
}

func (a *answer) valid() error {
	a.Verdict = strings.ToLower(strings.TrimSpace(a.Verdict))
	switch {
	case !slices.Contains([]string{state.VerdictPass, state.VerdictConcerns, state.VerdictFail}, a.Verdict):
		return fmt.Errorf("the verdict is %q, not pass, concerns or fail", termtext.Fit(termtext.Line(a.Verdict), 40))
	case a.Score == nil || *a.Score < 0 || *a.Score > 100:
		return errors.New("the score is not a number from 0 to 100")
	}
	return nil
}
