// Package summary describes the model of a run in texts of one line each, for small screens and
// for ralph status.
package summary

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// Tone says whether a text is good news. It only adds colour.
type Tone int

// The tones.
const (
	Calm Tone = iota
	Good
	Busy
	Warn
	Bad
)

// Summary is a model as short, clean texts of one line each. An empty text is unknown
// or does not apply.
type Summary struct {
	Headline
	News
	Plan     Plan
	Gauges   []Gauge // of API usage: calls and tokens, then the limit windows
	Cost     string
	Tokens   string
	Breaker  Breaker
	Ends     []End       // what ends the run, the nearest first
	Checks   []CheckLine // running, failed, passed
	Notes    []view.Note // newest last
	Problems []string
	Alive    bool
	Over     bool // the run has ended: nothing is forecast
	// Resumable is true if the run is paused, waits for more than its own bounds of an hour, or is about to pause.
	Resumable bool
}

// Headline says what runs.
type Headline struct {
	Project   string
	Word      string // the state in capitals
	Mark      string // the state as one character
	Tone      Tone
	Number    int    // of the iteration; 0: none yet
	Most      int    // iterations that the run may have; 0: no bound
	Iteration string // both in words: "iteration 4 of 50"
	Elapsed   string
	Identity  string // agent, model, run
	Rule      string // "rule continue"
}

// News says what happens now.
type News struct {
	Who    string // the agent that works on the task now; empty: none does
	What   string // what the run does, or why it waits or ended
	Advice string // what the user can do
	Asked  string // the pending request
}

// Plan is the progress of the plan.
type Plan struct {
	Done, Total int
	Counts      string // "6/10 done"
	Task        string
	Last        bool     // the run has ended, and worked on that; false: it is at work on Task, or Task is next
	Slots       []string // the turns side by side, a line each; empty: one turn at a time
	Fleet       string   // who works for the fleet; empty: the run has none
	Ahead       string   // when the open tasks may be done at the pace so far; empty: too little is known
}

// Sentence says in at most width cells whether the run is alive, and what it does now. Where there is little room it
// leaves the task out.
func (v Summary) Sentence(width int) string {
	what := v.What
	if turns := len(v.Plan.Slots); turns > 1 {
		what = view.Join(" · ", fmt.Sprintf("%d turns side by side", turns), what)
	}
	if room := width - termtext.Width(v.Who+" works on ·  "+what); v.Who != "" && v.Plan.Task != "" && room >= 20 {
		return v.Who + " works on " + termtext.Fit(v.Plan.Task, room) + " · " + what
	}
	if named := view.Join(": ", v.Who, what); termtext.Width(named) <= width {
		return named
	}
	return termtext.Fit(what, width)
}

// Breaker is the circuit breaker in words: the names of its states are only in status files and in ralph
// --circuit-status.
type Breaker struct {
	Stuck string // is the run stuck: no, maybe, yes
	Says  string // "no progress in 2 of 3 iterations"; empty: nothing is known yet
	Tone  Tone
}

