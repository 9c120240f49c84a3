package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/state/option"
)

// This file reads what decides who works on a task and how its work is judged. A key or a value that ralph does not
// understand there is an error: whoever wrote it relies on it.

// field is a key with what it may hold.
type field struct {
	key, allowed string
	fits         func(gjson.Result) bool
}

func isText(v gjson.Result) bool { return v.Type == gjson.String && strings.TrimSpace(v.Str) != "" }

func isTexts(v gjson.Result) bool {
	return isText(v) || v.IsArray() && !slices.ContainsFunc(v.Array(), func(e gjson.Result) bool { return !isText(e) })
}

func within(low, high float64) func(gjson.Result) bool {
	return func(v gjson.Result) bool { return v.Type == gjson.Number && v.Num >= low && v.Num <= high }
}

func isWait(v gjson.Result) bool {
	d, err := time.ParseDuration(v.Str)
	return within(1, 24*60*60)(v) || v.Type == gjson.String && err == nil && d >= time.Second && d <= 24*time.Hour
}

func isProvider(v gjson.Result) bool { return isText(v) || v.IsObject() }

// judgeFields are the keys of a judge. roles reads them.
func judgeFields() []field {
	const words, truth = "a text", "true or false"
	return []field{
		{"name", words, isText}, {"persona", words, isText}, {"criteria", "a text or an array of texts", isTexts},
		{"agent", words, isText}, {"provider", "the name of an agent, or an object with provider and model", isProvider},
		{"model", words, isText},
		{"require_evidence", truth, gjson.Result.IsBool}, {"required", truth, gjson.Result.IsBool},
		{"weight", "a number from 0 to 1000", within(0, 1000)}, {"threshold", "a number from 1 to 100", within(1, 100)},
		{"timeout", "seconds, or a duration such as 2m, up to 24h", isWait},
	}
}

// check refuses the first key of an object that is not one of the fields, or has another value. null means that the key
// is not there.
func (r *reader) check(at string, o gjson.Result, fields []field) {
	o.ForEach(func(key, v gjson.Result) bool {
		i := slices.IndexFunc(fields, func(f field) bool { return sameKey(key.Str, f.key) })
		switch {
		case i < 0:
			known := termtext.Each(fields, func(f field) string { return f.key })
			line, _ := task.Position(r.data, key.Index)
			r.refuse(fmt.Errorf("%s (line %d): unknown key %q; known: %s", at, line, key.Str, strings.Join(known, ", ")))
		case v.Type != gjson.Null && !fields[i].fits(v):
			r.refuse(r.wrong(at+"."+key.Str, v, fields[i].allowed))
		}
		return r.refused == nil
	})
}

// misspelled refuses a key of an item that was probably meant to decide how the work is judged, and warns of one that
// was meant to say that it is done. Other unknown keys are those of other tools.
func (r *reader) misspelled(rec record) {
	for _, m := range rec.all {
		for _, f := range [...]field{
			{"judges", "", func(v gjson.Result) bool { return isText(v) || v.IsArray() || v.IsObject() }},
			{"evidence_path", "", isTexts}, {"acceptance_criteria", "", isTexts}, {"passes", "", gjson.Result.IsBool},
		} {
			if m.key == "" || m.key[0]|0x20 != f.key[0] || !f.fits(m.value) || sameKey(m.key, f.key) ||
				option.Nearest(plain(m.key), []string{plain(f.key)}) == "" {
				continue
			}
			line, _ := task.Position(r.data, m.value.Index)
			said := fmt.Sprintf("%s (line %d): unknown key %q; did you mean %s?", rec.place, line, m.key, f.key)
			if f.key == "passes" {
				r.Warnings = append(r.Warnings, said)
			} else {
				r.refuse(errors.New(said))
			}
		}
	}
}

// unread warns of keys that would protect a run if ralph read them there: nobody should rely on them.
func (r *reader) unread(at any, o object, whole bool) {
	for _, m := range o {
		if !m.value.IsArray() && !m.value.IsObject() && !isText(m.value) {
			continue
		}
		said, is := "", func(key string) bool { return sameKey(m.key, key) }
		switch {
		case whole && is("judges"):
			said = "of a whole plan: write it into each item, or into .ralph/config.yaml"
		case slices.ContainsFunc([]string{"checks", "hooks", "sandbox", "permissions", "permission_mode", "allowed_tools"}, is):
			said = "in a plan: write it into .ralph/config.yaml"
		default:
			continue
		}
		line, _ := task.Position(r.data, m.value.Index)
		r.Warnings = append(r.Warnings, fmt.Sprintf("%v (line %d): ralph reads no %q %s", at, line, m.key, said))
	}
}

// plain is a key in lower case, without what separates its words.
func plain(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

// refuse keeps the first reason for which the plan cannot be used.
func (r *reader) refuse(err error) {
	if r.refused == nil {
		r.refused = err
	}
}

// judges returns who should judge a task: names, and objects as JSON.
func (r *reader) judges(at place, v gjson.Result) (all []string) {
	one := func(_, judge gjson.Result) bool {
		if place := fmt.Sprintf("%s.judges[%d]", at, len(all)); judge.IsObject() {
			r.check(place, judge, judgeFields())
			r.choice(place, members(judge))
		} else if !isText(judge) {
			r.refuse(r.wrong(place, judge, "the name of a judge, or an object"))
		}
		all = append(all, text(judge))
		return r.refused == nil
	}
	switch {
	case v.Type == gjson.Null: // or missing
	case v.IsArray():
		v.ForEach(one)
	default:
		one(v, v)
	}
	return all
}

// choice reads agent and model, or a provider: its name, or an object with a
// name and a model. A provider's model goes to no other agent.
func (r *reader) choice(at any, o object) task.Choice {
	provider := o.get("provider")
	named := task.Choice{Agent: text(provider)}
	if provider.IsObject() {
		r.check(fmt.Sprintf("%v.provider", at), provider,
			[]field{{"name", "a text", isText}, {"provider", "a text", isText}, {"model", "a text", isText}})
		all := members(provider)
		named = task.Choice{Agent: text(all.first("name", "provider")), Model: text(all.get("model"))}
	}
	if mode := o.get("mode"); mode.Str == "plan" {
		r.refuse(r.wrong(fmt.Sprintf("%v.mode", at), mode, "left out: ralph has agents work, never only plan"))
	}
	return task.Choice{Agent: text(o.get("agent")), Model: text(o.get("model"))}.Or(named)
}
