//go:build e2e && linux

package e2e

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

func TestImport_realCLI_makesStoriesOfProse_andThePlanIsWorkedOff(t *testing.T) {
	story := []mockllm.Step{
		{Tools: []mockllm.Tool{{Name: "write", Path: "login.txt", Content: "in\n"}}},
		{Tools: []mockllm.Tool{{Name: "bash", Command: `sed -i '0,/"passes": false/s//"passes": true/' prd.json`}}},
		{Text: "Done." + mockllm.StatusBlock(true)},
	}
	w := newProject(t, claude(), 1, mockllm.Scenario{Runs: [][]mockllm.Step{{
		{Text: "I read.", Tools: []mockllm.Tool{{Name: "write", Path: "sneaky.txt", Content: "x"}}},
		{Echo: `"nonce": "([A-Z0-9]+)"`, Text: `Here is the story.

{"nonce": "{echo}", "userStories": [{"title": "Log in", "description": "People log in.", "acceptanceCriteria": ["a wrong password is refused"]}]}`},
	}, story}})
	w.Git("rm", "-q", ".ralph/fix_plan.md")
	w.Write("notes.txt", "People want to log in. Nobody gets in with a wrong password.\n")
	w.Commit("notes")
	p, keys := w.OnTerminal("ralph", "import", "notes.txt", "--ai", "--to", "prd.json")
	w.Until("the question", func() bool { return strings.Contains(p.Said(), "Write this plan?") }, p.Said)
	if w.Read("prd.json") != "" {
		t.Error("it is written before anybody has agreed")
	}
	_, err := keys.WriteString("y\n")
	w.Do(err)
	p.Ends(0)
	for _, want := range []string{"--- /dev/null", `+      "title": "Log in"`, "wrote prd.json: 1 task"} {
		if !strings.Contains(p.Said(), want) {
			t.Errorf("it does not say %q:\n%s", want, p.Said())
		}
	}
	prompts := w.mock.Prompts(scenario)
	if len(prompts) != 1 || !strings.Contains(prompts[0], "Nobody gets in with a wrong password.") || w.Read("sneaky.txt") != "" {
		t.Errorf("prompts %q, sneaky.txt %q", prompts, w.Read("sneaky.txt"))
	}
	w.Commit("plan")
	exit := w.ralph("run").Wait(time.Minute)
	if s := w.status(); exit != 0 || s.Task.Done != 1 || s.Task.Total != 1 {
		t.Errorf("exit %d, status %+v, plan %s", exit, s, w.Read("prd.json"))
	}
	if prompts := w.mock.Prompts(scenario); !strings.Contains(prompts[len(prompts)-1], "a wrong password is refused") {
		t.Errorf("the prompt has no criteria: %s", prompts[len(prompts)-1])
	}
}
