package monitor

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// fact is a label with what is known about it, in parts that are set one after the other.
type fact struct {
	label string
	parts []part
	each  bool // a row for each part, where there is room
}

type part struct {
	text string
	tone summary.Tone
	dim  bool
}

// labels is the width of the labels.
const labels = 7

// facts are what a person wants to know of the run, the most important first. Those about which nothing is known are
// left out. bars: those of usage.
func (r *runPage) facts(v summary.Summary, bars bool) []fact {
	m, now := &r.u.model, r.u.o.Now()
	calm := func(texts ...string) []part { return partsOf(false, texts) }
	dim := func(texts ...string) []part { return partsOf(true, texts) }
	task := fact{label: "task", parts: append(calm(view.Prefix(v.Plan.Lastly(), v.Plan.Task)), dim(r.tasks.progress())...)}
	if len(v.Plan.Slots) > 0 {
		task = fact{"turns", calm(v.Plan.Slots...), true}
	}
	plan := fact{label: "plan", parts: calm(v.Plan.Counts)}
	if v.Plan.Total > 0 {
		done := float64(v.Plan.Done) / float64(v.Plan.Total)
		plan.parts[0] = part{text: fmt.Sprintf("%s %s %.0f %%", canvas.Meter(done, 16), v.Plan.Counts,
			done*100), tone: summary.Good}
	}
	plan.parts = append(plan.parts, calm(view.Prefix("fleet: ", v.Plan.Fleet), v.Plan.Ahead)...)
	var tests []part
	red := 0
	for _, k := range v.Checks {
		tests = append(tests, part{text: k.Mark + " " + k.Text, tone: notGood(k.Tone)})
	}
	for _, passed := range m.Run.AtStart {
		if !passed {
			red++
		}
	}
	if n := len(m.Run.AtStart); n > 0 {
		tests = append(tests, dim(fmt.Sprintf("at the start %d of %d failed", red, n))...)
	}
	var notes, edited []part
	for _, n := range slices.Backward(v.Notes) {
		notes = append(notes, part{text: view.Clock(n.At, now) + " " + n.Text, tone: toneOf(n.Role)})
	}
	for _, e := range slices.Backward(m.Run.Edited) {
		edited = append(edited, calm(fmt.Sprintf("%s +%d -%d", view.Within(m.Dir, termtext.Line(e.File)), e.Added, e.Deleted))...)
	}
	if n := len(edited); n > 1 {
		edited = append(edited[:1], append(dim(termtext.Count(n, "file")), edited[1:]...)...)
	}
	commit := ""
	if k := m.Run.Commit; k.OID != "" {
		commit = view.Join(" · ", termtext.Line(k.OID[:min(8, len(k.OID))])+" "+view.Span(now.Sub(k.At))+" ago",
			termtext.Count(k.Files, "file"), termtext.Line(k.Task))
	}
	usage := fact{label: "usage", each: true}
	for i, g := range v.Gauges {
		text := g.Label + " " + g.Value
		if bars && g.Part >= 0 {
			text = fmt.Sprintf("%-7s %s %s", g.Label, canvas.Meter(g.Part, 10), g.Value)
		}
		if i != 1 || !g.Idle { // no tokens
			usage.parts = append(usage.parts, part{text: view.Join(" ", text, g.Note), tone: notGood(g.Tone)})
		}
	}
	slices.Reverse(usage.parts) // windows of the account come first: they stop all runs
	limits := fact{label: "limits"}
	for _, e := range v.Ends {
		if e.Far || v.Over { // what it ended with is above
			break
		}
		limits.parts = append(limits.parts, part{text: e.Text, tone: e.Tone})
	}
	cost := append(calm(v.Cost), dim(v.Tokens)...)
	if len(cost) > 0 && v.Cost == "" {
		cost = append(calm("unknown"), cost...)
	}
	all := []fact{task, plan, {"tests", tests, false}, {"files", edited, false}, usage,
		{"cost", cost, false}, limits, {"noted", notes, true},
		{"commit", dim(commit), false}, {"agent", dim(view.Join(" · ", v.Identity, v.Rule)), false}}
	return slices.DeleteFunc(all, func(f fact) bool { return len(f.parts) == 0 })
}

// partsOf is a part for each text that is not empty.
func partsOf(dim bool, texts []string) (all []part) {
	for _, text := range texts {
		if text != "" {
			all = append(all, part{text: text, dim: dim})
		}
	}
	return all
}

// notGood removes the colour of good news, so that bad news stands out.
func notGood(t summary.Tone) summary.Tone {
	if t == summary.Good {
		return summary.Calm
	}
	return t
}

// toneOf is the tone of a note.
func toneOf(r view.Role) summary.Tone {
	return map[view.Role]summary.Tone{view.RoleError: summary.Bad, view.RoleWarning: summary.Warn}[r]
}

