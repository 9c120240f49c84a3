package report

import (
	"strings"
	"testing"

	"ralph/state"
	"ralph/state/view"
)

// A pull request shows it.
func TestMarkdown_tasks_areATableThatFits(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{Agent: "claude", Model: "opus", Total: 1})
	n.iteration, n.task = 1, "a|b "+strings.Repeat("long ", 40)
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue", Rule: "continue"}, Outcome: "completed-turn", TaskDone: true, Done: 1})
	text := n.f.Build(Source{Project: "/home/dev/shop-api", Now: n.at}).Markdown()
	prose, _, _ := strings.Cut(text, "## What to type") // commands name the run
	if strings.Contains(prose, ranOn) || strings.Contains(prose, "/home") || !strings.Contains(prose, "\nshop-api · claude opus") {
		t.Errorf("it names a run or a folder:\n%s", text)
	}
	_, rows, _ := strings.Cut(text, "\n\n| task | result | time | cost |\n|---|---|---|---|\n")
	row, _, _ := strings.Cut(rows, "\n\n")
	if !strings.HasPrefix(row, `| a\|b long`) || !strings.HasSuffix(row, `| done: 1 check passed | 2m 04s | \$0.50 |`) || len(row) > 160 {
		t.Errorf("%q in\n%s", row, text)
	}
}

func TestPages_testsTurnedGreen_areNamed(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{Agent: "claude", Model: "opus", Total: 1})
	n.iteration, n.task = 1, "one"
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue", Rule: "continue"}, Outcome: "completed-turn", TaskDone: true, Done: 1})
	known := map[string]state.TaskMemory{"one": {Proof: state.ProofTests, Done: true, Green: []string{"TestList", "TestPage"}}}
	r := n.f.Build(Source{Now: n.at, Snapshot: view.Snapshot{Status: state.Status{RunID: ranOn, Tasks: known}}})
	for _, page := range []string{r.Text(), string(r.HTML()), r.Markdown()} {
		if !strings.Contains(page, "tests that failed before it pass now: TestList, TestPage") {
			t.Error(page)
		}
	}
}