// Of summarizes a model.
func Of(m *view.Model, now time.Time) Summary {
	st := m.Status
	v := Summary{Alive: m.Alive, Problems: m.Problems}
	v.Project = termtext.Line(filepath.Base(m.Dir))
	if v.Word, v.Mark, v.Tone = Word(m.State); m.Reopened() {
		v.Word, v.Mark, v.Tone = "UNDONE", "○", Warn
	}
	v.Breaker = newBreaker(m)
	v.What, v.Advice = news(m, now)
	v.Gauges = gauges(m, now)
	v.Resumable = m.State == state.StatusPaused || m.State == state.StatusWaiting && m.Status.Rule != state.RuleHourly
	if m.State == view.StateNone || m.State == view.StateStarting {
		if st.Task.Total > 0 {
			v.Plan = newPlan(st)
		}
		return v
	}
	active := m.Active()
	if st.Pending != "" && active {
		v.Asked = termtext.Line(string(st.Pending)) + " requested, after this iteration"
		v.Resumable = v.Resumable || st.Pending == state.RequestPause
	}
	if v.Number = m.Iteration(); v.Number > 0 {
		v.Most = max(st.MaxIterations, 0)
		v.Iteration = "iteration " + strconv.Itoa(v.Number)
		if v.Most > 0 {
			v.Iteration += " of " + strconv.Itoa(v.Most)
		}
	}
	until := now
	if !active {
		until = st.Timestamp
	}
	if !st.StartedAt.IsZero() {
		v.Elapsed = view.Span(until.Sub(st.StartedAt))
	}
	v.Identity = lineOf(" · ", view.Join(" ", view.Join(" · ", st.Agent, st.Model), from(st)),
		view.Prefix("next: ", strings.TrimSpace(m.Next.Agent+" "+m.Next.Model)), view.Prefix("run ", st.RunID))
	v.Rule = termtext.Line(view.Prefix("rule ", st.Rule))
	v.Plan = newPlan(st)
	if m.State == state.StatusRunning && st.Phase == state.PhaseAgent && m.Age <= silent && len(st.Slots) < 2 &&
		runningCheck(st, now) == "" {
		v.Who = termtext.Line(st.Agent)
	}
	task, known := m.LatestTask()
	asks := m.State == state.StatusWaiting && st.Rule == state.RuleQuestion // nobody works until a person answers
	v.Plan.Last = (!m.Alive || asks) && known && task == st.Task.ID
	if active {
		v.Plan.Slots = slots(m.Dir, st.Slots, now)
		v.Plan.Fleet = fleet(st.Fleet)
	}
	if active && !asks {
		v.Plan.Ahead = forecast(m, now)
	}
	v.Over = known && !active
	v.Ends = ends(m, now)
	if u := st.Usage; u != (state.Usage{}) {
		if u.CostUSD > 0 {
			v.Cost = fmt.Sprintf("$%.2f est.", u.CostUSD)
		}
		if u.UnpricedCalls > 0 {
			v.Cost = view.Join(", ", v.Cost, "unknown for "+termtext.Count(u.UnpricedCalls, "call"))
		}
		v.Tokens = tokens(u)
	}
	v.Checks = checkLines(m, now)
	v.Notes = distinct(m.Run.Notes)
	if st.Status == state.StatusCompleted || st.Status == state.StatusReview { // all findings were looked at again
		v.Notes = slices.DeleteFunc(v.Notes, func(n view.Note) bool { return n.Kept && !among(st.Review, n) })
	}
	for _, c := range m.Checks() { // what passes now failed earlier
		v.Notes = slices.DeleteFunc(v.Notes, func(n view.Note) bool {
			return c.Result == "passed" && strings.HasPrefix(n.Text, "checks: "+c.Name+": ") && !strings.Contains(n.Text, "flaky")
		})
	}
	for i := range v.Notes {
		v.Notes[i].Text = Numbered(st.Review, v.Notes[i].Text)
	}
	return v
}

// Numbered puts the number before the text of a finding by which ralph accept knows it, if it has one.
func Numbered(items []state.ReviewItem, text string) string {
	line := termtext.Line(text)
	for _, source := range []string{state.FoundByAudit, state.FoundByChecks, state.FoundByReview} {
		line = strings.TrimPrefix(line, source+": ")
	}
	for _, item := range items {
		if said := termtext.Line(item.Text); item.N > 0 && said != "" && strings.HasPrefix(line, said) {
			return fmt.Sprintf("%d. %s", item.N, text)
		}
	}
	return text
}

// distinct are the notes without those that a later one repeats.
func distinct(all []view.Note) (notes []view.Note) {
	for i, n := range all {
		if !slices.ContainsFunc(all[i+1:], func(o view.Note) bool { return o.Text == n.Text }) {
			notes = append(notes, n)
		}
	}
	return notes
}

// tokens formats the tokens used: those that count against the hourly budget, their sum, and cache reads.
func tokens(u state.Usage) string {
	parts := Count(u.InputTokens) + " in + " + Count(u.OutputTokens) + " out"
	if u.CacheWriteTokens > 0 {
		parts += " + " + Count(u.CacheWriteTokens) + " cache writes"
	}
	parts += " = " + Count(u.Total())
	if u.CacheReadTokens > 0 {
		parts += " · " + Count(u.CacheReadTokens) + " cache reads"
	}
	return parts
}

// lineOf joins parts to one clean line.
func lineOf(sep string, parts ...string) string {
	for i := range parts {
		parts[i] = termtext.Line(parts[i])
	}
	return view.Join(sep, parts...)
}