// rows sets the parts in rows of a width: at most most, the last of which has all that is left, or says how much.
func (f fact) rows(width, most int) (all [][]part) {
	parts, x, n := f.parts, 0, max(most-1, 0)
	for ; n < len(parts); n++ {
		x += termtext.Width(parts[n].text) + 3
		if x-3 > width || n < len(parts)-1 && x+len("and 10 more") > width {
			break
		}
	}
	if over := len(parts) - n; f.each && over > 0 && most > 1 {
		parts = append(slices.Clone(parts[:n]), part{text: fmt.Sprintf("and %d more", over), dim: true})
	}
	x = 0
	for i, p := range parts {
		if i == 0 || len(all) < most && (f.each || x+3+termtext.Width(p.text) > width) {
			pieces, below := termtext.Wrap(p.text, max(width, 1)), 0
			if f.each {
				below = len(parts) - 1 - i
			}
			for len(pieces) > 1 && len(all)+1+below < most {
				all = append(all, []part{{pieces[0], p.tone, p.dim}})
				p.text = strings.TrimSpace(strings.TrimPrefix(p.text, pieces[0]))
				pieces = pieces[1:]
			}
			all, x = append(all, nil), -3
		}
		all[len(all)-1] = append(all[len(all)-1], p)
		x += 3 + termtext.Width(p.text)
	}
	return all
}

// most is how many rows a fact gets at most.
func (f fact) most() int { return map[bool]int{true: 6, false: 3}[f.each] }

// heights shares rows out: one to each fact in their order, two if it is bad news; then more to those that want more.
func heights(all []fact, width, room int) (rows []int) {
	rows = make([]int, len(all))
	for i, f := range all {
		least := 1
		if slices.ContainsFunc(f.parts, func(p part) bool { return p.tone == summary.Bad }) {
			least = len(f.rows(width, 2))
		}
		rows[i] = min(least, room)
		room -= rows[i]
	}
	for i, f := range all {
		if rows[i] > 0 {
			more := max(len(f.rows(width, min(f.most(), rows[i]+room)))-rows[i], 0)
			rows[i], room = rows[i]+more, room-more
		}
	}
	return rows
}

// drawFacts draws facts in as many rows as there are.
func drawFacts(c canvas.Canvas, all []fact) {
	width, y := c.W-labels-2, 0
	for i, n := range heights(all, width, c.H) {
		if n == 0 {
			continue
		}
		c.Text(1, y, c.Dim(), all[i].label)
		for _, row := range all[i].rows(width, n) {
			x := labels + 1
			for j, p := range row {
				text := p.text
				if j > 0 {
					if x+8 > c.W {
						break
					}
					x = c.Text(x, y, c.Dim(), " · ")
				}
				style := c.Tone(p.tone)
				if p.dim {
					style = c.Dim()
				}
				x = c.Text(x, y, style, termtext.Fit(text, c.W-x-1))
			}
			y++
		}
	}
}

// drawPace draws how many tokens a minute the run used, from its start to now, and what the hour allows.
func (r *runPage) drawPace(c canvas.Canvas) {
	m := &r.u.model
	room := c.W - labels - 2
	end := r.u.o.Now()
	if !m.Active() {
		end = m.Status.Timestamp
	}
	values := m.Run.Pace.Spread(room*2, end.Sub(m.Run.StartedAt))
	if len(values) == 0 || c.H < 3 {
		return
	}
	budget := float64(m.Status.MaxTokensPerHour) / 60
	top := max(slices.Max(values), 1)
	text := fmt.Sprintf("tokens/min, peak %s", summary.Count(int64(top)))
	if budget > 0 {
		text += " · budget " + summary.Count(int64(budget))
	}
	if u := m.Run.Usage.CostUSD; u > 0 {
		text += fmt.Sprintf(" · $%.2f/min", u/max(end.Sub(m.Run.StartedAt).Minutes(), 1))
	}
	c.Text(1, 0, c.Dim(), "pace")
	c.Text(labels+1, 0, c.Dim(), termtext.Fit(text, room))
	graph := c.Rows(1, c.H-1).Columns(labels+1, room)
	if budget <= top {
		graph.Level(budget/top, c.Tone(summary.Warn))
	}
	graph.Graph(values, top, c.Tone(summary.Busy))
}

// progress says how far the task at hand is.
func (p *tasksPage) progress() string {
	i, known := p.at[p.u.model.Status.Task.ID]
	if !known {
		return ""
	}
	done, steps := 0, 0
	for j := i + 1; j < len(p.all) && p.all[j].Depth > p.all[i].Depth; j++ {
		if steps++; p.all[j].State == "done" {
			done++
		}
	}
	criteria, of := "", ""
	if n := len(p.all[i].Criteria); n > 0 {
		criteria = termtext.Counted(n, "criterion", "criteria")
	}
	if steps > 0 {
		of = fmt.Sprintf("%d of %s done", done, termtext.Count(steps, "step"))
	}
	return view.Join(" · ", of, criteria)
}
