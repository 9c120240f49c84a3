package hooks

import (
	"encoding/json"
	"strconv"
	"strings"

	"ralph/logs/termtext"
)

// Version of Facts. It changes when a field is renamed or removed.
const Version = 1

// maxText limits a text of Facts, in bytes: an environment is limited, too.
const maxText = 4 << 10

// Facts describe the run to a hook: as JSON on stdin, and most of them also in its
// environment. Fields that do not apply at a point are left out.
type Facts struct {
	V         int    `json:"v"`
	Point     Point  `json:"point"`
	Run       string `json:"run"`
	Project   string `json:"project"` // its folder
	Mode      string `json:"mode"`    // aios or standalone
	Plan      string `json:"plan,omitempty"`
	Done      int    `json:"done"` // tasks of the plan
	Total     int    `json:"total"`
	Iteration int    `json:"iteration"`
	Task      *Task  `json:"task,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Model     string `json:"model,omitempty"`

	Outcome string   `json:"outcome,omitempty"` // class of the agent call
	Error   string   `json:"error,omitempty"`
	Files   []string `json:"files,omitempty"` // that the turn changed
	CostUSD float64  `json:"cost_usd,omitempty"`
	Rule    string   `json:"rule,omitempty"` // that decided what happens next
	Reason  string   `json:"reason,omitempty"`
	Exit    *int     `json:"exit,omitempty"` // at the end of a run
}

// Task is the current task.
type Task struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Status  string `json:"status"`
	Attempt int    `json:"attempt"`
}

// Variable is an environment variable of a hook.
type Variable struct{ Name, Value, Meaning string }

// Variables lists the variables that a hook gets in addition to those of a check.
func (f Facts) Variables() []Variable {
	task := Task{}
	if f.Task != nil {
		task = *f.Task
	}
	attempt, exit := "", ""
	if f.Task != nil {
		attempt = strconv.Itoa(task.Attempt)
	}
	if f.Exit != nil {
		exit = strconv.Itoa(*f.Exit)
	}
	return []Variable{
		{"RALPH_POINT", string(f.Point), "the point"},
		{"RALPH_RUN_ID", f.Run, "the run"},
		{"RALPH_PROJECT", f.Project, "the project's folder"},
		{"RALPH_MODE", f.Mode, "`aios` for a plan of AIOS, else `standalone`"},
		{"RALPH_ITERATION", strconv.Itoa(f.Iteration), "number of the iteration"},
		{"RALPH_ATTEMPT", attempt, "number of the attempt at the task"},
		{"RALPH_STORY_ID", task.ID, "id of the task; also `TASK_ID`"},
		{"RALPH_STORY_TITLE", task.Title, "its title; also `TASK_NAME`"},
		{"RALPH_STORY_STATUS", task.Status, "its state, in the words of the plan; also `TASK_STATUS`"},
		{"RALPH_AGENT", f.Agent, "the agent"},
		{"RALPH_ERROR", f.Error, "what failed"},
		{"RALPH_RULE", f.Rule, "the rule that decided what happens next, see [decisions](decisions.md)"},
		{"RALPH_REASON", f.Reason, "its reason"},
		{"RALPH_EXIT_CODE", exit, "ralph's exit code, at the end of a run"},
		{"TASK_ID", task.ID, ""},
		{"TASK_NAME", task.Title, ""},
		{"TASK_STATUS", task.Status, ""},
	}
}

func (f Facts) environment() []string {
	return termtext.Each(f.Variables(), func(v Variable) string { return v.Name + "=" + short(v.Value) })
}

func (f Facts) stdin() []byte {
	f.V, f.Error, f.Reason = Version, short(f.Error), short(f.Reason)
	data, _ := json.Marshal(f) // plain values: it cannot fail
	return append(data, '\n')
}

// short cuts a text to what fits into an environment.
func short(text string) string {
	text = strings.ReplaceAll(text, "\x00", "")
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// Answer is what a hook may print as one JSON object, on its last line.
type Answer struct {
	Block  bool   `json:"block"`  // see Row.Veto
	Reason string `json:"reason"` // of block
	Note   string `json:"note"`   // for the next prompt
	// Complete ends the run as complete, if the required checks pass. Only a command may say so.
	Complete bool `json:"complete"`
}

// maxNote limits what a hook can add to the next prompt, in bytes.
const maxNote = 2 << 10

// parseAnswer reads the answer of a hook. Output that does not end with such an object has no answer.
func parseAnswer(output string) Answer {
	output = strings.TrimSpace(output)
	line := output[strings.LastIndexByte(output, '\n')+1:]
	for _, text := range []string{output, line} {
		var a Answer
		if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &a) == nil && a != (Answer{}) {
			a.Note, a.Reason = cut(a.Note), cut(a.Reason)
			return a
		}
	}
	return Answer{}
}

func cut(text string) string {
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") + " ..."
	}
	return strings.TrimSpace(text)
}
