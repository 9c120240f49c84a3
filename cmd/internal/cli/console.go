package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-isatty"

	"ralph/runner"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/state"
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

func (a *app) console(f *runFlags, s *setup) *console {
	c := &console{width: func() int { return 0 }, out: a.out, live: f.live || s.cfg.Verbose}
	if f.output == "json" {
		c.json = json.NewEncoder(a.out)
	}
	if file, ok := a.out.(*os.File); ok && !f.headless && isatty.IsTerminal(file.Fd()) && os.Getenv("TERM") != "dumb" {
		c.tty = true
		c.width = a.width
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
	fmt.Fprintf(c.out, format+"\n", args...)
}

func (c *console) start(s *setup, run string, checks []gate.Check) {
	plan := "no plan"
	if s.plan != "" {
		plan = s.plan
	}
	c.print("ralph: run %s, agent %s, project %s, prompt %s, %s", run, s.agent.Spec.Name, s.dir, s.prompt, plan)
	for _, check := range checks {
		c.print("ralph: check %s: %s", check.Name, check.Reproduce())
	}
}

func (c *console) show(e state.Event) {
	if c.json != nil {
		_ = c.json.Encode(e)
		return
	}
	switch e.Kind {
	case state.KindRunStart, state.KindRunEnd:
		return // start and end say more
	case state.KindIterationStart, state.KindIterationEnd, state.KindDecision, state.KindDenied, state.KindError, state.KindRetry, state.KindLimit, state.KindGate:
	case state.KindTool:
	default:
		if !c.live {
			return
		}
	}
	text := strings.TrimRight(inert(runner.Render(e)), "\n")
	if e.End != nil && e.End.Rule == runner.RuleFeedback && !c.live {
		text, _, _ = strings.Cut(text, "\n") // the rest was printed as the check's output
	}
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		if !c.live && e.End == nil { // an end says why: it wraps
			line = c.fit(line)
		}
		c.print("%s", line)
	}
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
		text = fmt.Sprintf("waiting %s, until %s (%s); go on now with: ralph resume", left.Round(time.Second), d.Until.Local().Format("Jan 2 15:04:05"), d.Rule)
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
func (c *console) end(r runner.Result) {
	d := r.Decision
	plan := ""
	if r.Total > 0 {
		plan = fmt.Sprintf(", %d of %d tasks done", r.Done, r.Total)
	}
	cost := ""
	if r.Usage.CostUSD > 0 {
		cost = fmt.Sprintf(", about %.2f USD by the agent's estimate", r.Usage.CostUSD)
	}
	c.print("ralph: %s after %s%s: %s tokens%s", d.Status, count(r.Iterations, "iteration"), plan, humanize.Comma(r.Usage.Total()), cost)
	c.print("ralph: why: %s (rule %s, exit code %d)", inert(d.Reason), d.Rule, d.Exit)
	if d.Next != "" {
		c.print("ralph: next: %s", d.Next)
	}
}

// count is "1 iteration", "2 iterations".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// inert makes text of an agent harmless for the terminal: nothing in it can
// move the cursor, change colours or titles, or reverse the reading direction.
func inert(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}
