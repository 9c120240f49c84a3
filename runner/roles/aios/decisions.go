package aios

import (
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/task"
)

const (
	mostDecisions = 5   // of a handoff
	longDecision  = 200 // characters
)

// Decisions are what a developer of a story says it has decided: the lines of its final message that begin with
// "Decision:". Other tasks have none.
func (p Project) Decisions(t task.Task, final string) (all []string) {
	if !p.Story(t) {
		return nil
	}
	for line := range strings.Lines(termtext.Clean(final)) {
		label, text, found := strings.Cut(strings.TrimLeft(line, " \t-*+>"), ":")
		text = termtext.Line(strings.Trim(text, " \t\r\n*"))
		if !found || !strings.EqualFold(strings.Trim(label, " *_"), "decision") || text == "" {
			continue
		}
		if r := []rune(text); len(r) > longDecision {
			text = string(r[:longDecision]) + "..."
		}
		if all = append(all, text); len(all) == mostDecisions {
			break
		}
	}
	return all
}
