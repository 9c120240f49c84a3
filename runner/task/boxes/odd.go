package boxes

import (
	"fmt"

	"ralph/runner/task"
)

const plainMarks = "[ ], [x]"

// oddMarks are marks that people and agents use although the format does not have them.
const oddMarks = "!?>/*+~-✓✔✗✘"

// unknownMarks adds a warning for each box with a mark that the format does not have: such a task is neither open nor
// done.
func (p *list) unknownMarks(known string) {
	for _, t := range p.Tasks {
		if t.State == task.Blocked && t.Word != "" {
			p.Warnings = append(p.Warnings, fmt.Sprintf("line %d: unknown mark \"[%s]\", so nobody works on it; known: %s", t.Line, t.Word, known))
		}
	}
}
