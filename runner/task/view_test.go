package task

import (
	"reflect"
	"strings"
	"testing"
)

func viewList() List {
	return List{Tasks: []Task{
		{ID: "1", Title: "login", Section: "Users", Priority: 1, Tags: []string{"auth"}},
		{ID: "1.1", Title: "form", Depth: 1, Section: "Users", Priority: 2},
		{ID: "2", Title: "logout", Section: "Users", Priority: 3, Tags: []string{"auth", "ui"}},
		{ID: "3", Title: "mail", Category: "out", Priority: NoPriority, DependsOn: []string{"2"}},
		{ID: "4", Title: "later", Category: "out", Optional: true, Priority: NoPriority},
	}}
}

func TestSeen_views_leaveTheirTasks(t *testing.T) {
	for name, c := range map[string]struct {
		view   View
		want   string
		others int
	}{
		"all":                      {View{}, "1 1.1 2 3", 0},
		"task, with what is below": {View{Tasks: []string{"1"}}, "1 1.1", 2},
		"optional task by its id":  {View{Tasks: []string{"4"}}, "4", 4},
	} {
		t.Run(name, func(t *testing.T) {
			l := viewList()
			l.View = c.view
			l = l.ApplyView()
			var ids []string
			for _, task := range l.Tasks {
				if task.Required() {
					ids = append(ids, task.ID)
				}
			}
			if got := strings.Join(ids, " "); got != c.want || l.Others() != c.others || l.Total() != len(ids) {
				t.Errorf("%s and %d others of %d, want %s and %d", got, l.Others(), l.Total(), c.want, c.others)
			}
			if again := l.ApplyView(); !reflect.DeepEqual(again, l) {
				t.Errorf("another look changes it: %+v", again)
			}
		})
	}
}

func TestSeen_dependencyOutsideOfTheView_isAProblem(t *testing.T) {
	l := viewList()
	l.View = View{Tasks: []string{"3"}}
	l = l.ApplyView()
	want := `task "3" depends on "2", which is open and was not chosen; choose it, too`
	if got := l.Problems(); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	if got := l.Blocked(); len(got) != 1 || got[0].ID != "3" {
		t.Errorf("%+v", got)
	}
	l.Tasks[2].State = Done
	if next, ok := l.Next(); !ok || next.ID != "3" || len(l.Problems()) > 0 {
		t.Errorf("%+v %v", next, l.Problems())
	}
}

func TestIn_whatThePlanDoesNotHave_isRefusedWithWhatItHas(t *testing.T) {
	for name, c := range map[string]struct {
		view View
		want string
	}{
		"task":          {View{Tasks: []string{"T9"}}, `the plan has no task "T9"; see: ralph task list`},
		"several":       {View{Tasks: []string{"log"}}, `"log" can mean 1, 2; write the whole id`},
		"known by text": {View{Tasks: []string{"logi"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := viewList()
			got, err := c.view.In(l)
			switch {
			case c.want != "" && (err == nil || err.Error() != c.want):
				t.Errorf("%v, want %s", err, c.want)
			case c.want == "" && (err != nil || got.Tasks[0] != "1"):
				t.Errorf("%v %v", got, err)
			}
		})
	}
}
