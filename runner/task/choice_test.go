package task

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse_choices_goToTheirTaskOrThePlan(t *testing.T) {
	tests := []struct {
		name, file, text string
		plan             Choice
		tasks            []Choice
	}{
		{"none", "fix_plan.md", "- [ ] a\n", Choice{}, []Choice{{}}},
		{"plan", "fix_plan.md", "<!-- ralph: agent=codex model=gpt-5 -->\n- [ ] a\n", Choice{"codex", "gpt-5"}, []Choice{{}}},
		{"behind a box", "fix_plan.md", "- [ ] a <!-- ralph: agent=gemini -->\n- [ ] b\n", Choice{}, []Choice{{Agent: "gemini"}, {}}},
		{"below a box", "fix_plan.md", "- [ ] a\n  <!-- ralph: model=opus -->\n- [ ] b\n", Choice{}, []Choice{{Model: "opus"}, {}}},
		{"after the list", "fix_plan.md", "- [ ] a\n\n<!-- ralph: model=opus -->\n", Choice{Model: "opus"}, []Choice{{}}},
		{"in a fence", "fix_plan.md", "```\n<!-- ralph: agent=codex -->\n```\n- [ ] a\n", Choice{}, []Choice{{}}},
		{"other comment", "fix_plan.md", "<!-- ralph: explode=yes -->\n- [ ] a\n", Choice{}, []Choice{{}}},
		{"prd.json", "prd.json", `{"agent":"codex","userStories":[{"id":"1","title":"a","passes":false,"agent":"claude","model":"opus"},{"id":"2","title":"b","passes":false}]}`,
			Choice{Agent: "codex"}, []Choice{{"claude", "opus"}, {}}},
		{"provider in a comment", "fix_plan.md", "- [ ] a <!-- ralph: provider=codex model=gpt-5 -->\n", Choice{}, []Choice{{"codex", "gpt-5"}}},
		{"front matter", "fix_plan.md", "---\ntitle: x\nprovider:\n  name: codex\n  model: gpt-5\n---\n- [ ] a\n", Choice{"codex", "gpt-5"}, []Choice{{}}},
		{"front matter with CRLF", "fix_plan.md", "---\r\nagent: codex\r\nmodel: gpt-5\r\n---\r\n- [ ] a\r\n", Choice{"codex", "gpt-5"}, []Choice{{}}},
		{"a comment beats front matter", "fix_plan.md", "---\nprovider: codex\nmodel: gpt-5\n---\n<!-- ralph: agent=claude -->\n- [ ] a\n", Choice{Agent: "claude"}, []Choice{{}}},
		{"a rule is no front matter", "fix_plan.md", "---\n- [ ] a\n---\n- [ ] b\n", Choice{}, []Choice{{}, {}}},
		{"front matter without an end", "fix_plan.md", "---\nagent: codex\n- [ ] a\n", Choice{}, []Choice{{}}},
		{"front matter with other types", "fix_plan.md", "---\nagent: [1]\n---\n- [ ] a\n", Choice{}, []Choice{{}}},
		{"provider as a name", "prd.json", story(`"provider":"codex","model":"gpt-5"`), Choice{}, []Choice{{"codex", "gpt-5"}}},
		{"provider as an object", "prd.json", story(`"provider":{"name":"codex","model":"gpt-5"}`), Choice{}, []Choice{{"codex", "gpt-5"}}},
		{"a provider's model goes to no other agent", "prd.json", story(`"agent":"claude","provider":{"name":"codex","model":"gpt-5"}`), Choice{}, []Choice{{Agent: "claude"}}},
		{"own model beats the provider's", "prd.json", story(`"model":"mini","provider":{"name":"codex","model":"gpt-5"}`), Choice{}, []Choice{{"codex", "mini"}}},
		{"metadata of the file", "prd.json", `{"metadata":{"provider":{"name":"codex","model":"gpt-5"}},"userStories":[{"id":"1","title":"a","passes":false,"provider":"claude"}]}`,
			Choice{"codex", "gpt-5"}, []Choice{{Agent: "claude"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, err := Parse(tt.file, []byte(tt.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []Choice
			for _, task := range list.Tasks {
				got = append(got, task.Choice)
				if task.Title != "a" && task.Title != "b" {
					t.Errorf("title %q", task.Title)
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
	plan := Choice{"codex", "gpt-5"}
	for _, tt := range []struct{ task, want Choice }{
		{Choice{}, Choice{"codex", "gpt-5"}},
		{Choice{Agent: "codex"}, Choice{"codex", "gpt-5"}},
		{Choice{Agent: "claude"}, Choice{"claude", ""}},
		{Choice{Model: "mini"}, Choice{"codex", "mini"}},
	} {
		if got := tt.task.Or(plan); got != tt.want {
			t.Errorf("%+v.Or(%+v) = %+v, want %+v", tt.task, plan, got, tt.want)
		}
	}
}

func story(fields string) string {
	return `{"userStories":[{"id":"1","title":"a","passes":false,` + fields + `}]}`
}
