package pool

import (
	"testing"

	"ralph/runner/task"
)

func TestWanted_firstThatSaysSo_modelStaysWithItsAgent(t *testing.T) {
	option := task.Choice{Agent: "cursor-agent", Model: "auto"}
	for name, test := range map[string]struct{ task, plan, want task.Choice }{
		"options":              {task.Choice{}, task.Choice{}, option},
		"plan":                 {task.Choice{}, task.Choice{Agent: "codex"}, task.Choice{Agent: "codex"}},
		"task":                 {task.Choice{Agent: "claude"}, task.Choice{Agent: "codex", Model: "mini"}, task.Choice{Agent: "claude"}},
		"model of the plan":    {task.Choice{Model: "nano"}, task.Choice{Agent: "codex", Model: "mini"}, task.Choice{Agent: "codex", Model: "nano"}},
		"alias of the same":    {task.Choice{Agent: "cursor"}, task.Choice{}, option},
		"unknown keeps a name": {task.Choice{Agent: "nobody"}, task.Choice{}, task.Choice{Agent: "nobody"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Wanted(test.task, test.plan, option); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
