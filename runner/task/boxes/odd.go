package boxes

import (
	"fmt"

	"ralph/runner/task"
)

const plainMarks = "[ ], [x]"

// oddMarks are the marks that people and agents write although the format does not have them.
const oddMarks = "!?>/*+~-✓✔✗✘"

// unknownMarks reports boxes with a mark that the format does not have: such a task is neither open nor done.
func (p *list) unknownMarks(known string) {
	for _, t := range p.Tasks {
		if t.State == task.Blocked && t.Word != "" {
			p.Faults = append(p.Faults, fmt.Sprintf("line %d: unknown mark \"[%s]\"; known: %s", t.Line, t.Word, known))
		}
	}
}
