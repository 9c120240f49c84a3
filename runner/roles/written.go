package roles

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
)

// longestWait bounds the timeout that a plan can ask for.
const longestWait = 24 * time.Hour

// written is a judge that a plan describes as a JSON object. A value of another kind counts as not
// there: a plan that is written loosely must not lose a judge.
func written(object string, rows []Reviewer) Reviewer {
	all := gjson.Parse(object)
	get := func(kind gjson.Type, names ...string) (none gjson.Result) {
		for _, name := range names {
			if v := all.Get(name); v.Type == kind {
				return v
			}
		}
		return none
	}
	var criteria []string
	for _, v := range all.Get("criteria").Array() {
		if v.Type == gjson.String && v.Str != "" {
			criteria = append(criteria, v.Str)
		}
	}
	persona := get(gjson.String, "persona").Str
	name := cmp.Or(get(gjson.String, "name").Str, persona, strings.Join(criteria, "; "), object)
	r, err := find(name, rows)
	if err != nil {
		r = Reviewer{Name: termtext.Fit(termtext.Line(name), maxName), Persona: persona}
	}
	r.Criteria = append(r.Criteria, criteria...)
	r.Agent = cmp.Or(get(gjson.String, "agent", "provider").Str, r.Agent)
	r.Model = cmp.Or(get(gjson.String, "model").Str, r.Model)
	r.RequireEvidence = r.RequireEvidence || get(gjson.True, "require_evidence", "requireEvidence").Bool()
	r.Optional = r.Optional || all.Get("required").Type == gjson.False
	r.Weight = cmp.Or(max(get(gjson.Number, "weight").Num, 0), r.Weight)
	r.Threshold = cmp.Or(int(min(max(get(gjson.Number, "threshold").Num, 0), 100)), r.Threshold)
	wait, _ := time.ParseDuration(get(gjson.String, "timeout").Str)
	if seconds := get(gjson.Number, "timeout").Num; seconds > 0 {
		wait = time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
	}
	r.Timeout = cmp.Or(min(max(wait, 0), longestWait), r.Timeout)
	return r
}
