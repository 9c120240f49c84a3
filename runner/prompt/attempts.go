package prompt

import (
	"fmt"
	"strings"

	"ralph/logs/termtext"
)

// attempts tells the agent, from the second attempt on, what earlier attempts did. The
// same prompt would get the same answer.
func (in Input) attempts(b *strings.Builder) {
	if in.Task == nil || in.Attempt < 2 {
		return
	}
	fmt.Fprintf(b, "\n## This is attempt %d", in.Attempt)
	if in.MaxAttempts > 0 {
		fmt.Fprintf(b, " of %d", in.MaxAttempts)
	}
	b.WriteString(" at this task\n\nThe task is still open. Earlier attempts:\n\n")
	first := in.Attempt - len(in.Past)
	for i, line := range in.Past {
		fmt.Fprintf(b, "- Attempt %d: %s\n", first+i, trim(termtext.Unwrap(line)))
	}
	b.WriteString("\nDo not repeat what did not work. Do one of these:\n\n" +
		"- If the task is done, check it and tick it in the plan.\n" +
		"- If it is too large, split it: add smaller tasks below it in the plan, indented, and do the first one.\n" +
		"- If something is missing that you cannot provide, say exactly what in your final message, with STATUS: BLOCKED.\n")
}
