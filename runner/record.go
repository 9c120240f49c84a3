package runner

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ralph/logs"
	"ralph/runner/agent"
	"ralph/runner/agent/argv"
	"ralph/runner/agent/statusblock"
	"ralph/runner/rules"
	"ralph/state"
)

// emit stamps an event, appends it to events.jsonl and live.log, and shows it.
func (l *Loop) emit(e state.Event) {
	e = redacted(e)
	e.Time, e.Run = time.Now(), l.d.RunID
	if data, err := json.Marshal(e); err == nil {
		_, err = l.events.Write(append(data, '\n'))
		l.lost(err)
	}
	if text := Render(e); text != "" { // people read it in a terminal
		_, err := l.live.Write([]byte(logs.Inert(text)))
		l.lost(err)
	}
	if l.d.Show != nil {
		l.d.Show(e)
	}
}

// emitFeedback tells what the agent is told about the iteration before, word for word.
func (l *Loop) emitFeedback(iteration int) {
	told := slices.Clone(l.notes.feedback)
	if l.notes.refused != "" {
		told = slices.Insert(told, 0, "Your claim of completion was refused: "+l.notes.refused)
	}
	if len(told) == 0 {
		return
	}
	l.emit(state.Event{Kind: state.KindDecision, Iteration: iteration, Text: strings.Join(told, "\n\n"),
		End: &state.End{Action: string(rules.ActionContinue), Rule: RuleFeedback}})
}

// redacted hides keys and tokens. What an agent prints passes it before anything
// looks at it: its words come back in state files, in the log and in prompts.
func redacted(e state.Event) state.Event {
	e.Text = redact(e.Text)
	if e.Tool != nil {
		tool := *e.Tool
		tool.Arg = redact(tool.Arg)
		e.Tool = &tool
	}
	return e
}

// redact also finds a key that zero bytes take apart: a terminal shows it whole.
func redact(text string) string { return logs.Redact(strings.ReplaceAll(text, "\x00", "")) }

func (l *Loop) lost(err error) {
	if err != nil {
		l.d.Log.Warn("log lost", logs.KeyError, err)
	}
}

// record tells a decision; called is true when it answers an agent call.
func (l *Loop) record(d rules.Decision, called bool) {
	end := &state.End{Action: string(d.Action), Rule: d.Rule, Reason: d.Reason, WakeAt: d.Until}
	e := state.Event{Kind: state.KindDecision, Text: d.Reason, End: end}
	if called {
		it := l.it
		e.Kind, e.Iteration, e.Usage = state.KindIterationEnd, it.Number, &it.Usage
		e.Error = it.Failed()
		end.Outcome, end.Files, end.Duration = string(it.Outcome.Class), it.Change.Count, it.Duration
		if e.Text == "" {
			e.Text = it.Outcome.Reason
		}
		l.d.Log.Info("iteration ended", logs.KeyIteration, it.Number, logs.KeyOutcome, it.Outcome.Class,
			logs.KeyRule, d.Rule, logs.KeyReason, d.Reason, "files", it.Change.Count, "seconds", it.Duration.Seconds())
		for _, t := range it.Advised {
			l.d.Log.Warn("a compound command was denied although each part is allowed", "command", t.Arg, "add", argv.AllowEntry(t.Name, t.Arg))
		}
	}
	l.board.update(func(s *state.Status) {
		l.showCalls(s)
		s.Rule, s.Reason, s.LoopCount, s.Usage = d.Rule, d.Reason, l.mem.Iterations, l.mem.Usage
		s.Breaker = state.BreakerStatus{State: l.mem.Breaker.State, Reason: l.mem.Breaker.Reason}
		s.LimitedUntil, s.Tasks = maps.Clone(l.limits), l.tasks.kept()
		if called {
			s.Outcome = string(l.it.Outcome.Class)
			s.Task.Done, s.Task.Total = l.it.After.Done, l.it.After.Total
			if l.it.Outcome.Limit != nil {
				s.Limit = l.it.Outcome.Limit
			}
		}
	})
	l.emit(e)
}

// analysis is .response_analysis.
type analysis struct {
	Loop      int                `json:"loop_number"`
	Timestamp time.Time          `json:"timestamp"`
	Outcome   agent.Class        `json:"outcome"`
	Reason    string             `json:"reason"`
	Evidence  string             `json:"evidence"`
	Signalled bool               `json:"has_status_block"`
	Signal    statusblock.Signal `json:"status_block"`
	Exit      bool               `json:"exit_signal"`
	Progress  bool               `json:"has_progress"`
	Files     int                `json:"files_modified"`
	Tools     int                `json:"tool_calls"`
	Denied    []state.Tool       `json:"permission_denials"`
	Usage     state.Usage        `json:"usage"`
	Seconds   float64            `json:"seconds"`
	Tasks     map[string]int     `json:"open_tasks"`
}