var runSigns = map[string]sign{
	view.StateNone:        {"○", Calm},
	view.StateStarting:    {"●", Busy},
	view.StateCrashed:     {"✗", Bad},
	state.StatusRunning:   {"●", Good},
	state.StatusWaiting:   {"○", Warn},
	state.StatusPaused:    {"‖", Warn},
	state.StatusCompleted: {"✓", Good},
	state.StatusReview:    {"?", Warn},
	state.StatusHalted:    {"■", Bad},
	state.StatusStopped:   {"■", Warn},
	state.StatusFailed:    {"✗", Bad},
}

// Word returns the name of a state, with a character and a tone for it.
func Word(name string) (text, mark string, t Tone) {
	s, known := runSigns[name]
	if !known {
		s = sign{"?", Warn}
	}
	text = strings.ToUpper(termtext.Line(name))
	if name == view.StateNone {
		text = "NO RUN"
	}
	return text, s.mark, s.tone
}

// silent is the age of the status from which a living runner looks stuck. It refreshes
// the status at least every two seconds.
const silent = 10 * time.Second

// news returns the sentence below the headline and the advice.
func news(m *view.Model, now time.Time) (what, advice string) {
	st := m.Status
	switch m.State {
	case view.StateNone:
		return "nothing has run here yet", "start one with: ralph (in a new project: ralph init)"
	case view.StateStarting:
		return fmt.Sprintf("a run is starting (pid %d)", m.Owner.PID), ""
	case view.StateCrashed:
		what = fmt.Sprintf("the runner (pid %d) died; last seen %s ago", st.PID, view.Span(m.Age))
		return lineOf("; ", what, view.Prefix("last error: ", st.LastError)), "continue with: ralph resume"
	case state.StatusRunning:
		if m.Age > silent {
			return "the runner is alive but has been silent for " + view.Span(m.Age), ""
		}
		return doing(m, now), ""
	case state.StatusWaiting:
		if st.Rule == state.RuleQuestion {
			return waiting(m.Wait, now), "see what is asked, and answer: ralph questions"
		}
		if st.Rule == state.RuleHourly { // the budget would only wait again
			return waiting(m.Wait, now), ""
		}
		return waiting(m.Wait, now), "continue now with: ralph resume"
	case state.StatusPaused:
		return cmp.Or(termtext.Line(m.Wait.Reason), "paused"), "continue with: ralph resume"
	}
	what = termtext.Line(cmp.Or(st.Reason, st.ExitReason))
	if m.Reopened() && st.Task.Total > 0 {
		what += fmt.Sprintf(": %d of %s open", st.Task.Total-st.Task.Done, termtext.Count(st.Task.Total, "task"))
	} else if st.Rule != "" {
		what = view.Join(" ", what, "("+termtext.Line(state.Ended(st.Rule, st.ExitCode))+")")
	}
	what = view.Join("; ", termtext.Line(state.NotProven(m.State, st.Unproven)), what)
	advice = termtext.Line(st.Next)
	if m.Breaker.State != state.BreakerOpen { // a person has closed it since
		advice = strings.Replace(advice, "ralph reset --circuit && ", "", 1)
	}
	if advice == "" && m.State == state.StatusCompleted {
		advice = "see what was done: ralph report"
	}
	if advice == "" && m.Breaker.State == state.BreakerOpen {
		advice = "let it try again with: ralph reset --circuit"
	}
	return what, advice
}

// doing returns what a running iteration does: its check or tool, else its phase.
// Checks also run before and between iterations.
func doing(m *view.Model, now time.Time) string {
	if check := runningCheck(m.Status, now); check != "" {
		return check
	}
	st, tool := m.Status, m.Run.Tool
	what := termtext.Line(st.Phase)
	switch {
	case what == "checking":
		return what
	case what == "observing":
		what = "looking at the changes"
	case what != state.PhaseAgent:
	case tool != nil && tool.Busy:
		what = view.Within(m.Dir, lineOf(" ", tool.Name, tool.Arg))
	case st.LastTool != "":
		what = "after " + view.Within(m.Dir, termtext.Line(st.LastTool))
	default:
		what = "the agent is working"
	}
	agents, since, file := "", "", ""
	if st.Phase == state.PhaseAgent && m.Run.File != "" && !strings.Contains(what, view.Within(m.Dir, m.Run.File)) {
		file = "file " + termtext.Line(m.Run.File)
	}
	if n := len(m.Run.SubAgents); n > 0 && st.Phase == state.PhaseAgent {
		agents = termtext.Count(n, "sub-agent")
	}
	if !st.IterationStartedAt.IsZero() {
		since = view.Span(now.Sub(st.IterationStartedAt)) + " in"
	}
	return view.Join(" · ", since, agents, view.Within(m.Dir, what), view.Within(m.Dir, file))
}

