package runner

import (
	"fmt"
	"strings"
	"time"

	"ralph/state"
)

// RuleFeedback names the events that tell what the agent is told.
const RuleFeedback = "feedback"

// Render is an event as lines of the live log, with a final line end. Empty
// for events that a person does not want to read there.
func Render(e state.Event) string {
	switch e.Kind {
	case state.KindRunStart:
		return "=== " + e.Text + "\n"
	case state.KindIterationStart:
		return fmt.Sprintf("\n--- iteration %d: %s\n", e.Iteration, oneLine(e.Text))
	case state.KindText:
		return strings.TrimRight(e.Text, "\n") + "\n"
	case state.KindTool:
		return "> " + toolText(e.Tool) + "\n"
	case state.KindToolResult:
		return renderResult(e)
	case state.KindDenied:
		return "! denied: " + toolText(e.Tool) + "\n"
	case state.KindError:
		return "! " + oneLine(e.Text) + "\n"
	case state.KindRetry:
		return "! the agent retries by itself: " + oneLine(e.Text) + "\n"
	case state.KindLimit:
		if e.Limit == nil || !e.Limit.Rejected {
			return ""
		}
		return "! usage limit " + e.Limit.Kind + "\n"
	case state.KindResult:
		if e.Error {
			return "! result: " + oneLine(e.Text) + "\n"
		}
	case state.KindGate:
		return "= check " + strings.TrimRight(e.Text, "\n") + "\n"
	case state.KindDecision, state.KindIterationEnd, state.KindRunEnd:
		if e.End != nil && e.End.Rule == RuleFeedback {
			return "= told the agent: " + strings.ReplaceAll(strings.TrimRight(e.Text, "\n"), "\n", "\n  ") + "\n"
		}
		return renderEnd(e)
	}
	return ""
}

func renderResult(e state.Event) string {
	lines := strings.Split(strings.TrimRight(e.Text, "\n"), "\n")
	const shown = 10
	more := len(lines) - shown
	if more > 0 {
		lines = lines[:shown]
	}
	mark := "  "
	if e.Error {
		mark = "! "
	}
	text := mark + strings.Join(lines, "\n"+mark) + "\n"
	if more > 0 {
		text += fmt.Sprintf("%s... (%d more lines)\n", mark, more)
	}
	return text
}

func renderEnd(e state.Event) string {
	if e.End == nil {
		return "=== " + e.Text + "\n"
	}
	head := "=== "
	switch e.Kind {
	case state.KindIterationEnd:
		head = fmt.Sprintf("--- iteration %d: %s in %s, files changed: %d; ", e.Iteration, e.End.Outcome, e.End.Duration.Round(100*time.Millisecond), e.End.Files)
	case state.KindRunEnd:
		head = fmt.Sprintf("=== run ended with exit code %d: ", e.End.Exit)
	}
	text := fmt.Sprintf("%s%s (rule %s)", head, e.End.Action, e.End.Rule)
	if e.Text != "" {
		text += ": " + oneLine(e.Text)
	}
	if !e.End.WakeAt.IsZero() {
		text += "; until " + e.End.WakeAt.Local().Format("2006-01-02 15:04:05")
	}
	return text + "\n"
}

func toolText(t *state.Tool) string {
	if t == nil {
		return ""
	}
	if t.Arg == "" {
		return t.Name
	}
	return t.Name + " " + oneLine(t.Arg)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
