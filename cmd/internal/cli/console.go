package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/state"
	"ralph/state/view"
)

// console prints a run for the person or the program that started it. It ignores
// write errors: a terminal that went away must not end the run, and the logs have
// everything.
type console struct {
	out     io.Writer
	json    *json.Encoder // not nil: events as JSON lines and nothing else
	tty     bool          // lines may be rewritten
	width   func() int    // current width of the terminal; 0: none
	live    bool          // print what the agent and its tools say
	counted bool          // the current line is a countdown
	waited  time.Time     // of the latest line about a wait
}

func (o *runOptions) console(p *preflight.Project) *console {
	c := &console{width: func() int { return 0 }, out: o.Out, live: o.live || p.Config.Verbose}
	if o.output == "json" {
		c.json = json.NewEncoder(o.Out)
	}
	if o.IsTerminal() && !o.headless && os.Getenv("TERM") != "dumb" {
		c.tty, c.width = true, o.Width
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
	fmt.Fprintln(c.out, termtext.Clean(fmt.Sprintf(format, args...)))
}

func (c *console) start(p *preflight.Project, run string, checks []gate.Check) {
	c.print("ralph: run %s, agent %s, project %s, prompt %s, %s",
		run, p.Agent.Spec.Name, p.Dir, p.Prompt, cmp.Or(p.Plan, "no plan"))
	for _, check := range checks {
		c.print("ralph: check %s: %s", check.Name, check.Reproduce())
	}
}

func (c *console) show(e state.Event) {
	if c.json != nil {
		_ = c.json.Encode(e)
		return
	}
	text, wraps := strings.TrimRight(view.Render(e), "\n"), c.live
	switch e.Data.(type) {
	case state.RunStart, state.RunEnd:
		return // start and end say more
	case state.Text, state.ToolResult, state.FinalMessage, state.SessionStart:
		if !c.live {
			return
		}
	case state.Check:
		if !c.live {
			text = endOf(text)
		}
	case state.Feedback:
		if !c.live {
			text, _, _ = strings.Cut(text, "\n") // the rest repeats the check's output
		}
	case state.IterationEnd, state.Decision:
		wraps = true // the reason must be readable
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

// outputShown is how many lines of a check's output the console shows.
const outputShown = 20

// endOf keeps the first line and the end of a check's output.
func endOf(text string) string {
	lines := strings.Split(text, "\n")
	left := len(lines) - 1 - outputShown
	if left <= 0 {
		return text
	}
	lines[left] = fmt.Sprintf("... (%s more in .ralph/live.log)", view.Plural(left, "line"))
	return strings.Join(append(lines[:1:1], lines[left:]...), "\n")
}

// fit cuts a line to the terminal.
func (c *console) fit(line string) string {
	if width := c.width(); width > 20 {
		return termtext.Fit(line, width-1)
	}
	return line
}

// tick shows a wait: a countdown on a terminal, a line every ten minutes elsewhere.
func (c *console) tick(left time.Duration, d rules.Decision) {
	if c.json != nil {
		return
	}
	text := "paused; continue with: ralph resume"
	if !d.Until.IsZero() {
		text = fmt.Sprintf("waiting %s, until %s (%s)", left.Round(time.Second), d.Until.Local().Format("Jan 2 15:04:05"), d.Rule)
		if d.Rule != "hourly" { // the hourly budget would make it wait again
			text += "; continue now with: ralph resume"
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

// end prints what happened, why, and what to type next.
func (c *console) end(r runner.Ending) {
	d, plan, cost := r.Decision, "", ""
	if r.Total > 0 {
		plan = fmt.Sprintf(", %d of %d tasks done", r.Done, r.Total)
	}
	if r.Usage.CostUSD > 0 {
		cost = fmt.Sprintf(", about %.2f USD by the agent's estimate", r.Usage.CostUSD)
	}
	c.print("ralph: %s after %s%s: %s tokens%s", d.Status, view.Plural(r.Iterations, "iteration"), plan, humanize.Comma(r.Usage.Total()), cost)
	if r.Findings > 0 {
		c.print("ralph: the audit has %s; see: ralph iterations, .ralph/live.log", view.Plural(r.Findings, "finding"))
	}
	c.print("ralph: why: %s (rule %s, exit code %d)", d.Reason, d.Rule, d.Exit)
	if d.Next != "" {
		c.print("ralph: next: %s", d.Next)
	}
}
