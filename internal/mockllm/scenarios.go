package mockllm

import (
	"fmt"
	"net/http"
	"time"
)

// StatusBlock returns the end of a final message as ralph's prompt asks for it.
func StatusBlock(exit bool) string {
	state := "IN_PROGRESS"
	if exit {
		state = "COMPLETE"
	}
	return fmt.Sprintf(`

---RALPH_STATUS---
STATUS: %s
TASKS_COMPLETED_THIS_LOOP: 1
FILES_MODIFIED: 1
TESTS_STATUS: PASSING
WORK_TYPE: IMPLEMENTATION
EXIT_SIGNAL: %t
RECOMMENDATION: go on
---END_RALPH_STATUS---`, state, exit)
}

// Work returns a run that does the task of this number, counted from 1: it writes
// taskN.txt, ticks the first open box of .ralph/fix_plan.md and says whether
// that was the last.
func Work(number int, last bool) []Step {
	file := fmt.Sprintf("task%d.txt", number)
	return []Step{
		{Text: "I write " + file + ".", Tools: []Tool{{Name: "write", Path: file,
			Content: fmt.Sprintf("task %d\n", number)}}},
		{Tools: []Tool{{Name: "bash", Command: fmt.Sprintf(
			"sed '/- \\[ \\] task %d/s/\\[ \\]/[x]/' .ralph/fix_plan.md >plan.new && mv plan.new .ralph/fix_plan.md",
			number)}}},
		{Text: file + " is written and the box ticked." + StatusBlock(last)},
	}
}

// Plan completes a plan with this number of tasks, "- [ ] task 1" and so on.
func Plan(tasks int) Scenario {
	var sc Scenario
	for i := range tasks {
		sc.Runs = append(sc.Runs, Work(i+1, i+1 == tasks))
	}
	return sc
}

// After puts failing steps before the first answer of a scenario.
func After(sc Scenario, failures ...Step) Scenario {
	runs := append([][]Step{append(failures, sc.Runs[0]...)}, sc.Runs[1:]...)
	return Scenario{Runs: runs}
}

// Builtin returns the scenarios of the end-to-end tests, by name.
func Builtin() map[string]Scenario {
	bash := func(command string) Scenario {
		return Scenario{Runs: [][]Step{{
			{Text: "I run a command.", Tools: []Tool{{Name: "bash", Command: command}}},
			{Text: "The command is done." + StatusBlock(false)},
		}}}
	}
	tooMany := &APIError{Status: http.StatusTooManyRequests, Type: "rate_limit_error",
		Message: "Number of requests has exceeded your per-minute rate limit"}
	overloaded := &APIError{Status: 529, Type: "overloaded_error", Message: "Overloaded"}
	badKey := &APIError{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "invalid x-api-key"}
	one := Plan(1)
	return map[string]Scenario{
		"plan":       Plan(3),
		"limit":      After(one, Step{Limit: &Limit{Window: "five_hour", For: 5 * time.Second}}),
		"429":        After(one, Step{Error: tooMany}),
		"429-always": After(one, Step{Error: tooMany, Times: -1}),
		"529":        After(one, Step{Error: overloaded, Times: 2}),
		"401":        After(one, Step{Error: badKey, Times: -1}),
		// Claude Code asks once more, without streaming, before it counts a retry.
		"drop": After(one, Step{Text: "This is cut off in the middle of a sentence.", Cut: &Cut{After: 4},
			Times: 2}),
		"hang": After(one, Step{Text: "This falls silent in the middle of a sentence.",
			Cut: &Cut{After: 4, Hang: true}, Times: -1}),
		"stream-error": After(one, Step{Text: "Then the server fails.", StreamError: overloaded}),
		"denied":       bash("curl -s http://127.0.0.1:9/"),
		"long-tool":    bash("(setsid sleep 600 &); sleep 600"), // Claude Code ends only the second
	}
}
