package roles

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/lazy"
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
	Score    *number  `json:"score"`
	Reasons  []reason `json:"reasons"`
	Findings []struct {
		N         number `json:"n"`
		Justified bool   `json:"justified"`
		Why       string `json:"why"`
	} `json:"findings"`
}

// number is a number, also in quotes.
type number float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(data []byte) error {
	value, err := strconv.ParseFloat(strings.Trim(string(data), `" `), 64)
	if *n = number(value); err != nil && string(data) != "null" {
		return fmt.Errorf("%s is not a number", termtext.Fit(string(data), 40))
	}
	return nil
}

// reason is an object, or only its text.
type reason struct {
	Text string `json:"text"`
	File string `json:"file"`
	Line number `json:"line"`
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
	v.Verdict, v.Score = a.Verdict, int(math.Round(float64(*a.Score)))
	for _, one := range a.Reasons[:min(len(a.Reasons), maxReasons)] {
		if text := termtext.Fit(termtext.Line(one.Text), maxReason); text != "" {
			file := termtext.Fit(termtext.Line(one.File), maxReason)
			v.Reasons = append(v.Reasons, state.Reason{Text: text, File: file, Line: max(int(one.Line), 0)})
		}
	}
	for _, f := range a.Findings {
		if why, n := termtext.Line(f.Why), int(f.N); f.Justified && why != "" && n >= 1 && n <= len(findings) {
			v.Justified = append(v.Justified, state.Justified{Finding: findings[n-1],
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

// comma matches one before the end of an object or a list, which JSON does not allow and people write.
var comma = lazy.Regexp(`,(\s*[}\]])`)

// decode reads the object at the start of a text, and returns what follows it.
func (a *answer) decode(text string) (rest string, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	if err = d.Decode(a); err != nil {
		return "", err
	}
	return text[d.InputOffset():], nil
}

// answerIn finds the answer in a final message. The error says what is wrong with it, so that it can be put right.
func answerIn(final, nonce string) (answer, error) {
	var found []answer
	var broken error
	left := maxAnswers
	for at := len(final); left > 0; left-- {
		if at = strings.LastIndexByte(final[:at], '{'); at < 0 || nonce == "" {
			break
		}
		var a answer
		rest, err := a.decode(final[at:])
		if err != nil && strings.Contains(final[at:], nonce) {
			first := err
			if rest, err = a.decode(comma().ReplaceAllString(final[at:], "$1")); err != nil && broken == nil {
				broken = fmt.Errorf("its JSON object cannot be read: %w", first)
			}
		}
		if err != nil || a.Nonce != nonce {
			continue
		}
		if err := cmp.Or(a.valid(), a.final(rest, len(found) > 0)); err != nil {
			return answer{}, err
		}
		found = append(found, a)
	}
	switch {
	case len(found) == 0 && broken != nil:
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

// closing matches what people say after a verdict without taking it back. Anything else may do so, in any language.
var closing = lazy.Regexp(`(?i)^([\s.!,*_~\x60"'\]})-]` +
	`|(this is|that is|that['’]s) my (final )?(verdict|answer|review|judge?ment|assessment)\b` +
	`|(this|that) (concludes|completes) (my|the) (review|assessment)\b` +
	`|(all )?done\b|(the )?review is (complete|done|finished)\b|end of (my |the )?(review|answer)\b|i hope (this|that|it) helps\b` +
	`|thank(s| you)( very much| for your (time|patience|work))?\b` +
	`|(please )?let me know if you (have|need|want) (anything else|(any |more |further )*(details?|questions?|information))\b)*$`)

// final refuses text after the object that may take the verdict back. A closing sentence does not. repeated is true if
// the answer stands once more below.
func (a *answer) final(rest string, repeated bool) error {
	if !repeated && a.Verdict == state.VerdictPass && !closing().MatchString(rest) {
		return errors.New("there is text after the JSON object, which may take its verdict back")
	}
	return nil
}

func (a *answer) valid() error {
	a.Verdict = strings.ToLower(strings.TrimSpace(a.Verdict))
	switch {
	case !slices.Contains([]string{state.VerdictPass, state.VerdictConcerns, state.VerdictFail}, a.Verdict):
		return fmt.Errorf("the verdict is %q, not pass, concerns or fail", termtext.Fit(termtext.Line(a.Verdict), 40))
	case a.Score == nil || !(*a.Score >= 0 && *a.Score <= 100): // NaN compares with nothing
		return errors.New("the score is not a number from 0 to 100")
	}
	return nil
}
