package monitor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/state"
)

// tone says how a fact feels; it only colours what words already say.
type tone int

const (
	calm tone = iota
	good
	busy
	warn
	bad
)

// view is what the screen and the text of `ralph status` show: facts as short
// words, none of them longer than its source, all of them inert.
type view struct {
	Project   string
	Word      string // the state in capitals
	Mark      string // one character that says the same
	Tone      tone
	Iteration string // "iteration 4 of 50"
	Elapsed   string
	Identity  string // agent, model, run
	Rule      string // "rule continue"
	News      string // what goes on, or why it waits or ended
	Advice    string // what a person can do about it
	Asked     string // what the end of this iteration brings
	Plan      planView
	Gauges    []gauge
	Cost      string
	Tokens    string
	Spent     []float64
	SpentOf   string
	Breaker   breakerView
	Checks    []checkView
	Notes     []note      // newest last
	Rounds    []roundView // newest first
	Problems  []string
	Alive     bool
	Resumable bool // paused or waiting
}

type planView struct {
	Done, Total int
	Counts      string // "6/10 done"
	Task        string
}

// gauge is one bar. Part is 0..1, below zero when there is no bound to compare with.
type gauge struct {
	Label string
	Part  float64
	Value string
	Note  string
	Tone  tone
}

type breakerView struct {
	State    string
	Tone     tone
	Counters string
	Reason   string
}

type roundView struct {
	Number   int
	Duration string
	Text     string // outcome, rule, files
	Mark     string
	Tone     tone
	Cost     string
}

// newView folds what is known into what is shown.
func newView(s Snapshot, h *history, now time.Time) view {
	st := s.Status
	v := view{Project: oneLine(filepath.Base(s.Dir)), Alive: s.Alive, Resumable: s.State == state.StatusPaused || s.State == state.StatusWaiting, Problems: s.Problems}
	v.Word, v.Mark, v.Tone = word(s.State)
	v.Breaker = newBreakerView(s.Breaker, now)
	v.News, v.Advice = news(s, h, now)
	v.Gauges = gauges(s, h, now)
	if s.State == StateNone || s.State == StateStarting {
		return v
	}
	if st.Pending != "" && active(s.State) {
		v.Asked = oneLine(string(st.Pending)) + " asked; after this iteration"
		v.Resumable = v.Resumable || st.Pending == state.RequestPause
	}
	if n := iterationOf(s, h); n > 0 {
		v.Iteration = "iteration " + strconv.Itoa(n)
		if st.MaxIterations > 0 {
			v.Iteration += " of " + strconv.Itoa(st.MaxIterations)
		}
	}
	until := now
	if !active(s.State) {
		until = st.Timestamp
	}
	if !st.StartedAt.IsZero() {
		v.Elapsed = span(until.Sub(st.StartedAt))
	}
	v.Identity = join(" · ", oneLine(st.Agent), oneLine(st.Model), prefixed("run ", oneLine(st.RunID)))
	v.Rule = prefixed("rule ", oneLine(st.Rule))
	v.Plan = newPlanView(st)
	if u := st.Usage; u != (state.Usage{}) {
		if u.CostUSD > 0 {
			v.Cost = fmt.Sprintf("$%.2f est.", u.CostUSD)
		}
		v.Tokens = fmt.Sprintf("%s in, %s out, %s cached", count(u.InputTokens), count(u.OutputTokens), count(u.CacheReadTokens))
	}
	v.Spent, v.SpentOf = h.spent()
	v.Checks = checkViews(s, now)
	v.Notes = h.notes
	v.Rounds = roundViews(s, h, now)
	return v
}

// iterationOf is the iteration that runs or was the last; 0: none has begun.
func iterationOf(s Snapshot, h *history) int {
	st := s.Status
	n := st.LoopCount
	if st.Status == state.StatusRunning && st.Rule == "" && !st.IterationStartedAt.IsZero() {
		n++ // it is counted when a rule has answered it
	}
	return max(n, h.latest(st.RunID))
}

