package monitor

import (
	"context"
	"fmt"
	"time"

	"ralph/state"
)

// plainText bounds what one event says in the line stream.
const plainText = 300

// Plain writes one line for each event and each change of state until ctx
// ends, or, when the run that it follows is over, until its run_end event was
// written. It is for screen readers, CI and terminals that show no screens.
func Plain(ctx context.Context, o Options) error {
	o = o.filled()
	f := newFeed(o.Dir, o.Now)
	defer f.close()
	p := plainer{o: o, logger: logger{dir: o.Dir}}
	for {
		up := f.poll()
		if err := p.write(up); err != nil {
			return fmt.Errorf("write lines: %w", err)
		}
		if p.over && !f.more {
			return nil
		}
		if !f.wait(ctx) {
			return nil
		}
	}
}

// plainer remembers what the line stream has said.
type plainer struct {
	o      Options
	hist   history
	logger logger
	said   string // the latest state
	bad    string // the latest problem
	over   bool   // the run has ended
	begun  bool
}

func (p *plainer) write(up update) error {
	var lines []string
	for _, e := range up.events {
		p.hist.add(e)
		p.over = e.Kind == state.KindRunEnd || p.over && e.Kind != state.KindRunStart
		if p.begun || e.Kind != state.KindText && e.Kind != state.KindTool && e.Kind != state.KindToolResult {
			lines = append(lines, p.lines(e)...)
		}
	}
	p.begun = true
	v := newView(up.snap, &p.hist, p.o.Now())
	said := join(": ", v.Word, join(" · ", v.Iteration, v.Asked))
	if up.snap.State != state.StatusRunning {
		said = join(": ", v.Word, join(" · ", v.News, v.Advice))
	}
	// A countdown is no change: the state and its reason are what is compared.
	if key := join("|", up.snap.State, up.snap.Status.Rule, up.snap.Status.Reason, v.Iteration, v.Asked, up.snap.Status.WakeAt.String()); key != p.said {
		p.said = key
		lines = append(lines, stamp(up.snap.At)+"state      "+said)
		if v.Plan.Task != "" && up.snap.State == state.StatusRunning {
			lines = append(lines, stamp(up.snap.At)+"plan       "+join(" · ", v.Plan.Counts, v.Plan.Task))
		}
	}
	if problem := join("; ", up.snap.Problems...); problem != p.bad {
		p.bad = problem
		lines = append(lines, stamp(up.snap.At)+"problem    "+orElse(problem, "none any more"))
	}
	// A runner that is not alive writes no more run_end.
	p.over = p.over || up.snap.State == StateDead
	for _, l := range lines {
		if _, err := fmt.Fprintln(p.o.Out, l); err != nil {
			return err
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.Local().Format(time.TimeOnly) + " " }

// lines renders one event as lines that each stand for themselves.
func (p *plainer) lines(e state.Event) []string {
	var all []string
	for _, l := range p.logger.lines(e) {
		text := l.text
		if textWidth(text) > plainText {
			text = fit(text, plainText)
		}
		all = append(all, fmt.Sprintf("%s%-10s %s", stamp(e.Time), plainKind(e.Kind), text))
	}
	return all
}

func plainKind(k state.Kind) string {
	switch k {
	case state.KindToolResult:
		return "answer"
	case state.KindIterationStart, state.KindIterationEnd:
		return "iteration"
	case state.KindRunStart, state.KindRunEnd:
		return "run"
	}
	return string(k)
}
