package turn

import (
	"strings"

	"ralph/logs"
	"ralph/state"
)

// Redacted hides keys and tokens in what an agent printed.
func Redacted(p state.Payload) state.Payload {
	switch d := p.(type) {
	case state.Text:
		d.Text = redact(d.Text)
		return d
	case state.Tool:
		d.Arg = redact(d.Arg)
		return d
	case state.ToolResult:
		d.Tool.Arg, d.Text = redact(d.Tool.Arg), redact(d.Text)
		return d
	case state.Denied:
		d.Tool.Arg, d.Reason = redact(d.Tool.Arg), redact(d.Reason)
		return d
	case state.Retry:
		d.Text = redact(d.Text)
		return d
	case state.AgentError:
		d.Text = redact(d.Text)
		return d
	case state.FinalMessage:
		d.Text = redact(d.Text)
		return d
	case state.IterationStart:
		d.Title = redact(d.Title)
		return d
	case state.IterationEnd:
		d.Title, d.Reason, d.Detail = redact(d.Title), redact(d.Reason), redact(d.Detail)
		return d
	case state.TaskChange:
		d.Title, d.Why = redact(d.Title), redact(d.Why)
		return d
	case state.Decision:
		d.Reason = redact(d.Reason)
		return d
	case state.RunEnd:
		d.Reason = redact(d.Reason)
		return d
	case state.Feedback:
		items := make([]string, len(d.Items))
		for i, text := range d.Items {
			items[i] = redact(text)
		}
		d.Items = items
		return d
	case state.Check:
		d.Command, d.Output = redact(d.Command), redact(d.Output)
		return d
	case state.Finding:
		d.Text = redact(d.Text)
		return d
	}
	return p
}

// redact also finds a key that zero bytes take apart: a terminal shows it whole.
func redact(text string) string { return logs.Redact(strings.ReplaceAll(text, "\x00", "")) }
