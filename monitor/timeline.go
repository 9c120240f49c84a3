package monitor

import (
	"fmt"
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

const (
	wait   = time.Minute // a pause that is shown as a gap
	margin = 14          // cells for number and time of the first iteration of a band
	bandH  = 4           // rows: cells, cost, tokens, none
)

// timelinePage is the page of the timeline. It is not safe for concurrent use.
type timelinePage struct {
	back   int  // bands from the latest one to the last one on the screen
	chosen int  // number of the iteration that a person looks at; 0: none
	moved  bool // to it, since the latest draw
	spots  []spot
}

// spot is where the latest draw put an iteration: a column, and the first row of its band.
type spot struct{ x, y, number int }

// Click chooses the iteration at a column and a row below the title, and returns its number; 0: there is none.
func (p *timelinePage) Click(x, y int) int {
	for _, s := range p.spots {
		if x == s.x && y >= s.y && y < s.y+bandH-1 {
			p.chosen = s.number
			return s.number
		}
	}
	return 0
}

// Step chooses the iteration that many after the chosen one, and returns its number; 0: there is none.
func (p *timelinePage) Step(r *view.Run, by int) int {
	n := len(r.Iterations)
	if n == 0 {
		return 0
	}
	at := slices.IndexFunc(r.Iterations, func(it view.Iteration) bool { return it.Number == p.chosen })
	if at < 0 {
		at, by = n-1, min(by+1, 0) // the first key chooses the latest one
	}
	p.chosen, p.moved = r.Iterations[min(max(at+by, 0), n-1)].Number, true
	return p.chosen
}

// about says what the chosen iteration came to.
func (p *timelinePage) about(m *view.Model, now time.Time) []string {
	at := slices.IndexFunc(m.Run.Iterations, func(it view.Iteration) bool { return it.Number == p.chosen })
	if at < 0 {
		return nil
	}
	row, found := summary.Row(m, at, now), ""
	if row.Found > 0 {
		found = termtext.Count(row.Found, "finding")
	}
	return []string{view.Join(" · ", fmt.Sprintf("%d %s", row.Number, row.Mark), row.Title, row.Text, found, row.Cost)}
}

// Scroll moves by bands.
func (p *timelinePage) Scroll(by int) { p.back = max(p.back-by, 0) }

// cell is an iteration, or the wait before the next one.
type cell struct {
	index int
	gap   string // empty: an iteration
}

// bands lays the iterations out in rows of at most width cells.
func bands(r *view.Run, width int) [][]cell {
	var all [][]cell
	var band []cell
	used := 0
	add := func(c cell, w int) {
		if used+w > width && len(band) > 0 {
			all, band, used = append(all, band), nil, 0
		}
		band, used = append(band, c), used+w
	}
	for i := range r.Iterations {
		it := &r.Iterations[i]
		if i > 0 {
			before := &r.Iterations[i-1]
			if pause := it.StartedAt.Sub(before.Ended); !before.Ended.IsZero() && pause >= wait {
				gap := " " + view.Span(pause) + " "
				add(cell{i, gap}, termtext.Width(gap))
			}
		}
		add(cell{index: i}, 1)
	}
	if len(band) > 0 {
		all = append(all, band)
	}
	return all
}

// Draw draws the page. It formats only the visible iterations.
func (p *timelinePage) Draw(c canvas.Canvas, m *view.Model, now time.Time, forecast string) {
	c.Title(canvas.Title{Name: "Timeline", Key: "T", Focused: true,
		Right: termtext.Count(len(m.Run.Iterations), "iteration")})
	c, p.spots = c.Rows(1, c.H-1), nil
	under := append(p.about(m, now), summary.Burn(m, now)...)
	if forecast != "" {
		under = append(under, forecast)
	}
	if len(m.Run.Iterations) == 0 {
		c.Text(1, 0, c.Dim(), "no iteration has begun yet")
		return
	}
	legend := "✓ well  · no change  ! look  ○ wait  » skip  ■ stop  ● now"
	rows := max(c.H-len(under)-1, bandH-1)
	all := bands(&m.Run, max(c.W-margin-1, 1))
	fit := max((rows+1)/bandH, 1)
	if p.moved {
		p.moved = false
		at := slices.IndexFunc(all, func(band []cell) bool {
			return m.Run.Iterations[band[len(band)-1].index].Number >= p.chosen
		})
		p.back = min(max(p.back, len(all)-fit-at), len(all)-1-at)
	}
	p.back = min(p.back, max(len(all)-fit, 0))
	last := len(all) - p.back
	first := max(last-fit, 0)
	by := scale{highest(&m.Run), now, p.chosen}
	for y, band := range all[first:last] {
		for _, s := range drawBand(c.Rows(y*bandH, bandH-1), m, band, by) {
			p.spots = append(p.spots, spot{s.x, y * bandH, s.number})
		}
	}
	foot := min((last-first)*bandH, rows)
	for i, text := range under {
		c.Text(1, foot+i, c.Tone(summary.Calm).Bold(i == 0), termtext.Fit(text, c.W-2))
	}
	c.Text(1, foot+len(under), c.Dim(), termtext.Fit(legend, c.W-2))
}

// peak is the most that an iteration spent.
type peak struct{ cost, tokens float64 }

// scale is what all bands are drawn with.
type scale struct {
	peak
	now    time.Time
	chosen int // number of the iteration that stands out
}

func highest(r *view.Run) (most peak) {
	for i := range r.Iterations {
		it := &r.Iterations[i]
		most.cost, most.tokens = max(most.cost, it.CostUSD), max(most.tokens, float64(it.Usage.Total()))
	}
	return most
}

// drawBand draws a row of cells, with cost and tokens below. It returns where the iterations are.
func drawBand(c canvas.Canvas, m *view.Model, band []cell, by scale) (spots []spot) {
	it := &m.Run.Iterations[band[0].index]
	c.Text(1, 0, c.Dim(),
		termtext.Fit(fmt.Sprintf("%4d  %s", it.Number, it.StartedAt.In(by.now.Location()).Format("15:04")), margin-2))
	c.Text(1, 1, c.Dim(), "cost")
	c.Text(1, 2, c.Dim(), "tokens")
	x := margin
	for _, one := range band {
		if one.gap != "" {
			x = c.Text(x, 0, c.Dim(), one.gap)
			continue
		}
		row := summary.Row(m, one.index, by.now)
		it := &m.Run.Iterations[one.index]
		c.Text(x, 1, c.Tone(summary.Busy), bar(it.CostUSD, by.cost))
		c.Text(x, 2, c.Tone(summary.Busy), bar(float64(it.Usage.Total()), by.tokens))
		spots = append(spots, spot{x: x, number: it.Number})
		x = c.Text(x, 0, c.Tone(row.Tone).Reverse(it.Number == by.chosen), row.Mark)
	}
	return spots
}

// bar is a part of the highest, as an eighth to eight eighths of a cell.
func bar(n, most float64) string {
	if n <= 0 || most <= 0 {
		return " "
	}
	marks := []rune("▁▂▃▄▅▆▇█")
	return string(marks[min(int(n/most*8), 7)])
}
