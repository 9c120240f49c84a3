//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
	"ralph/internal/world"
)

// page is what the test looks at in `ralph report --json`.
type page struct {
	Exit       int     `json:"exit_code"`
	Result     string  `json:"result"`
	Iterations int     `json:"iterations"`
	Done       int     `json:"tasks_done"`
	Total      int     `json:"tasks_total"`
	USD        float64 `json:"cost_usd"`
	Cost       struct {
		USD    float64 `json:"usd"`
		Tokens int     `json:"tokens"`
		Task   []share `json:"by_task"`
		Role   []share `json:"by_role"`
		Model  []share `json:"by_model"`
	} `json:"cost"`
	Time  map[string]float64 `json:"time"`
	Tasks []struct {
		Title, State string
		Iterations   []int
	} `json:"tasks"`
	Questions []string `json:"questions"`
	Next      []string `json:"next"`
}

type share struct {
	Name   string  `json:"name"`
	USD    float64 `json:"usd"`
	Tokens int     `json:"tokens"`
}

// A night: a usage limit, a question that is answered from outside, a task that gets nowhere,
// messages to a real mail server, and the report of the morning.
func TestClaude_aNight(t *testing.T) {
	ask := mockllm.Tool{Name: "AskUserQuestion", Input: map[string]any{"questions": []any{map[string]any{
		"question": "Which database shall task 2 use?", "header": "Database", "multiSelect": false,
		"options": []any{map[string]any{"label": "SQLite", "description": "a file"}, map[string]any{"label": "PostgreSQL", "description": "a server"}},
	}}}}
	stuck := []mockllm.Step{{Text: "I have looked at it and do not get on with it." + mockllm.StatusBlock(false)}}
	limit := mockllm.Step{Limit: &mockllm.Limit{Window: "five_hour", For: 5 * time.Second}}
	mail := world.MailServer(t)
	w := newProject(t, claude(), 4, mockllm.Scenario{Runs: [][]mockllm.Step{
		append([]mockllm.Step{limit}, mockllm.Work(1, false)...),
		{{Text: "I have to ask.", Tools: []mockllm.Tool{ask}}, {Text: "I wait for the answer."}},
		stuck, stuck, mockllm.Work(4, false), mockllm.Work(2, false),
	}})
	w.Env = subscription(w.Env)
	w.Set("QUESTION_WAIT", "5m")
	w.Set("MAX_ITERATIONS_PER_TASK", "2")
	w.Set("NOTIFY", "smtp://"+mail.Address+"/?from=ralph@example.com&to=me@example.com&usestarttls=no&encryption=None&auth=None")
	w.Set("NOTIFY_ON", "ended,halted,limited,question")
	p := w.ralph("run")
	waits := func() bool {
		text := w.Read(".ralph/status.json")
		return strings.Contains(text, `"status": "waiting"`) && strings.Contains(text, `"rule": "question"`)
	}
	w.until(3*time.Minute, "the run does not wait for the answer", waits)
	if exit := w.ralph("answer", "q1", "--option", "2").Wait(time.Minute); exit != 0 {
		t.Fatalf("ralph answer: exit %d", exit)
	}
	if exit := p.Wait(2 * time.Minute); exit != 8 {
		t.Errorf("exit %d, want 8: a task was put aside", exit)
	}
	w.until(time.Minute, "no mail about the end", func() bool { return strings.Count(mail.String(), "MESSAGE FOLLOWS") >= 3 })
	w.letters(mail.String())
	w.morning()
	w.addsUp()
}

func (w *project) until(bound time.Duration, what string, is func() bool) {
	w.Helper()
	for end := time.Now().Add(bound); !is(); time.Sleep(100 * time.Millisecond) { // polling
		if time.Now().After(end) {
			w.Fatalf("%s:\n%s", what, w.Read(".ralph/status.json"))
		}
	}
}

// letters checks the mails of the night: one for each thing that happened.
func (w *project) letters(got string) {
	w.Helper()
	for _, want := range []string{"q1", "Which database shall task 2 use?", "ralph answer q1", "3 of 4 tasks"} {
		if !strings.Contains(got, want) {
			w.Errorf("no mail says %q", want)
		}
	}
	if n := strings.Count(got, "Subject:"); n != 3 {
		w.Errorf("%d mails, want 3: limit, question, end", n)
	}
	if w.Failed() {
		w.Logf("mails:\n%s", got)
	}
}

// morning checks the report against the events and the status.
func (w *project) morning() {
	w.Helper()
	said := w.ralph("report", "--json")
	said.Wait(time.Minute)
	var r page
	if err := json.Unmarshal([]byte(said.Said()), &r); err != nil {
		w.Fatalf("%v: %s", err, said.Said())
	}
	states := map[string]string{}
	turns := 0
	for _, t := range r.Tasks {
		states[t.Title] = t.State
		turns += len(t.Iterations)
	}
	want := map[string]string{"task 1": "done", "task 2": "done", "task 3": "aside", "task 4": "done"}
	for title, state := range want {
		if states[title] != state {
			w.Errorf("%s is %q, want %q", title, states[title], state)
		}
	}
	s := w.status()
	if r.Exit != 8 || r.Done != 3 || r.Total != 4 || r.Iterations != s.LoopCount || turns != r.Iterations {
		w.Errorf("exit %d, %d of %d tasks, %d iterations, %d of tasks, %d in the status", r.Exit, r.Done, r.Total, r.Iterations, turns, s.LoopCount)
	}
	if len(r.Questions) != 1 || !strings.Contains(r.Questions[0], "PostgreSQL") {
		w.Errorf("questions: %q", r.Questions)
	}
	if r.Time["limits"] < 3 || r.Time["agent"] <= 0 {
		w.Errorf("time: %v", r.Time)
	}
	for name, parts := range map[string][]share{"task": r.Cost.Task, "role": r.Cost.Role, "model": r.Cost.Model} {
		usd, tokens := 0.0, 0
		for _, p := range parts {
			usd, tokens = usd+p.USD, tokens+p.Tokens
		}
		if math.Abs(usd-s.Usage.Cost) > 1e-6 || tokens != r.Cost.Tokens || r.USD != s.Usage.Cost {
			w.Errorf("by %s: %v USD and %d tokens of %v and %d; the status says %v", name, usd, tokens, r.USD, r.Cost.Tokens, s.Usage.Cost)
		}
	}
	for _, way := range []string{"--md", "--html=" + w.Path("report.html")} {
		if p := w.ralph("report", way); p.Wait(time.Minute) != 0 {
			w.Errorf("ralph report %s: %s", way, p.Said())
		}
	}
	for _, text := range []string{"task 3", "PostgreSQL", "3 of 4"} {
		if !strings.Contains(w.Read("report.html"), text) {
			w.Errorf("the page does not say %q", text)
		}
	}
}
