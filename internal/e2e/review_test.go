//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

// judged returns a reviewer's run: it tries to write a file, and answers.
func judged(verdict string, score int, reason string) []mockllm.Step {
	return []mockllm.Step{
		{Text: "I look.", Tools: []mockllm.Tool{{Name: "write", Path: "sneaky.txt", Content: "x"}}},
		{Echo: `BEGIN-(\S+)`, Text: fmt.Sprintf(`I have looked.

{"nonce": "{echo}", "verdict": %q, "score": %d, "reasons": [{"text": %q, "file": "task1.txt", "line": 1}]}`, verdict, score, reason)},
	}
}

// verdicts returns those of the run, as NAME VERDICT.
func (w *project) verdicts() (all []string, changed int) {
	w.Helper()
	for line := range strings.Lines(w.Read(".ralph/events.jsonl")) {
		var e struct {
			Kind string `json:"kind"`
			Data struct {
				Name    string   `json:"name"`
				Verdict string   `json:"verdict"`
				Changed []string `json:"changed"`
			} `json:"data"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.Fatalf("read events.jsonl: %v: %s", err, line)
		}
		if e.Kind == "verdict" {
			all, changed = append(all, e.Data.Name+" "+e.Data.Verdict), changed+len(e.Data.Changed)
		}
	}
	return all, changed
}

// twoVendors returns the CLIs that a review is tried with.
func twoVendors() []agentCLI { return []agentCLI{claude(), codex()} }

func TestReview_taskGoesThroughAllPhases(t *testing.T) {
	each(t, twoVendors(), func(t *testing.T, a agentCLI) {
		w := newProject(t, a, 1, mockllm.Scenario{Runs: [][]mockllm.Step{
			mockllm.Work(1, true), judged("fail", 20, "it is not enough"), mockllm.Work(1, true), judged("pass", 90, ""), judged("pass", 80, ""),
		}})
		w.Set("AGENT", a.name)
		w.Set("QA", "true")
		w.Set("JUDGES", "security")
		exit := w.ralph("run").Wait(2 * time.Minute)
		w.finished(exit, 1)
		got, changed := w.verdicts()
		if want := []string{"qa fail", "qa pass", "Security Auditor pass"}; !slices.Equal(got, want) {
			t.Errorf("verdicts %q, want %q", got, want)
		}
		if changed != 0 {
			t.Errorf("reviewers could write %d files", changed)
		}
		prompts := w.mock.Prompts(scenario)
		if len(prompts) != 5 || !strings.Contains(prompts[2], "task1.txt:1: it is not enough") {
			t.Errorf("%d prompts; the developer's second one:\n%s", len(prompts), prompts[min(2, len(prompts)-1)])
		}
		if len(prompts) > 3 && !strings.Contains(prompts[3], "+task 1") {
			t.Errorf("the reviewer does not see the change:\n%s", prompts[3])
		}
	})
}

func TestReview_anotherVendorsAgentIsInstalled_itReviews(t *testing.T) {
	w := newProject(t, claude(), 1, mockllm.Scenario{Runs: [][]mockllm.Step{mockllm.Work(1, true), judged("pass", 90, "")}})
	env, files := codex().set(w.mock.URL(scenario))
	for name, v := range files {
		w.Write("../"+name, text(v))
	}
	w.Env = append(w.Env, env...)
	w.Set("PATH", codex().install(t)+":"+claude().install(t)+":"+os.Getenv("PATH"))
	w.Set("AGENT", "claude")
	w.Set("QA", "true")
	w.finished(w.ralph("run").Wait(2*time.Minute), 1)
	if got, changed := w.verdicts(); !slices.Equal(got, []string{"qa pass"}) || changed != 0 {
		t.Errorf("verdicts %q, %d files changed", got, changed)
	}
	if events := w.Read(".ralph/events.jsonl"); !strings.Contains(events, `"name":"qa","agent":"codex"`) {
		t.Errorf("codex has not reviewed")
	}
}

func TestReview_judgeRefusesThreeTimes_theTaskIsPutAside(t *testing.T) {
	each(t, twoVendors(), func(t *testing.T, a agentCLI) {
		round := [][]mockllm.Step{mockllm.Work(1, true), judged("fail", 20, "an open door")}
		w := newProject(t, a, 1, mockllm.Scenario{Runs: slices.Concat(round, round, round)})
		w.Set("AGENT", a.name)
		w.Set("JUDGES", "security")
		exit := w.ralph("run").Wait(2 * time.Minute)
		if s := w.status(); exit != 8 || s.Rule != "tasks_put_aside" || !strings.Contains(s.Reason, "an open door") {
			t.Errorf("exit %d, %+v", exit, s)
		}
		if got, _ := w.verdicts(); len(got) != 3 {
			t.Errorf("verdicts %q", got)
		}
	})
}

func TestReview_inWorktrees_onlyWhatPassesLands(t *testing.T) {
	w := newProject(t, claude(), 1, mockllm.Scenario{Runs: [][]mockllm.Step{
		mockllm.Work(1, true), judged("fail", 20, "it is not enough"), mockllm.Work(1, true), judged("pass", 90, ""),
	}})
	w.Set("QA", "true")
	w.Set("ISOLATE", "worktree")
	w.finished(w.ralph("run").Wait(2*time.Minute), 1)
	if got, changed := w.verdicts(); !slices.Equal(got, []string{"qa fail", "qa pass"}) || changed != 0 {
		t.Errorf("verdicts %q, %d files changed", got, changed)
	}
	if prompts := w.mock.Prompts(scenario); len(prompts) != 4 || !strings.Contains(prompts[3], "+task 1") {
		t.Errorf("%d prompts; the reviewer does not see the change:\n%s", len(prompts), prompts[len(prompts)-1])
	}
	for verb, want := range map[string]string{"iterations": "verdict of qa (claude): fail, 20 of 100, needs 70: task1.txt:1: it is not enough", "status": "review    qa (claude): pass"} {
		p := w.ralph(verb)
		p.Wait(10 * time.Second)
		if !strings.Contains(p.Said(), want) {
			t.Errorf("ralph %s does not say %q:\n%s", verb, want, p.Said())
		}
	}
}
