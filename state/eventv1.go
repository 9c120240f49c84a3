package state

import (
	"strconv"
	"strings"
	"time"
)

// eventV1 is a line from before events had a version: one struct for every kind,
// and text that readers had to take apart.
type eventV1 struct {
	Run     string   `json:"run"`
	Text    string   `json:"text"`
	Error   bool     `json:"error"`
	Codes   []string `json:"codes"`
	Tool    *Tool    `json:"tool"`
	Usage   *Usage   `json:"usage"`
	Session string   `json:"session"`
	Model   string   `json:"model"`
	Limit   *Limit   `json:"limit"`
	End     *endV1   `json:"end"`
}

type endV1 struct {
	Outcome  string        `json:"outcome"`
	Action   Action        `json:"action"`
	Rule     string        `json:"rule"`
	Reason   string        `json:"reason"`
	Exit     int           `json:"exit"`
	Files    int           `json:"files"`
	Duration time.Duration `json:"duration_ns"`
	WakeAt   time.Time     `json:"wake_at"`
}

// payload is what version 2 would have written; nil for an unknown kind.
func (e eventV1) payload(kind Kind) Payload {
	tool, usage, limit, end := deref(e.Tool), deref(e.Usage), deref(e.Limit), deref(e.End)
	decision := Decision{Action: end.Action, Rule: end.Rule, Reason: end.Reason, WakeAt: end.WakeAt}
	switch kind {
	case KindRunStart:
		return e.runStart()
	case KindIterationStart:
		return IterationStart{Title: e.Text}
	case KindSession:
		return SessionStart{ID: e.Session, Model: e.Model}
	case KindText:
		source := FromModel
		if len(e.Codes) > 0 {
			source = TextSource(e.Codes[0])
		}
		return Text{Text: e.Text, Source: source}
	case KindTool:
		return tool
	case KindToolResult:
		return ToolResult{Tool: tool, Text: e.Text, Error: e.Error}
	case KindUsage:
		return usage
	case KindDenied:
		return Denied{Tool: tool, Reason: e.Text}
	case KindLimit:
		return limit
	case KindRetry:
		return Retry{Text: e.Text, Codes: e.Codes}
	case KindError:
		return AgentError{Text: e.Text, Codes: e.Codes}
	case KindResult:
		return FinalMessage{Text: e.Text, Error: e.Error, Codes: e.Codes, Session: e.Session}
	case "gate":
		return e.check(tool, end)
	case KindDecision:
		return e.decision(decision)
	case KindIterationEnd:
		detail := e.Text
		if detail == end.Reason {
			detail = "" // version 1 had one text for both
		}
		return IterationEnd{Decision: decision, Outcome: end.Outcome, Detail: detail, Failed: e.Error,
			Files: end.Files, Seconds: end.Duration.Seconds(), Usage: usage}
	case KindRunEnd:
		return RunEnd{Decision: decision, Exit: end.Exit, Seconds: end.Duration.Seconds(), Usage: usage}
	}
	return nil
}

func (e eventV1) runStart() Payload {
	agent, rest, _ := strings.Cut(strings.TrimPrefix(e.Text, "run "+e.Run+": agent "), "; run ")
	s := RunStart{Agent: agent, Model: e.Model}
	if killed, iteration, ok := strings.Cut(rest, " before it was killed in iteration "); ok {
		s.Killed = killed
		s.KilledIteration, _ = strconv.Atoi(iteration)
	}
	return s
}

func (e eventV1) check(tool Tool, end endV1) Payload {
	c := Check{Name: tool.Name, Command: tool.Arg, Passed: !e.Error, Seconds: end.Duration.Seconds()}
	text := e.Text
	if rest, again := strings.CutPrefix(text, "second run of "); again {
		c.Run, text = CheckAgain, rest
	}
	if e.Error {
		c.Output = strings.TrimPrefix(text, tool.Name+": failed\n")
	}
	return c
}

// decision splits up what version 1 wrote as decisions.
func (e eventV1) decision(d Decision) Payload {
	switch d.Rule {
	case "audit":
		text := strings.TrimPrefix(e.Text, "audit: ")
		for _, answer := range []string{"the tick was taken back", "again: it stands while the checks pass"} {
			if i := strings.LastIndex(text, "; "+answer); i >= 0 {
				return Finding{Source: FoundByAudit, Text: text[:i], Answer: text[i+2:]}
			}
		}
		return Finding{Source: FoundByAudit, Text: text}
	case "checks":
		if why, ok := strings.CutPrefix(e.Text, "the box of the task was opened again: "); ok {
			return TaskChange{State: TaskOpen, Why: why}
		}
		return Finding{Source: FoundByChecks, Text: e.Text}
	case "feedback":
		return Feedback{Items: []string{e.Text}}
	case "baseline":
		red := strings.TrimPrefix(e.Text, "red before the agent did anything: ")
		return Baseline{Red: strings.Split(red, "; ")}
	case "agent":
		name, instead, _ := strings.Cut(strings.TrimPrefix(e.Text, "agent "), " instead of ")
		instead, _, _ = strings.Cut(instead, ", which is limited")
		return AgentChange{Name: name, Instead: instead} // the end of the limit had no year
	case "commit":
		return Commit{Refused: []Refusal{{Why: e.Text}}}
	case "paused":
		return Paused{}
	}
	if d.Reason == "" {
		d.Reason = e.Text
	}
	return d
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
