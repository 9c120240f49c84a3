package records

import (
	"maps"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// The keys for what judges and checks said about a task.
const (
	JudgeResults      = "judge_results"
	ValidationResults = "validation_results"
)

// results returns the places of results in a record that has judges or earlier results.
func (r *reader) results(rec record) (places map[string]task.Place) {
	judged := rec.all.get("judges").Exists()
	for _, key := range []string{JudgeResults, ValidationResults} {
		v := rec.all.get(key)
		if !judged && !v.Exists() {
			continue
		}
		at := task.Place{Range: r.span(v), Words: map[task.State]string{task.Done: ""}}
		if !v.Exists() {
			at = r.insertion(rec.value, at.Words, key)
		}
		if places == nil {
			places = map[string]task.Place{}
		}
		places[key] = at
	}
	return places
}

// stamps adds the places of times that a change of state updates, if the record has them.
func (r *reader) stamps(all object, spot *task.Spot) {
	if !all.get("updated_at").Exists() && !all.get("completed_at").Exists() {
		return
	}
	now, always := `"`+task.Now+`"`, map[task.State]string{}
	for s := range r.words.Write {
		always[s] = now
	}
	back := maps.Clone(always)
	for s := range back {
		back[s] = "null"
	}
	back[task.Done] = now
	for key, words := range map[string]map[task.State]string{"updated_at": always, "completed_at": back} {
		if v := all.get(key); v.Exists() && (v.Type == gjson.String || v.Type == gjson.Null) {
			spot.States = append(spot.States, task.Place{Range: r.span(v), Words: words, Final: key == "completed_at"})
		}
	}
}
