package crew

import (
	"strings"
	"testing"

	"ralph/runner/task"
)

// plan makes tasks of words: a [P] task ends with "*", one that is done with "+", and "b<a" depends on a.
func plan(words string) task.List {
	var list task.List
	for _, word := range strings.Fields(words) {
		t := task.Task{Parallel: strings.HasSuffix(word, "*")}
		if strings.HasSuffix(word, "+") {
			t.State = task.Done
		}
		var on string
		t.ID, on, _ = strings.Cut(strings.TrimRight(word, "*+"), "<")
		if on != "" {
			t.DependsOn = strings.Split(on, ",")
		}
		if phase := strings.IndexByte(t.ID, '.'); phase > 0 {
			t.Phase = int(t.ID[0] - '0')
		}
		list.Tasks = append(list.Tasks, t)
	}
	return list
}

func TestNext_besideOthers(t *testing.T) {
	tests := map[string]struct {
		plan, busy string
		any        bool
		out, want  string
	}{
		"nothing runs: the first":                   {plan: "a b", want: "a"},
		"unmarked plan: one after the other":        {plan: "a b", busy: "a"},
		"unmarked plan, all allowed":                {plan: "a b", busy: "a", any: true, want: "b"},
		"marked tasks":                              {plan: "a* b*", busy: "a", want: "b"},
		"a marked one beside an unmarked one":       {plan: "a b*", busy: "a"},
		"an unmarked one beside a marked one":       {plan: "a* b", busy: "a"},
		"nothing passes an open unmarked one":       {plan: "a* b c*", busy: "a"},
		"a finished unmarked one is not a wall":     {plan: "a* b+ c*", busy: "a", want: "c"},
		"dependencies say what may run":             {plan: "a b<a c", busy: "a", want: "c"},
		"a busy task is not done":                   {plan: "a* b*<a", busy: "a"},
		"the next phase waits":                      {plan: "1.a* 1.b* 2.c*", busy: "1.a 1.b"},
		"the same phase does not":                   {plan: "1.a* 1.b* 2.c*", busy: "1.a", want: "1.b"},
		"put aside":                                 {plan: "a* b* c*", busy: "a", out: "b", want: "c"},
		"one put aside that is unmarked is a wall":  {plan: "a* b c*", busy: "a", out: "b"},
		"put aside while nothing runs":              {plan: "a b", out: "a", want: "b"},
		"all are busy":                              {plan: "a* b*", busy: "a b"},
		"an unmarked task runs although others may": {plan: "a b* c*", busy: "a"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			busy := map[string]bool{}
			for id := range strings.FieldsSeq(c.busy) {
				busy[id] = true
			}
			list := plan(c.plan)
			r := BesideRule{Busy: busy, Any: c.any, Skip: func(t task.Task) bool { return t.ID == c.out }}
			got, ok := r.Next(list)
			if got.ID != c.want || ok != (c.want != "") {
				t.Errorf("%q, %v; want %q", got.ID, ok, c.want)
			}
			if ok && got.State != task.Open {
				t.Errorf("its state is %v", got.State)
			}
			for i, t2 := range plan(c.plan).Tasks {
				if list.Tasks[i].State != t2.State {
					t.Errorf("the plan itself was changed: %+v", list.Tasks[i])
				}
			}
		})
	}
}

func TestSilent_planWithoutMarks_isSaid(t *testing.T) {
	for want, lists := range map[bool][][]task.Task{
		true:  {{{ID: "1"}, {ID: "2"}}, {{ID: "1"}, {ID: "2"}, {ID: "3", Parallel: true, State: task.Done}}},
		false: {nil, {{ID: "1"}}, {{ID: "1"}, {ID: "2", Parallel: true}}, {{ID: "1"}, {ID: "2", DependsOn: []string{"1"}}}},
	} {
		for _, all := range lists {
			if got := Silent(task.List{Tasks: all}); got != want {
				t.Errorf("%+v: %v", all, got)
			}
		}
	}
}
