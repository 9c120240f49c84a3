package store

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
)

func TestList_survivesJSON(t *testing.T) {
	for name, text := range map[string]string{
		"fix_plan.md": "<!-- ralph: agent=codex model=a -->\n# Later\n\n- [ ] T1 Build it <!-- ralph: agent=claude -->\n  more\n  - fast\n" +
			"    and small\n  - [x] a < b & \"ü\"\n- [] odd\n\n# Next\n\n- [ ] second\n",
		"prd.json": `{"project": "p", "description": "d", "agent": "codex", "userStories": [
			{"id": "US-1", "title": "one", "description": "x", "acceptanceCriteria": ["a", "b\nc"], "priority": 2, "passes": true,
			"notes": "n", "dependsOn": ["US-2"], "model": "m"}, {"id": "US-2", "passes": false, "acceptanceCriteria": []}]}`,
		"empty.md": "",
	} {
		t.Run(name, func(t *testing.T) {
			want, err := Parse(name, []byte(text), []string{"later"})
			if err != nil {
				t.Fatal(err)
			}
			want.Path = "/a/" + name
			data, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			var got task.List
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d, string(data))
			}
		})
	}
}

func TestTask_everyFieldSurvivesJSON(t *testing.T) {
	want := task.Task{
		ID: "a", Title: "b", Description: "c", Criteria: []string{"d"}, Notes: "e", State: task.Done, Priority: task.NoPriority,
		DependsOn: []string{"f"}, Section: "g", Optional: true, Line: 1, Depth: 2, Choice: task.Choice{Agent: "h", Model: "i"},
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"id":"a","title":"b","description":"c","criteria":["d"],"notes":"e","state":"done","priority":2147483647,` +
		`"depends_on":["f"],"section":"g","optional":true,"line":1,"depth":2,"choice":{"agent":"h","model":"i"}}`
	if d := cmp.Diff(text, string(data)); d != "" {
		t.Error(d)
	}
	var got task.Task
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if data, err := json.Marshal(task.Task{}); err != nil || string(data) != `{"id":"","title":""}` {
		t.Errorf("%s, %v", data, err)
	}
}
