package records

import (
	"maps"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// results returns the place of "judge_results" in a record that has judges or earlier results.
func (r *reader) results(rec record) task.Place {
	switch v := rec.all.get("judge_results"); {
	case v.Exists():
		return task.Place{Range: r.span(v), Words: map[task.State]string{task.Done: ""}}
	case rec.all.get("judges").Exists():
		return r.insertion(rec.value, map[task.State]string{task.Done: ""}, "judge_results")
	}
	return task.Place{}
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
