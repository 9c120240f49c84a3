package boxes

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"
)

const plainMarks = "[ ], [x]"

// unknownMarks reports boxes with a mark that the format does not have: such a task is neither open nor done.
func (p *list) unknownMarks(data []byte, known string) {
	if len(p.Odd) == 0 {
		return
	}
	lines := bytes.Split(data, []byte("\n"))
	for _, n := range p.Odd {
		if mark := unknownMark().FindSubmatch(lines[n-1]); mark != nil {
			p.Faults = append(p.Faults, fmt.Sprintf("line %d: unknown mark %q; known: %s", n, mark[1], known))
		}
	}
}

var unknownMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(\[[!?>/*+~-]\])\s*\S`)
})
