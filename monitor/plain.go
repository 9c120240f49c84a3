package monitor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/follow"
	"ralph/state/view/summary"
)

// plainText is the maximum width of a line of the stream, in cells.
const plainText = 300

// Plain writes a line for each event and each change of state, until the run ends or
// ctx is cancelled. It is for screen readers, CI and terminals without cursor control.
func Plain(ctx context.Context, o Options) error {
	o = o.filled()
	f := follow.New(o.Dir, o.Now)
	defer f.Close()
	p := plainer{o: o, log: view.Log{LineOptions: view.LineOptions{Dir: o.Dir}}}
	for {
		up := f.Poll()
		if err := p.write(up); err != nil {
			return fmt.Errorf("write lines: %w", err)
		}
		if p.over && !f.More() {
			return nil
		}
		if !f.Wait(ctx) {
			return nil
		}
	}
}

// plainer remembers what the stream has shown.
type plainer struct {
	o     Options
	model view.Model
	log   view.Log
	said  string // the latest state
	bad   string // the latest problem
	over  bool   // the run has ended
	begun bool
}

func (p *plainer) write(up view.Update) error {
	var lines []string
	for _, e := range up.Events {
		p.over = e.Kind == state.KindRunEnd || p.over && e.Kind != state.KindRunStart
		if p.begun && !up.Thin ||
			e.Kind != state.KindText && e.Kind != state.KindTool && e.Kind != state.KindToolResult {
			lines = append(lines, p.lines(e)...)
		}
	}
	p.begun = p.begun || up.Early == nil && !up.Thin
	p.model.Apply(up)
	v := summary.Of(&p.model, p.o.Now())
	said := view.Join(": ", v.Word, view.Join(" · ", v.Iteration, v.Asked))
	if up.State != state.StatusRunning {
		said = view.Join(": ", v.Word, view.Join(" · ", v.What, v.Advice))
	}
	// A countdown is not a change: compare only the state and the reason.
	st := up.Status
	if key := view.Join("|", up.State, st.Rule, st.Reason, v.Iteration, v.Asked, st.WakeAt.String()); key != p.said {
		p.said = key
		lines = append(lines, stamp(up.At)+"state      "+said)
		if v.Plan.Task != "" && up.State == state.StatusRunning {
			lines = append(lines, stamp(up.At)+"plan       "+view.Join(" · ", v.Plan.Counts, v.Plan.Task))
		}
	}
	if problem := view.Join("; ", up.Problems...); problem != p.bad {
		p.bad = problem
		lines = append(lines, stamp(up.At)+"problem    "+cmp.Or(problem, "none any more"))
	}
	// A crashed runner writes no run_end.
	p.over = p.over || up.State == view.StateCrashed
	for _, l := range lines {
		if _, err := fmt.Fprintln(p.o.Out, l); err != nil {
			return err
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.Local().Format(time.TimeOnly) + " " }

// lines formats an event. Each line can be understood alone.
func (p *plainer) lines(e state.Event) []string {
	var all []string
	for _, l := range p.log.Lines(e) {
		all = append(all, fmt.Sprintf("%s%-10s %s", stamp(e.Time), plainKind(e.Kind), termtext.Fit(l.Text, plainText)))
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
