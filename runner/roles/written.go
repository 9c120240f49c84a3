package roles

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
)

// written is a judge that a plan describes as a JSON object. A value of another kind counts as not
// there: a plan that is written loosely must not lose a judge.
func written(text string, rows []Reviewer) Reviewer {
	var j struct {
		Name, Persona, Agent, Provider, Model string
		Criteria                              lines
		RequireEvidence                       bool `json:"require_evidence"`
		Required                              any
		Weight, Threshold                     float64
		Timeout                               wait
	}
	_ = json.Unmarshal([]byte(text), &j) // what fits has been read
	name := cmp.Or(j.Name, j.Persona, strings.Join(j.Criteria, "; "), text)
	r, err := find(name, rows)
	if err != nil {
		r = Reviewer{Name: termtext.Fit(termtext.Line(name), maxName), Persona: j.Persona}
	}
	r.Criteria, r.Agent, r.Model = append(r.Criteria, j.Criteria...), cmp.Or(j.Agent, j.Provider, r.Agent),
		cmp.Or(j.Model, r.Model)
	r.RequireEvidence = r.RequireEvidence || j.RequireEvidence
	r.Optional = r.Optional || j.Required == false
	r.Weight = cmp.Or(max(j.Weight, 0), r.Weight)
	r.Threshold = cmp.Or(int(min(max(j.Threshold, 0), 100)), r.Threshold)
	r.Timeout = cmp.Or(time.Duration(j.Timeout), r.Timeout)
	return r
}

// lines are a list of texts, or one text.
type lines []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lines) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil && one != "" {
		*l = lines{one}
		return nil
	}
	_ = json.Unmarshal(data, (*[]string)(l)) // what fits has been read
	*l = slices.DeleteFunc(*l, func(line string) bool { return line == "" })
	return nil
}

// wait is a number of seconds, or a text such as 5m.
type wait time.Duration

// longestWait bounds what a plan can ask for.
const longestWait = 24 * time.Hour

// UnmarshalJSON implements json.Unmarshaler.
func (w *wait) UnmarshalJSON(data []byte) error {
	var seconds float64
	var text string
	switch {
	case json.Unmarshal(data, &seconds) == nil:
		seconds = min(max(seconds, 0), longestWait.Seconds())
		text = time.Duration(seconds * float64(time.Second)).String()
	case json.Unmarshal(data, &text) != nil:
		return nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		*w = wait(min(max(d, 0), longestWait))
	}
	return nil
}