// active states are those in which a runner should be alive.
func active(name string) bool {
	return name == state.StatusRunning || name == state.StatusWaiting || name == state.StatusPaused
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// word names a state for the header.
func word(name string) (text, mark string, t tone) {
	switch name {
	case StateNone:
		return "NO RUN", "○", calm
	case StateStarting:
		return "STARTING", "●", busy
	case StateDead:
		return "DEAD", "✗", bad
	case state.StatusRunning:
		return "RUNNING", "●", good
	case state.StatusWaiting:
		return "WAITING", "○", warn
	case state.StatusPaused:
		return "PAUSED", "‖", warn
	case state.StatusCompleted:
		return "COMPLETED", "✓", good
	case state.StatusHalted:
		return "HALTED", "■", bad
	case state.StatusStopped:
		return "STOPPED", "■", warn
	case state.StatusFailed:
		return "FAILED", "✗", bad
	}
	return strings.ToUpper(oneLine(name)), "?", warn
}

// silent is the age from which a living runner counts as stuck: it refreshes
// its status at least every two seconds.
const silent = 10 * time.Second

// news is the sentence under the header and what to do about it.
func news(s Snapshot, h *history, now time.Time) (what, advice string) {
	st := s.Status
	why := oneLine(st.Reason)
	switch s.State {
	case StateNone:
		return "nothing has run here yet; this screen follows as soon as a run starts", "start one with: ralph"
	case StateStarting:
		return fmt.Sprintf("a run is starting (pid %d)", s.Owner.PID), ""
	case StateDead:
		return fmt.Sprintf("the runner (pid %d) is gone without a last word, last seen %s ago", st.PID, span(s.Age)), "ralph resume continues the run"
	case state.StatusRunning:
		if s.Age > silent {
			return fmt.Sprintf("the runner is alive but has not been heard for %s", span(s.Age)), ""
		}
		return doing(s, h, now), ""
	case state.StatusWaiting:
		return waiting(st, now), "ralph resume ends the wait"
	case state.StatusPaused:
		return led(": ", "paused", oneLine(st.LastAction)), "ralph resume goes on"
	case state.StatusCompleted:
		return join(": ", oneLine(st.ExitReason), why), ""
	}
	what = join(": ", oneLine(st.ExitReason), why)
	if st.Rule != "" && st.Rule != st.ExitReason {
		what += " (rule " + oneLine(st.Rule) + ")"
	}
	if st.ExitCode != 0 {
		what += fmt.Sprintf(" · exit %d", st.ExitCode)
	}
	advice = oneLine(st.Next)
	if advice == "" && s.Breaker.State == state.BreakerOpen {
		advice = "ralph reset --circuit closes the breaker"
	}
	return what, advice
}

// phaseAgent is the phase of status.json while the agent works.
const phaseAgent = "agent"

// doing is the present of a running iteration: the check or the tool at work,
// else the phase. Checks also run before the first iteration and between two.
func doing(s Snapshot, h *history, now time.Time) string {
	st := s.Status
	if check := runningCheck(st, now); check != "" {
		return check
	}
	what := oneLine(st.Phase)
	switch {
	case what == "checking":
		return what
	case what == "observing":
		what = "looking at what has changed"
	case what != phaseAgent:
	case h.Busy && h.Tool != nil:
		what = join(" ", oneLine(h.Tool.Name), oneLine(h.Tool.Arg))
	case st.LastTool != "":
		what = "after " + oneLine(st.LastTool)
	default:
		what = "the agent works"
	}
	agents, since := "", ""
	if n := h.subAgents(); n > 0 && st.Phase == phaseAgent {
		agents = plural(n, "sub-agent")
	}
	if !st.IterationStartedAt.IsZero() {
		since = span(now.Sub(st.IterationStartedAt)) + " in"
	}
	return join(" · ", since, agents, within(s.Dir, what))
}

// waiting says first what a narrow screen must not cut: how long it still takes.
func waiting(st state.Status, now time.Time) string {
	left := "waiting"
	if !st.WakeAt.IsZero() {
		left = fmt.Sprintf("%s left, until %s", countdown(st.WakeAt.Sub(now)), clock(st.WakeAt, now))
	}
	why := oneLine(st.Rule)
	if st.Limit != nil && st.Rule == "usage_limit" {
		if why = "usage limit"; st.Limit.Kind != "" {
			why = windowName(st.Limit.Kind) + " " + why
		}
	}
	return join(": ", left, why, oneLine(st.Reason))
}

func newPlanView(st state.Status) planView {
	p := planView{Done: max(st.Task.Done, 0), Total: max(st.Task.Total, 0)}
	if st.Status != state.StatusCompleted {
		id, title := oneLine(st.Task.ID), oneLine(st.Task.Title)
		if digest(id) || strings.HasPrefix(title, id) {
			id = ""
		}
		p.Task = join(" ", id, title)
	}
	if p.Total == 0 {
		p.Counts = "no plan"
		return p
	}
	p.Done = min(p.Done, p.Total)
	p.Counts = fmt.Sprintf("%d/%d done", p.Done, p.Total)
	return p
}

// digest tells an id that was computed from one that a person gave.
func digest(id string) bool {
	return len(id) >= 8 && strings.Trim(id, "0123456789abcdef") == ""
}

func newBreakerView(b state.Breaker, now time.Time) breakerView {
	v := breakerView{State: oneLine(b.State), Reason: oneLine(b.Reason)}
	switch b.State {
	case state.BreakerClosed, "":
		v.State, v.Tone = state.BreakerClosed, good
		v.Reason = ""
		if b.LastProgressLoop > 0 {
			v.Reason = fmt.Sprintf("last progress in iteration %d", b.LastProgressLoop)
		}
	case state.BreakerHalfOpen:
		v.Tone = warn
	default:
		v.Tone = bad
	}
	v.Counters = fmt.Sprintf("no progress %d · same error %d · denials %d", b.NoProgress, b.SameError, b.PermissionDenials)
	if b.TotalOpens > 0 {
		v.Counters += " · opened " + plural(b.TotalOpens, "time")
	}
	if v.Tone != good && !b.LastChange.IsZero() {
		v.Counters += " · since " + clock(b.LastChange, now)
	}
	return v
}

// roundViews lists the iterations, newest first.
func roundViews(s Snapshot, h *history, now time.Time) []roundView {
	all := make([]roundView, 0, len(h.Rounds))
	for i, r := range slices.Backward(h.Rounds) {
		if r.Number == 0 {
			continue
		}
		v := roundView{Number: r.Number, Duration: span(r.Duration), Mark: "✓", Tone: good}
		files := ""
		if r.Files > 0 {
			files = plural(r.Files, "file")
		}
		switch {
		case !r.Ended && i == len(h.Rounds)-1 && active(s.State):
			v.Duration, v.Mark, v.Tone = span(now.Sub(r.Start)), "●", busy
			v.Text = join(", ", map[bool]string{true: "checking", false: "running"}[runningCheck(s.Status, now) != ""], plural(r.Tools, "tool call"))
		case !r.Ended:
			v.Duration, v.Mark, v.Tone = "?", "?", warn
			v.Text = join(", ", "cut off", plural(r.Tools, "tool call"))
		default:
			v.Text = join(", ", unless("completed-turn", r.Outcome), unless("continue", r.Rule), orElse(files, "no change"))
			v.Mark, v.Tone = roundMark(r)
		}
		if r.Usage.CostUSD > 0 {
			v.Cost = fmt.Sprintf("$%.2f", r.Usage.CostUSD)
		}
		all = append(all, v)
	}
	return all
}

// unless leaves out what is the normal case.
func unless(normal, text string) string {
	if text == normal {
		return ""
	}
	return oneLine(text)
}

func roundMark(r round) (string, tone) {
	switch {
	case r.Rule == "complete" || r.Rule == "plan_complete" || r.Rule == "project_complete":
		return "✓", good
	case r.Action == "stop":
		return "■", bad
	case r.Action == "wait":
		return "○", warn
	case r.Outcome != "completed-turn" || r.Rule != "continue":
		return "!", warn
	case r.Files == 0:
		return "·", calm
	}
	return "✓", good
}
