// Package console prints a run for the person, or the program, that started it.
package console

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner"
	"ralph/runner/agent"
	"ralph/runner/crew"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/rules"
	"ralph/state"
	"ralph/state/view"
)

// Console prints a run. It ignores write errors, because a closed terminal must not
// end a run; the logs have everything.
type Console struct {
	out     io.Writer
	json    *json.Encoder // set: events as JSON lines and nothing else
	ended   bool          // the last of these lines is printed
	tty     bool          // lines may be rewritten
	color   bool
	watched bool       // the monitor beside it shows the agent's work
	width   func() int // of the terminal, as it is now; 0: none
	live    bool
	plain   func(agent string) bool // it reports no tools, only text
	speaks  bool                    // so does the agent at work: its text shows what it does
	counted bool                    // the current line is a countdown
	dir     string
	log     view.Log  // of what is printed
	title   string    // of the task in the latest heading
	until   time.Time // end of the latest wait
	waited  time.Time // when a line last said that the run waits
}

// Options say how to print.
type Options struct {
	JSON     bool // events as JSON lines, and nothing else
	Live     bool // everything that the agent says, too
	Headless bool // as without a terminal
}

// New returns the console of the streams of f, for a project.
func New(f *cmdline.Factory, dir string, o Options) *Console {
	c := &Console{log: view.Log{LineOptions: view.LineOptions{Dir: dir, Whole: true}}, out: f.Out, live: o.Live}
	if o.JSON {
		c.json = cmdline.NewEncoder(f.Out)
	}
	if f.IsTerminal() && !o.Headless && os.Getenv("TERM") != "dumb" {
		c.tty, c.color, c.watched = true, os.Getenv("NO_COLOR") == "" && os.Getenv("RALPH_THEME") != "none", f.Watched
		c.width = f.Width
	}
	return c
}

// Ended is true when the last JSON line is printed.
func (c *Console) Ended() bool { return c.ended }

// Print prints a line of ralph's own.
func (c *Console) Print(format string, args ...any) {
	if c.json != nil {
		return
	}
	for _, row := range c.wrap(view.Within(c.dir, cmdline.Inert(fmt.Sprintf(format, args...)))) {
		c.row(view.RoleText, row)
	}
}

// Command prints a line with a command, which people copy: it is not wrapped here.
func (c *Console) Command(format string, args ...any) {
	if c.json == nil {
		c.row(view.RoleText, cmdline.Inert(fmt.Sprintf(format, args...)))
	}
}

// row prints one row of the terminal, or one line where there is none.
func (c *Console) row(role view.Role, clean string) {
	if c.counted {
		fmt.Fprint(c.out, "\r\x1b[K")
		c.counted = false
	}
	if sgr := colorOf(role); c.color && sgr != "" && clean != "" {
		clean = "\x1b[" + sgr + "m" + clean + "\x1b[0m"
	}
	fmt.Fprintln(c.out, clean)
}

// colorOf is the color of a line, from the terminal's own palette.
func colorOf(role view.Role) string {
	return map[view.Role]string{
		view.RoleHeading: "1", view.RoleResult: "1",
		view.RoleTool: "36", view.RoleTold: "36",
		view.RoleAnswer: "2", view.RoleNote: "2",
		view.RoleError:   "31",
		view.RoleGood:    "32",
		view.RoleWarning: "33",
	}[role]
}

// About says what a person should know of a run that begins, a line each.
func About(s *preflight.Project, checks []gate.Check) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, cmdline.Inert(fmt.Sprintf(format, args...))) }
	plan := "no plan"
	if s.Plan != "" {
		plan = "plan " + view.Within(s.Dir, s.Plan)
	}
	say("prompt %s, %s", view.Within(s.Dir, s.Prompt), plan)
	if s.Config.On() {
		say("sandbox: %s, network %s%s", s.Config.Sandbox, strings.Join(s.Config.SandboxNet, ","),
			view.Prefix("; ", s.Config.Lacks()))
	} else if s.Config.Source("SANDBOX").Kind == config.SourceDefault {
		say("no sandbox: agents can do what you can (SANDBOX=auto contains them)")
	}
	say("limits: %s", bounds(s))
	for _, text := range []string{parallel(s), s.Reviews(), view.Prefix("environment: ", s.HeldBack())} {
		if text != "" {
			say("%s", text)
		}
	}
	if _, ok := git.Root(s.Dir); !ok {
		say("no git repository: nothing can be taken back (git init makes one)")
	}
	if len(checks) == 0 && len(s.LeftOut) == 0 {
		say("%s", unproven(s))
	}
	for _, check := range checks {
		say("check %s: %s", check.Name, check.Reproduce())
	}
	return lines
}

