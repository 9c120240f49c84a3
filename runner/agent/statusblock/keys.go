package statusblock

import "strings"

// Key is a line of the block.
type Key struct {
	Name   string
	Also   []string // other names for it
	Values []string // that it may have; nil: any text
	Means  string   // what ralph does with it
	set    func(s *Signal, value string)
}

const (
	exitSignal = "EXIT_SIGNAL"
	learnings  = "LEARNINGS"
)

func alsoLearnings() []string { return []string{"LEARNING", "LEARNED"} }

// Keys are the lines that a block may have.
func Keys() []Key {
	states, tests := []string{InProgress, Complete, Blocked, Error}, []string{"PASSING", "FAILING", "NOT_RUN"}
	return []Key{
		{"STATUS",
			nil, states, "`COMPLETE`: the whole project is done. `BLOCKED` and `ERROR`: the agent cannot continue; " +
				"if the plan has nothing left, that contradicts the plan",
			func(s *Signal, v string) { s.Status = choice(v, states...) }},
		{exitSignal, nil, []string{"true", "false"},
			"`true`: nothing is left to do. Without this line, `STATUS: COMPLETE` means `true`",
			func(s *Signal, v string) {
				v = choice(v, "TRUE", "FALSE")
				s.HasExit, s.Exit = v != "", v == "TRUE"
			}},
		{"TESTS_STATUS", nil, tests, "`FAILING` contradicts a plan that has nothing left",
			func(s *Signal, v string) { s.Tests = choice(v, tests...) }},
		{"WORK_TYPE", nil, []string{"IMPLEMENTATION", Testing, "DOCUMENTATION", "REFACTORING"},
			"`TESTING` in three iterations in a row that close no task ends the run. " +
				"Other words are allowed",
			func(s *Signal, v string) { s.workType(v) }},
		{"TASKS_COMPLETED_THIS_LOOP", []string{"TASKS_COMPLETED"}, []string{"a number"},
			"is kept for people in `.ralph/.response_analysis`", func(s *Signal, v string) { s.TasksCompleted = number(v) }},
		{"FILES_MODIFIED", nil, []string{"a number"}, "the same",
			func(s *Signal, v string) { s.FilesModified = number(v) }},
		{"RECOMMENDATION", nil, nil,
			"one line on what comes next, for the next prompt. With `STATUS: BLOCKED`, what is missing, or a question",
			func(s *Signal, v string) { s.Recommendation = v }},
		{"QUESTION", nil, nil, "with `STATUS: BLOCKED`: what a person has to decide. The task waits for the answer",
			func(s *Signal, v string) { s.Question = v }},
		{"OPTIONS", nil, nil, "the choices: `one | another`",
			func(s *Signal, v string) { s.Options = v }},
		{"TASK", nil, nil, "the id of the task, if it is done. This counts like a mark in the plan",
			func(s *Signal, v string) { s.Task = v }},
		{"STORY_ID", nil, nil, "the same, with `STATUS: COMPLETE`",
			func(s *Signal, v string) { s.StoryID = v }},
		{learnings, alsoLearnings(),
			nil, "what the agent learned about the project: a sentence, or a list below, one line each",
			func(s *Signal, v string) { s.learn(v) }},
	}
}

func (s *Signal) workType(value string) {
	word, rest, _ := strings.Cut(value, " ")
	if alternatives(rest) {
		return
	}
	s.WorkType = strings.ToUpper(word)
	if s.WorkType == "TEST" || s.WorkType == "TESTS" {
		s.WorkType = Testing
	}
}
