package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
)

func TestParse_choices_goToTheirTaskOrThePlan(t *testing.T) {
	tests := []struct {
		name, file, text string
		plan             task.Choice
		tasks            []task.Choice
	}{
		{"none", "fix_plan.md", "- [ ] a\n", task.Choice{}, []task.Choice{{}}},
		{"plan", "fix_plan.md", "<!-- ralph: agent=codex model=gpt-5 -->\n- [ ] a\n", task.Choice{Agent: "codex", Model: "gpt-5"}, []task.Choice{{}}},
		{"behind a box", "fix_plan.md", "- [ ] a <!-- ralph: agent=gemini -->\n- [ ] b\n", task.Choice{}, []task.Choice{{Agent: "gemini"}, {}}},
		{"below a box", "fix_plan.md", "- [ ] a\n  <!-- ralph: model=opus -->\n- [ ] b\n", task.Choice{}, []task.Choice{{Model: "opus"}, {}}},
		{"after the list", "fix_plan.md", "- [ ] a\n\n<!-- ralph: model=opus -->\n", task.Choice{Model: "opus"}, []task.Choice{{}}},
		{"in a fence", "fix_plan.md", "```\n<!-- ralph: agent=codex -->\n```\n- [ ] a\n", task.Choice{}, []task.Choice{{}}},
		{"other comment", "fix_plan.md", "<!-- ralph: explode=yes -->\n- [ ] a\n", task.Choice{}, []task.Choice{{}}},
		{"prd.json", "prd.json", `{"agent":"codex","userStories":[{"id":"1","title":"a","passes":false,"agent":"claude","model":"opus"},{"id":"2","title":"b","passes":false}]}`,
			task.Choice{Agent: "codex"}, []task.Choice{{Agent: "claude", Model: "opus"}, {}}},
		{"provider in a comment", "fix_plan.md", "- [ ] a <!-- ralph: provider=codex model=gpt-5 -->\n", task.Choice{}, []task.Choice{{Agent: "codex", Model: "gpt-5"}}},
		{"provider as a name", "prd.json", story(`"provider":"codex","model":"gpt-5"`), task.Choice{}, []task.Choice{{Agent: "codex", Model: "gpt-5"}}},
		{"provider as an object", "prd.json", story(`"provider":{"name":"codex","model":"gpt-5"}`), task.Choice{}, []task.Choice{{Agent: "codex", Model: "gpt-5"}}},
		{"a provider's model goes to no other agent", "prd.json", story(`"agent":"claude","provider":{"name":"codex","model":"gpt-5"}`), task.Choice{}, []task.Choice{{Agent: "claude"}}},
		{"own model beats the provider's", "prd.json", story(`"model":"mini","provider":{"name":"codex","model":"gpt-5"}`), task.Choice{}, []task.Choice{{Agent: "codex", Model: "mini"}}},
		{"metadata of the file", "prd.json", `{"metadata":{"provider":{"name":"codex","model":"gpt-5"}},"userStories":[{"id":"1","title":"a","passes":false,"provider":"claude"}]}`,
			task.Choice{Agent: "codex", Model: "gpt-5"}, []task.Choice{{Agent: "claude"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, err := Parse(tt.file, []byte(tt.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []task.Choice
			for _, one := range list.Tasks {
				got = append(got, one.Choice)
				if one.Title != "a" && one.Title != "b" {
					t.Errorf("title %q", one.Title)
				}
			}
			if d := cmp.Diff(tt.plan, list.Choice); d != "" {
				t.Errorf("plan: %s", d)
			}
			if d := cmp.Diff(tt.tasks, got); d != "" {
				t.Errorf("tasks: %s", d)
			}
		})
	}
}

func TestChoice_Or_modelStaysWithItsAgent(t *testing.T) {
	plan := task.Choice{Agent: "codex", Model: "gpt-5"}
	for _, tt := range []struct{ own, want task.Choice }{
		{task.Choice{}, task.Choice{Agent: "codex", Model: "gpt-5"}},
		{task.Choice{Agent: "codex"}, task.Choice{Agent: "codex", Model: "gpt-5"}},
		{task.Choice{Agent: "claude"}, task.Choice{Agent: "claude", Model: ""}},
		{task.Choice{Model: "mini"}, task.Choice{Agent: "codex", Model: "mini"}},
	} {
		if got := tt.own.Or(plan); got != tt.want {
			t.Errorf("%+v.Or(%+v) = %+v, want %+v", tt.own, plan, got, tt.want)
		}
	}
}

func story(fields string) string {
	return `{"userStories":[{"id":"1","title":"a","passes":false,` + fields + `}]}`
}

func TestParse_choiceInFrontMatter_isIgnoredWithAWarning(t *testing.T) {
	for text, warns := range map[string]bool{
		"---\ntitle: x\nprovider:\n  name: codex\n---\n- [ ] a\n": true,
		"---\r\nagent: codex\r\n---\r\n- [ ] a\r\n":               true,
		"---\ntitle: x\n---\nmodel: of the house\n\n- [ ] a\n":    false,
		"- [ ] a\n\n---\nagent: codex\n":                          false,
	} {
		list, err := Parse("fix_plan.md", []byte(text), nil)
		if err != nil || (len(list.Warnings) == 1) != warns {
			t.Errorf("%q: %q, %v", text, list.Warnings, err)
		}
	}
}