// Start prints what kind of run begins: all that is said about the first run in a project, and of a later one what
// differs from the run before it.
func (c *Console) Start(s *preflight.Project, run string, about, before []string) {
	c.dir = s.Dir
	c.plain = func(name string) bool {
		one, err := s.Find(name)
		return err == nil && one.Spec.Format == agent.FormatText
	}
	c.Print("ralph: run %s, agent %s, project %s", run, s.Agent.Spec.Name, s.Dir)
	if before != nil {
		about = []string{differences(about, before)}
	}
	for _, line := range about {
		c.Print("ralph: %s", line)
	}
	for _, line := range s.LeftOut {
		c.Print("ralph: %s; so the run cannot end with exit code 0", line)
	}
}

// differences says in one line what is new since the run before, and what it had that is gone.
func differences(now, before []string) string {
	key := func(line string) string { name, _, _ := strings.Cut(line, ":"); return name }
	var fresh, keys, gone []string
	for _, line := range now {
		if keys = append(keys, key(line)); !slices.Contains(before, line) {
			fresh = append(fresh, line)
		}
	}
	for _, line := range before {
		proves := strings.HasPrefix(line, "check ") || strings.HasPrefix(line, "review: ") // of others, nobody misses the line
		if proves && !slices.Contains(keys, key(line)) {
			gone = append(gone, line)
		}
	}
	if len(fresh)+len(gone) == 0 {
		return "settings as in the run before; ralph config shows them"
	}
	return view.Join("; ", view.Prefix("new since the run before: ", strings.Join(fresh, "; ")),
		view.Prefix("no longer: ", strings.Join(gone, "; ")))
}

// Show prints an event.
func (c *Console) Show(e state.Event) {
	if c.json != nil {
		_ = c.json.Encode(e)
		c.ended = e.Kind == state.KindRunEnd
		return
	}
	e, fits, ok := c.shorten(e)
	if !ok {
		return
	}
	for i, l := range c.log.Marked(e) {
		if i > 0 && !c.live && (!l.First || e.Kind == state.KindTool) {
			continue // the log has it
		}
		text := view.Within(c.dir, l.Text)
		if e.Kind == state.KindFeedback && !c.live {
			text = view.Heading(text)
		}
		rows := []string{c.fit(text)}
		if !fits || c.live {
			rows = c.wrap(text)
		}
		for _, row := range rows {
			c.row(l.Role, row)
		}
	}
}

// shorten removes from an event what the console prints elsewhere. fits is true if
// its lines may be cut to the width of the terminal; else they wrap. ok is false if
// nothing is left to print.
func (c *Console) shorten(e state.Event) (short state.Event, fits, ok bool) {
	if c.watched && !c.live && !headline(e) {
		return e, false, false
	}
	switch d := e.Data.(type) {
	case state.RunStart:
		if text := view.Crashed(d); text != "" {
			c.Print("ralph: %s", text)
		}
		return e, false, false // start says more
	case state.RunEnd:
		return e, false, false // end says more
	case state.Text:
		return e, true, c.live || c.speaks
	case state.ToolResult, state.FinalMessage, state.SessionStart:
		return e, true, c.live
	case state.Tool, state.Feedback:
		return e, true, true
	case state.IterationStart:
		c.title, c.speaks = d.Title, c.plain != nil && c.plain(d.Agent)
		return e, true, true
	case state.Check:
		return e, d.Run == state.CheckAgain, true
	case state.Paused:
		c.waited, c.until = time.Now(), time.Time{} // if the run waits on, the hint is printed again
	case state.Decision:
		return e, false, d.Action != state.ActionStop // end says why
	case state.IterationEnd:
		if strings.Contains(d.Reason, d.Detail) { // it decides only whether the same words are shown twice
			d.Detail = ""
		}
		if d.Action == state.ActionStop || c.watched && d.Action != state.ActionWait {
			d.Decision = state.Decision{}
		}
		if d.Title == c.title && !c.live {
			d.Title = "" // its heading is not far above
		}
		e.Data = d
	}
	return e, false, true
}

