//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

// The question goes out by the CLI's own tool, whose call is refused without a person; its
// task waits, the other one is done, and the answer from outside ends the wait.
func TestClaude_asksAPerson_taskWaitsForTheAnswer(t *testing.T) {
	ask := mockllm.Tool{Name: "AskUserQuestion", Input: map[string]any{"questions": []any{map[string]any{
		"question": "Which database shall task 1 use?", "header": "Database", "multiSelect": false,
		"options": []any{map[string]any{"label": "SQLite", "description": "a file"}, map[string]any{"label": "PostgreSQL", "description": "a server"}},
	}}}}
	w := newProject(t, claude(), 2, mockllm.Scenario{Runs: [][]mockllm.Step{
		{{Text: "I have to ask.", Tools: []mockllm.Tool{ask}}, {Text: "I wait for the answer."}},
		mockllm.Work(2, false), mockllm.Work(1, true),
	}})
	w.Set("QUESTION_WAIT", "5m")
	p := w.ralph("run")
	waits := func() bool {
		text := w.Read(".ralph/status.json")
		return strings.Contains(text, `"status": "waiting"`) && strings.Contains(text, `"rule": "question"`)
	}
	for end := time.Now().Add(2 * time.Minute); !waits(); time.Sleep(100 * time.Millisecond) { // polling
		if time.Now().After(end) {
			t.Fatalf("the run does not wait for the answer:\n%s", w.Read(".ralph/status.json"))
		}
	}
	if exit := w.ralph("answer", "q1", "--option", "2").Wait(time.Minute); exit != 0 {
		t.Fatalf("ralph answer: exit %d", exit)
	}
	if exit := p.Wait(2 * time.Minute); exit != 0 {
		t.Errorf("exit %d", exit)
	}
	list := w.ralph("questions", "--all", "--json")
	list.Wait(time.Minute)
	said := list.Said()
	var all []struct {
		Task, Title, Text, Answer string
		Options                   []string
		Told                      int
	}
	if err := json.Unmarshal([]byte(said[strings.Index(said, "["):]), &all); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if len(all) != 1 || all[0].Title != "task 1" || len(all[0].Options) != 2 || !strings.Contains(all[0].Answer, "PostgreSQL") || all[0].Told != 3 {
		t.Errorf("%+v", all)
	}
	if report := w.ralph("report", "--md"); report.Wait(time.Minute) != 0 || !strings.Contains(report.Said(), "PostgreSQL") {
		t.Errorf("the report does not name the answer:\n%s", report.Said())
	}
	w.addsUp()
}

// addsUp checks that the parts of the time in the report are the wall clock of the run.
func (w *project) addsUp() {
	w.Helper()
	page := w.ralph("report", "--json")
	page.Wait(time.Minute)
	var report struct {
		Time    map[string]float64 `json:"time"`
		Started time.Time          `json:"started_at"`
		Ended   time.Time          `json:"ended_at"`
	}
	if err := json.Unmarshal([]byte(page.Said()), &report); err != nil {
		w.Fatalf("%v: %s", err, page.Said())
	}
	sum := 0.0
	for name, seconds := range report.Time {
		if name != "total" {
			sum += seconds
		}
	}
	clock := report.Ended.Sub(report.Started).Seconds()
	if total := report.Time["total"]; math.Abs(sum-total) > 0.01 || math.Abs(clock-total) > 0.01 || total <= 0 {
		w.Errorf("the parts %v add up to %.3f s of %.3f s", report.Time, sum, clock)
	}
}
