package roles

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
)

// written is a judge that a plan describes as a JSON object. The reader of the plan has checked its keys and values.
func written(object string, rows []Reviewer) Reviewer {
	all := gjson.Parse(object)
	criteria := termtext.Each(all.Get("criteria").Array(), func(v gjson.Result) string { return v.Str })
	persona := all.Get("persona").Str
	name := cmp.Or(all.Get("name").Str, persona, strings.Join(criteria, "; "), object)
	r, err := find(name, rows)
	if err != nil {
		r = Reviewer{Name: termtext.Fit(termtext.Line(name), maxName), Persona: persona}
	}
	r.Criteria = append(r.Criteria, criteria...)
	provider := all.Get("provider")
	r.Agent = cmp.Or(all.Get("agent").Str, provider.Str, provider.Get("name").Str, provider.Get("provider").Str, r.Agent)
	r.Model = cmp.Or(all.Get("model").Str, provider.Get("model").Str, r.Model)
	r.RequireEvidence = r.RequireEvidence || all.Get("require_evidence").Bool() || all.Get("requireEvidence").Bool()
	r.Optional = r.Optional || all.Get("required").Type == gjson.False
	r.Weight = cmp.Or(all.Get("weight").Num, r.Weight)
	r.Threshold = cmp.Or(int(all.Get("threshold").Num), r.Threshold)
	wait, _ := time.ParseDuration(all.Get("timeout").Str)
	r.Timeout = cmp.Or(wait, time.Duration(all.Get("timeout").Num*float64(time.Second)), r.Timeout)
	return r
}
