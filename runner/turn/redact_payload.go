package turn

// This file hides keys and tokens in the words of events.

import (
	"slices"
	"strings"

	"ralph/state"
)

// redactPayload hides what hide finds in the words of an event. Paths stay as they are.
func redactPayload(p state.Payload, hide func(string) string) state.Payload {
	return redacted(p, whole(hide))
}

// whole also finds a key that zero bytes take apart: a terminal shows it whole.
func whole(hide func(string) string) func(string) string {
	return func(text string) string { return hide(strings.ReplaceAll(text, "\x00", "")) }
}

func redacted(p state.Payload, redact func(string) string) state.Payload {
	switch d := p.(type) {
	case state.Text:
		d.Text = redact(d.Text)
		return d
	case state.Tool:
		return called(d, redact)
	case state.ToolResult:
		d.Tool, d.Text = called(d.Tool, redact), redact(d.Text)
		return d
	case state.Denied:
		d.Tool, d.Reason = called(d.Tool, redact), redact(d.Reason)
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
	case state.RunStart:
		d.LastError = redact(d.LastError)
		return d
	case state.AgentChange:
		d.Why = redact(d.Why)
		return d
	case state.IterationStart:
		d.Title, d.Why = redact(d.Title), redact(d.Why)
		return d
	case state.IterationEnd:
		d.Title, d.Reason, d.Detail, d.Says = redact(d.Title), redact(d.Reason), redact(d.Detail), redact(d.Says)
		return d
	case state.TaskChange:
		d.Title, d.Why = redact(d.Title), redact(d.Why)
		return d
	case state.Decision:
		d.Reason = redact(d.Reason)
		return d
	case state.RunEnd:
		d.Reason, d.Next, d.NotBegun = redact(d.Reason), redact(d.Next), notBegun(d.NotBegun, redact)
		return d
	}
	return proof(p, redact)
}

func notBegun(n *state.NotBegun, redact func(string) string) *state.NotBegun {
	if n == nil {
		return nil
	}
	hidden := &state.NotBegun{Count: n.Count, First: slices.Clone(n.First)}
	for i, name := range hidden.First {
		hidden.First[i].Title = redact(name.Title)
	}
	return hidden
}

func called(t state.Tool, redact func(string) string) state.Tool {
	t.Arg, t.Hunk, t.Asks = redact(t.Arg), redact(t.Hunk), slices.Clone(t.Asks)
	for i, ask := range t.Asks {
		t.Asks[i] = asked(ask, redact)
	}
	return t
}

func asked(a state.Ask, redact func(string) string) state.Ask {
	return state.Ask{Text: redact(a.Text), Options: redactAll(a.Options, redact)}
}

// proof hides them in what the checks, the audit and hooks say.
func proof(p state.Payload, redact func(string) string) state.Payload {
	switch d := p.(type) {
	case state.Question:
		d.Title, d.Ask = redact(d.Title), asked(d.Ask, redact)
		return d
	case state.Answer:
		d.Text = redact(d.Text)
		return d
	case state.Feedback:
		d.Items = redactAll(d.Items, redact)
		return d
	case state.Baseline:
		d.Red = redactAll(d.Red, redact)
		return d
	case state.Commit:
		d.Refused, d.Why = slices.Clone(d.Refused), redact(d.Why)
		for i := range d.Refused {
			d.Refused[i].Why = redact(d.Refused[i].Why)
		}
		return d
	case state.Check:
		d.Command, d.Says, d.Output, d.Skipped = redact(d.Command), redact(d.Says), redact(d.Output), redact(d.Skipped)
		return d
	case state.Hook:
		d.Command, d.Failed, d.Output = redact(d.Command), redact(d.Failed), redact(d.Output)
		d.Reason, d.Note, d.Says = redact(d.Reason), redact(d.Note), redact(d.Says)
		return d
	case state.Finding:
		d.Text = redact(d.Text)
		return d
	case state.Verdict:
		return d.Redacted(redact)
	}
	return p
}

// redactAll keeps nil: the field is then left out or null, as before.
func redactAll(texts []string, redact func(string) string) []string {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = redact(texts[i])
	}
	return texts
}
