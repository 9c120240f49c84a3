package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/agent/ending"
	"ralph/runner/git"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// ShowEvent puts an event of a turn into the status. spent is what the run has used before the
// call, and hour the tokens of this hour.
func ShowEvent(s *state.Status, p state.Payload, spent state.Usage, hour int64) {
	switch d := p.(type) {
	case state.Phase:
		ShowPhase(s, d)
	case state.SessionStart:
		s.SessionID = d.ID
		if d.Model != "" {
			s.Model = d.Model
		}
	case state.Tool:
		s.LastTool = termtext.Line(d.Name + " " + d.Arg)
	case state.Usage:
		s.Usage, s.TokensThisHour = spent.Add(d), hour+d.Total()
	case state.Limit:
		s.Limit = &d
	case state.AgentError:
		s.LastError = termtext.Line(d.Text)
	case state.Check:
		ShowCheck(s, d)
	}
}

// CommitOf is the commit of what an iteration left: its title names the task of the iteration and the other tasks that
// it did work of. prefix stands before the title.
func CommitOf(prefix string, t task.Task, from state.Origin, others ...string) git.CommitRequest {
	titles := others
	if t.Title != "" {
		titles = append([]string{t.Title}, others...)
	}
	const most = 3
	if more := len(titles) - most; more > 0 {
		titles = append(titles[:most:most], fmt.Sprintf("and %d more", more))
	}
	title := logs.Redact(strings.ReplaceAll(strings.Join(titles, "; "), "\x00", ""))
	title = cmp.Or(title, fmt.Sprintf("iteration %d", from.Iteration))
	return git.CommitRequest{
		Message: strings.TrimSpace(prefix + " " + title),
		Trailers: []git.Trailer{{Key: "Ralph-Run", Value: from.Run},
			{Key: "Ralph-Iteration", Value: fmt.Sprint(from.Iteration)}, {Key: "Ralph-Task", Value: t.ID}},
	}
}

// ShowEnd puts the end of a turn into the status.
func ShowEnd(s *state.Status, res turn.Result, failed string) {
	o := res.Call.Outcome
	s.Outcome = string(o.Class)
	if stopped := o.Class == ending.KilledBySignal && o.Evidence == ""; res.Cut == "" && !stopped {
		s.LastError = failed // what ralph stopped says nothing new
	}
	s.Task.Done, s.Task.Total = res.Proof.After.Done, res.Proof.After.Total
	if limit := res.Call.Outcome.Limit; limit != nil {
		s.Limit = limit
	}
}

// WithoutTask says why an iteration runs without a task; empty: it has one.
func WithoutTask(start state.IterationStart, contradicted bool) string {
	switch {
	case start.Title != "":
		return ""
	case contradicted:
		return "the plan has nothing left, but the agent's last word contradicts it"
	case start.Total > 0:
		return "the plan has nothing left, but a check fails"
	}
	return "no plan: the prompt alone"
}

// maxUncommitted bounds the files in the status.
const maxUncommitted = 100

// AllWork stands for the file where nothing could be committed.
const AllWork = "the agent's work"

// Committed is what is left out when a later commit could be made.
func Committed(all []state.Refusal) []state.Refusal {
	return slices.DeleteFunc(slices.Clone(all), func(r state.Refusal) bool { return r.File == AllWork })
}

// Uncommitted adds files that a commit left out, each once, with the latest reason.
func Uncommitted(all, refused []state.Refusal) []state.Refusal {
	for _, r := range refused {
		all = slices.DeleteFunc(slices.Clone(all), func(o state.Refusal) bool { return o.File == r.File })
		if len(all) < maxUncommitted {
			all = append(all, r)
		}
	}
	return all
}

// ShowPhase puts what a turn does now into the status.
func ShowPhase(s *state.Status, p state.Phase) {
	s.Phase = p.Name
	if p.Name == state.PhaseHook {
		s.LastTool = "hook " + p.Check
	}
	if p.Name != state.PhaseChecking {
		return
	}
	s.LastTool = "check " + p.Check
	switch p.Run {
	case state.CheckAgain:
		s.LastTool += ", second run"
	case state.CheckBaseline:
		s.LastTool += ", before the work"
	case state.CheckOldTests:
		s.LastTool += ", in a copy, with old tests or other code"
		return // it says nothing about the check
	}
	c := checkStatus(s, p.Check)
	c.Result, c.StartedAt = "running", time.Now()
}

// ShowCheck puts the result of a check into the status.
func ShowCheck(s *state.Status, check state.Check) {
	if check.Run != state.CheckOldTests {
		checkStatus(s, check.Name).Ended(check, time.Now())
	}
}

// checkStatus finds the row of a check, and makes it the first time.
func checkStatus(s *state.Status, name string) *state.CheckStatus {
	for i := range s.Checks {
		if s.Checks[i].Name == name {
			return &s.Checks[i]
		}
	}
	s.Checks = append(s.Checks, state.CheckStatus{Name: name})
	return &s.Checks[len(s.Checks)-1]
}