// save puts what the next run, or the next iteration after a crash, needs on disk.
func (l *Loop) save(it rules.Iteration, was rules.Memory) error {
	w := l.d.State
	if err := w.SaveCalls(l.calls); err != nil {
		return err
	}
	if b := l.mem.Breaker; b.State != was.Breaker.State {
		l.mem.Breaker = was.Breaker
		if err := l.moveBreaker(b); err != nil {
			return err
		}
	} else if err := w.SaveBreaker(b); err != nil {
		return err
	}
	if l.mem.Iterations > was.Iterations {
		mark(&l.signals.TestOnlyLoops, it.Number, it.TestOnly())
		mark(&l.signals.DoneSignals, it.Number, it.Signalled && it.Signal.Status == "COMPLETE")
		mark(&l.signals.CompletionIndicators, it.Number, it.Claims())
	}
	if err := w.SaveSignals(l.signals); err != nil {
		return err
	}
	return w.SaveAnalysis(analysis{
		Loop: it.Number, Timestamp: time.Now(), Outcome: it.Outcome.Class, Reason: it.Outcome.Reason, Evidence: it.Outcome.Evidence,
		Signalled: it.Signalled, Signal: it.Signal, Exit: it.Claims(), Progress: it.Progress(), Files: it.Change.Count,
		Tools: it.ToolCalls, Denied: it.Denied, Usage: it.Usage, Seconds: it.Duration.Seconds(),
		Tasks: map[string]int{"before": it.Before.Remaining, "after": it.After.Remaining},
	})
}

func mark(list *[]int, loop int, hit bool) {
	if hit {
		*list = append(*list, loop)
	}
	if n := len(*list); n > 5 {
		*list = (*list)[n-5:]
	}
}

// moveBreaker saves a breaker in a new state and its history.
func (l *Loop) moveBreaker(b state.Breaker) error {
	from := l.mem.Breaker.State
	l.mem.Breaker = b
	l.d.Log.Info("circuit breaker", "from", from, "to", b.State, logs.KeyReason, b.Reason)
	if l.board != nil {
		l.board.update(func(s *state.Status) { s.Breaker = state.BreakerStatus{State: b.State, Reason: b.Reason} })
	}
	if err := l.d.State.SaveBreaker(b); err != nil {
		return err
	}
	return l.d.State.AddBreakerChange(state.BreakerChange{Timestamp: time.Now(), Loop: b.CurrentLoop, FromState: from, ToState: b.State, Reason: b.Reason})
}

// resumable is the session to resume, empty for a fresh start. Only sessions
// that ralph itself began are ever resumed.
func (l *Loop) resumable() string {
	s := l.session
	if !l.o.Continue || l.mem.Stale || s.Agent != l.current.agent.Spec.Name || time.Since(s.LastUsed) > l.o.SessionExpiry {
		return ""
	}
	return s.SessionID
}

func (l *Loop) keepSession(it rules.Iteration, id string) {
	now := time.Now()
	switch {
	case it.Outcome.Class == agent.ClassStaleSession || it.Outcome.Class == agent.ClassContextTooLong:
		l.session = state.Session{Agent: it.Agent, ResetAt: now, ResetReason: string(it.Outcome.Class)}
	case id == "":
		return
	case it.Failed() && it.Outcome.Class != agent.ClassTimeoutWithWork:
		if id != l.session.SessionID {
			return
		}
		l.session.Counted = l.counted // or the next call would count it again
	default:
		if l.session.SessionID != id {
			l.session = state.Session{Agent: it.Agent, SessionID: id, CreatedAt: now}
		}
		l.session.LastUsed, l.session.Counted = now, l.counted
	}
	if !l.o.Continue {
		return // nobody resumes it before the end of the run: close saves it
	}
	if err := l.d.State.SaveSession(l.session); err != nil {
		l.fail(err)
	}
}

// summary tells the next iteration what this one did.
func summary(it rules.Iteration, final string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Iteration %d", it.Number)
	if it.Task.Title != "" {
		fmt.Fprintf(&b, " worked on %q", it.Task.Title)
	}
	fmt.Fprintf(&b, ": %s, files changed: %d, open tasks: %d, then %d.", it.Outcome.Class, it.Change.Count, it.Before.Remaining, it.After.Remaining)
	if it.Signal.Recommendation != "" {
		fmt.Fprintf(&b, " It recommended: %s", it.Signal.Recommendation)
	} else if line, _, _ := strings.Cut(strings.TrimSpace(final), "\n"); line != "" {
		fmt.Fprintf(&b, " It said: %.300s", line)
	}
	return b.String()
}
