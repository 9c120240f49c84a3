package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/state"
	"ralph/state/view"
)

// console prints a run for the person, or the program, that started it. What
// cannot be printed is lost here and kept in the logs: a terminal that went
// away must not end a run.
type console struct {
	out     io.Writer
	json    *json.Encoder // set: events as JSON lines and nothing else
	tty     bool          // lines may be rewritten
	width   func() int    // of the terminal, as it is now; 0: none
	live    bool
	counted bool // a countdown stands on the current line
	waited  time.Time
}

func (a *app) console(f *runOptions, s *preflight.Project) *console {
	c := &console{width: func() int { return 0 }, out: a.Out, live: f.live || s.Config.Verbose}
	if f.output == "json" {
		c.json = json.NewEncoder(a.Out)
	}
	if a.IsTerminal() && !f.headless && os.Getenv("TERM") != "dumb" {
		c.tty = true
		c.width = a.Width
	}
	return c
}

func (c *console) print(format string, args ...any) {
	if c.json != nil {
		return
	}
	if c.counted {
		fmt.Fprint(c.out, "\r\x1b[K")
		c.counted = false
	}
	fmt.Fprintln(c.out, cmdline.Inert(fmt.Sprintf(format, args...)))
}

func (c *console) start(s *preflight.Project, run string, checks []gate.Check) {
	plan := "no plan"
	if s.Plan != "" {
		plan = s.Plan
	}
	c.print("ralph: run %s, agent %s, project %s, prompt %s, %s", run, s.Agent.Spec.Name, s.Dir, s.Prompt, plan)
	for _, check := range checks {
		c.print("ralph: check %s: %s", check.Name, check.Reproduce())
	}
}

func (c *console) show(e state.Event) {
	if c.json != nil {
		_ = c.json.Encode(e)
		return
	}
	switch e.Data.(type) {
	case state.RunStart, state.RunEnd:
		return // start and end say more
	case state.Text, state.ToolResult, state.FinalMessage, state.SessionStart:
		if !c.live {
			return
		}
	}
	text := strings.TrimRight(view.Render(e), "\n")
	wraps := c.live
	switch e.Data.(type) {
	case state.Check:
		if !c.live {
			text = endOf(text)
		}
	case state.Feedback:
		if !c.live {
			text, _, _ = strings.Cut(text, "\n") // the rest was printed as the check's output
		}
	case state.IterationEnd, state.Decision:
		wraps = true // it says why
	}
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		if !wraps {
			line = c.fit(line)
		}
		c.print("%s", line)
	}
}

// outputShown are the lines of a check's output that stand on the console.
const outputShown = 20

// endOf keeps the first line and the end of a check's output.
func endOf(text string) string {
	lines := strings.Split(text, "\n")
	left := len(lines) - 1 - outputShown
	if left <= 0 {
		return text
	}
	lines[left] = fmt.Sprintf("... (%s more in .ralph/live.log)", cmdline.Count(left, "line"))
	return strings.Join(append(lines[:1:1], lines[left:]...), "\n")
}

// fit cuts a line to the terminal.
func (c *console) fit(line string) string {
	width := c.width()
	if r := []rune(line); width > 20 && len(r) > width-1 {
		return string(r[:width-4]) + "..."
	}
	return line
}

// tick shows a wait: a countdown on a terminal, a line every ten minutes elsewhere.
func (c *console) tick(left time.Duration, d rules.Decision) {
	if c.json != nil {
		return
	}
	text := "paused; go on with: ralph resume"
	if !d.Until.IsZero() {
		text = fmt.Sprintf("waiting %s, until %s (%s)", left.Round(time.Second), d.Until.Local().Format("Jan 2 15:04:05"), d.Rule)
		if d.Rule != "hourly" { // the budget would only wait again
			text += "; go on now with: ralph resume"
		}
	}
	if c.tty {
		fmt.Fprint(c.out, "\r\x1b[K"+c.fit(text))
		c.counted = true
		return
	}
	if time.Since(c.waited) >= 10*time.Minute {
		c.waited = time.Now()
		c.print("%s", text)
	}
}

// end says in one place what happened, why, and what to type next.
func (c *console) end(r runner.Ending) {
	d := r.Decision
	plan := ""
	if r.Total > 0 {
		plan = fmt.Sprintf(", %d of %d tasks done", r.Done, r.Total)
	}
	cost := ""
	if r.Usage.CostUSD > 0 {
		cost = fmt.Sprintf(", about %.2f USD by the agent's estimate", r.Usage.CostUSD)
	}
	c.print("ralph: %s after %s%s: %s tokens%s", d.Status, cmdline.Count(r.Iterations, "iteration"), plan, humanize.Comma(r.Usage.Total()), cost)
	if r.Findings > 0 {
		c.print("ralph: the audit found something %s; see: ralph iterations, .ralph/live.log", times(r.Findings))
	}
	c.print("ralph: why: %s (rule %s, exit code %d)", cmdline.Inert(d.Reason), d.Rule, d.Exit)
	for _, item := range d.Review {
		c.print("ralph: look %d: %s; show: %s; accept: ralph accept %d", item.N, item.Text, item.Show, item.N)
	}
	if d.Next != "" {
		c.print("ralph: next: %s", d.Next)
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