// headline is true for what is printed beside the monitor, which shows the rest.
func headline(e state.Event) bool {
	switch d := e.Data.(type) {
	case state.RunStart, state.IterationStart, state.IterationEnd, state.Verdict, state.Question, state.Answer, state.Paused:
		return true
	case state.Check:
		return d.Run == ""
	case state.Decision:
		return d.Action == state.ActionWait
	}
	return false
}

// columns is the width of the terminal; 0 without one.
func (c *Console) columns() int {
	if c.width == nil {
		return 0
	}
	return c.width()
}

// narrowest is the width from which lines are fitted to the terminal.
const narrowest = 20

// fit cuts a line to the terminal, after a whole word where there is one.
func (c *Console) fit(line string) string {
	width := c.columns()
	if width <= narrowest || termtext.Width(line) < width {
		return line
	}
	cut := strings.TrimSuffix(termtext.Fit(line, width-1), "…")
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 && line[len(cut)] != ' ' {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ") + "…"
}

// wrap breaks a line between words. The rows after the first are indented.
func (c *Console) wrap(line string) []string {
	width := c.columns()
	if width <= narrowest || termtext.Width(line) <= width {
		return []string{line}
	}
	const indent = "    "
	first, rest := termtext.Wrap(line, width-1)[0], ""
	if rest = strings.TrimLeft(strings.TrimPrefix(line, first), " "); rest == "" {
		return []string{first}
	}
	rows := []string{first}
	for _, row := range termtext.Wrap(rest, width-1-len(indent)) {
		rows = append(rows, indent+row)
	}
	return rows
}

// Tick shows a wait: a countdown on a terminal, a line every ten minutes elsewhere.
func (c *Console) Tick(left time.Duration, d rules.Decision) {
	if c.json != nil {
		return
	}
	text, hint := "paused; continue with: ralph resume", ""
	if !d.Until.IsZero() {
		text = fmt.Sprintf("waiting %s, until %s (%s)", left.Round(time.Second),
			d.Until.Local().Format("Jan 2 15:04:05"), d.Rule)
		if d.Rule != state.RuleHourly { // the budget would only wait again
			hint = "continue now with: ralph resume"
			if d.Rule == state.RuleQuestion {
				hint = "see what is asked, and answer: ralph questions"
			}
			text += "; " + hint
		}
	}
	switch {
	case c.tty:
		fmt.Fprint(c.out, "\r\x1b[K"+c.fit(text))
		c.counted = true
	case !d.Until.Equal(c.until): // its event has just said the rest
		c.until, c.waited = d.Until, time.Now()
		if hint != "" && left >= time.Minute {
			c.Print("%s", hint)
		}
	case time.Since(c.waited) >= 10*time.Minute:
		c.waited = time.Now()
		c.Print("%s", text)
	}
}

// End prints what happened, why, and what to type next.
func (c *Console) End(r runner.Ending) {
	d := r.Decision
	plan := ""
	if r.Total > 0 {
		plan = fmt.Sprintf(", %d of %s done", r.Done, termtext.Count(r.Total, "task"))
	}
	used := ""
	if n := r.Usage.Total(); n > 0 {
		used = termtext.Thousands(n) + " tokens"
	}
	if r.Usage.CostUSD > 0 {
		used = view.Join(", ", used, fmt.Sprintf("about %.2f USD by the agent's estimate", r.Usage.CostUSD))
	}
	used = view.Join(", ", used, r.Usage.CutOff())
	word := state.Status{Status: d.Status, ExitCode: d.Exit}.Word()
	if word == state.StatusReview {
		word = "needs your review"
	}
	after := " after "
	if unproven := state.NotProven(d.Status, d.Unproven); unproven != "" {
		word, after = unproven, "; after "
	}
	c.Print("ralph: %s%s%s%s%s", word, after, view.CountIterations(r.Iterations, state.ByRequest(d.ExitReason)), plan,
		view.Prefix(": ", used))
	next := func(here bool) {
		if here && d.Next != "" {
			c.Command("ralph: next: %s", d.Next)
		}
	}
	next(!c.watched)
	defer next(c.watched) // its pane may have three rows: the last line is what to type
	reason := d.Reason
	if d.Status == state.StatusReview {
		reason = "everything is done, but it needs your review" // at the items below
	}
	if r.Findings > 0 && len(d.Review) == 0 {
		c.Print("ralph: the audit reported %s; see: ralph iterations, .ralph/live.log",
			termtext.Count(r.Findings, "finding"))
	}
	var red []string
	for _, x := range r.Report.Results {
		if r.Report.Mode == gate.ModeReport && !x.Passed && x.Verdict != gate.VerdictSkipped && x.Check.Required() {
			red = append(red, x.Name)
		}
	}
	if len(red) > 0 {
		c.Print("ralph: these checks fail, and TEST_MODE=report lets them: %s", termtext.Some(red, 5))
	}
	c.Print("ralph: why: %s (%s)", cmdline.Inert(reason), state.Ended(d.Rule, d.Exit))
	if n := len(r.Uncommitted); n > 0 {
		first, more := r.Uncommitted[n-1], ""
		if n > 1 {
			more = fmt.Sprintf(" and %d more", n-1)
		}
		c.Print("ralph: not committed: %s (%s)%s; see: git status", cmdline.Inert(first.File), first.Why, more)
	}
	if r.Unproved {
		c.Print("ralph: the latest work is not committed, because a check that must pass fails; see: git status")
	}
	for _, item := range d.Review {
		c.Command("ralph: look %d: %s; show: %s; accept: ralph accept %d", item.N, item.Text, item.Show, item.N)
	}
}

// bounds says in one line what ends a run that never completes.
func bounds(p *preflight.Project) string {
	c := p.Config
	var set []string
	bound := func(is bool, format string, args ...any) {
		if is {
			set = append(set, fmt.Sprintf(format, args...))
		}
	}
	bound(c.MaxIterations > 0, "at most %s", termtext.Count(c.MaxIterations, "iteration"))
	bound(c.MaxPerTask > 0 && p.Plan != "", "at most %s for a task", termtext.Count(c.MaxPerTask, "iteration"))
	bound(c.MaxCost > 0, "at most %g USD%s", c.MaxCost, p.Agent.Spec.CostNote())
	bound(c.MaxDuration > 0, "at most %s", c.MaxDuration)
	bound(c.Until != "", "until %s", c.Until)
	if c.MaxIterations == 0 && c.MaxCost == 0 && c.MaxDuration == 0 && c.Until == "" {
		set = append(set, "none for the whole run (--max-iterations, --max-cost, --max-duration)")
	}
	return strings.Join(set, ", ")
}

// unproven says what exit code 0 will mean in a run that has no checks yet.
func unproven(p *preflight.Project) string {
	means := "the agent says that it is done"
	if p.Plan != "" {
		means = "the plan is ticked and " + means
	}
	text := "no checks, so nothing will be proven: exit code 0 will only mean that " + means
	if p.Config.DetectChecks {
		text += ", unless ralph finds some later"
	}
	return text + "; " + preflight.AdviceChecks
}

// parallel says how many tasks are worked on at the same time; empty: one, without PARALLEL.
func parallel(p *preflight.Project) string {
	switch n := p.Config.Parallel; {
	case n <= 1:
		return ""
	case !p.Config.ParallelAny && crew.Silent(p.Tasks):
		return fmt.Sprintf("parallel: one task at a time, although there is room for %d: "+
			"the plan does not say which tasks may run "+
			"side by side; mark them with [P], give them dependencies, or set PARALLEL_ANY=true", n)
	default:
		return fmt.Sprintf("parallel: up to %d tasks at the same time", n)
	}
}