// waiting starts with the time left, which a narrow screen must not cut.
func waiting(w view.Wait, now time.Time) string {
	left := "waiting"
	if !w.Until.IsZero() {
		left = fmt.Sprintf("%s left, until %s", rough(max(w.Until.Sub(now), 0)), view.Clock(w.Until, now))
	}
	why := termtext.Line(w.Rule)
	if w.Rule == state.RuleUsageLimit {
		if why = "usage limit"; w.Window != "" && w.Window != "usage" {
			why = view.WindowName(w.Window) + " " + why
		}
	}
	return view.Join(": ", left, why, termtext.Line(w.Reason))
}

// slots says what each of the turns side by side is doing.
func slots(dir string, all []state.SlotStatus, now time.Time) (lines []string) {
	for _, s := range all {
		took := ""
		if !s.Since.IsZero() {
			took = view.Span(now.Sub(s.Since))
		}
		on := ""
		if s.Worker != "" {
			on = "on " + termtext.Line(s.Worker)
		}
		// The title is the longest part, so what a narrow screen must show comes before it.
		lines = append(lines, view.Join(" · ",
			strconv.Itoa(s.Slot)+" "+view.Join(" ", took, termtext.Line(s.Phase), on),
			taskName(s.TaskID, s.Title), "iteration "+strconv.Itoa(s.Iteration),
			view.Within(dir, termtext.Line(s.LastTool))))
	}
	return lines
}

func fleet(f *state.FleetStatus) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s, %d of %s busy", termtext.Count(f.Workers, "worker"), f.Busy,
		termtext.Count(f.Slots, "slot"))
}

// taskName is what a person calls a task: its title, with the id that the plan gave it.
func taskName(id, title string) string {
	id, title = termtext.Line(id), termtext.Line(title)
	rest, known := strings.CutPrefix(title, id)
	if next, _ := utf8.DecodeRuneInString(rest); view.Computed(id) ||
		known && !unicode.IsLetter(next) && !unicode.IsDigit(next) {
		id = ""
	}
	return view.Join(" ", id, title)
}

// Lastly stands before the task of a run that has ended: nobody works on it any more.
func (p Plan) Lastly() string {
	if p.Last {
		return "last: "
	}
	return ""
}

func newPlan(st state.Status) Plan {
	p := Plan{Done: max(st.Task.Done, 0), Total: max(st.Task.Total, 0)}
	if over := !st.Active() && p.Done == p.Total && p.Total > 0; st.Undone > 0 ||
		st.Status != state.StatusCompleted && !over {
		p.Task = taskName(st.Task.ID, st.Task.Title)
	}
	if p.Total == 0 {
		p.Counts = "no plan"
		return p
	}
	p.Done = min(p.Done, p.Total)
	p.Counts = fmt.Sprintf("%d/%d done", p.Done, p.Total)
	return p
}

func newBreaker(m *view.Model) Breaker {
	b := m.Breaker
	switch b.State {
	case state.BreakerClosed, "":
		if b.LastProgressLoop == 0 {
			return Breaker{"no", "", Good}
		}
		return Breaker{"no", fmt.Sprintf("last progress in iteration %d", b.LastProgressLoop), Good}
	case state.BreakerHalfOpen:
		for _, bound := range m.Status.EndsWhen {
			if bound.Name == state.BoundProgress && b.NoProgress > 0 {
				return Breaker{"maybe", fmt.Sprintf("no progress in %d of %.0f iterations", b.NoProgress, bound.Most), Warn}
			}
		}
		return Breaker{"maybe", termtext.Line(b.Reason), Warn}
	}
	return Breaker{"yes", termtext.Line(b.Reason), Bad}
}

// from is what names agent and model; empty: not known.
func from(st state.Status) string {
	if st.AgentFrom == "" || st.AgentFrom == "options" { // nobody wonders about that
		return ""
	}
	return "(" + st.AgentFrom + ")"
}
