package monitor

import (
	"github.com/gdamore/tcell/v2"

	"ralph/monitor/canvas"
	"ralph/state/view/summary"
)

// plain is the style of most text.
var plain = tcell.StyleDefault

// panel is a part of the screen. Its number is the key that shows it alone.
type panel int

const (
	panelHeader panel = iota
	panelPlan
	panelUsage
	panelEnds
	panelIterations
	panelChecks
	panelLog
)

// panels are the parts of the run's screen, from its top. To add one, write its file and add a row here and, for each
// size, in steps and beside.
func panels() []struct {
	panel
	draw func(r *runPage, c canvas.Canvas, v summary.Summary)
} {
	return []struct {
		panel
		draw func(r *runPage, c canvas.Canvas, v summary.Summary)
	}{
		{panelHeader, func(r *runPage, c canvas.Canvas, v summary.Summary) { drawHeader(c, v, r.u.notes) }},
		{panelPlan, (*runPage).drawPlan},
		{panelUsage, func(r *runPage, c canvas.Canvas, v summary.Summary) { drawUsage(c, v, &r.u.model.Run) }},
		{panelEnds, func(_ *runPage, c canvas.Canvas, v summary.Summary) { drawEnds(c, v) }},
		{panelIterations, (*runPage).drawIterations},
		{panelChecks, func(r *runPage, c canvas.Canvas, v summary.Summary) { drawChecks(c, v, r.u.o.Now()) }},
		{panelLog, (*runPage).drawLog},
	}
}

// rect is a panel's place on the screen.
type rect struct {
	panel      panel
	x, y, w, h int
}

// step gives rows to a panel. The table below is the order in which parts appear as
// the screen grows: the first step that does not fit ends the list.
type step struct {
	panel panel
	rows  int
	log   int // rows that the log must keep for this step
}

func steps(in contents, tall bool) []step {
	all := []step{
		{panelHeader, 1, 0}, // the state
		{panelLog, 2, 0},    // its title and one line
		{panelHeader, 1, 2}, // what the run does
		{panelPlan, 1, 4},   // bar, counts and task in one row
		{panelChecks, min(in.checks, 1), 4},
		{panelUsage, 1, 4},  // calls, tokens, cost in one row
		{panelEnds, 1, 5},   // in one row
		{panelHeader, 1, 6}, // agent, model, run
		{panelUsage, 1 + in.gauges, 6},
		{panelPlan, 2, 6},
		{panelChecks, in.proof(2) - min(in.checks, 1), 6}, // a title, and the latest note
		{panelPlan, in.more(3), 6},                        // the turns side by side
		{panelIterations, 3, 6},
		{panelEnds, 1, 7},
		{panelIterations, 2, 8},
		{panelUsage, 4, 14}, // the plot
		{panelEnds, 2, 14},
	}
	if tall {
		all = append(all, step{panelChecks, in.proof(8) - in.proof(2), 16},
			step{panelIterations, max(0, min(in.iterations-4, 8)), 16})
	}
	return all
}

const (
	twoColumns   = 120 // minimum width for the log beside the panels
	columnHeight = 22  // and minimum height
)

// contents is what the sizes of the panels depend on.
type contents struct {
	gauges, iterations, checks, notes, slots, tasks int
	ends                                            []summary.End
}

// more returns the rows that the plan panel needs for parallel turns after the first: at most most.
func (in contents) more(most int) int { return max(min(in.slots-1, most), 0) }

// listed returns the rows of the task list, with its header row, on a screen of h rows. A low screen
// has no list.
func (in contents) listed(h int) int {
	if in.tasks == 0 || h < 32 {
		return 0
	}
	return 1 + min(in.tasks, h/7)
}

// proof returns the height of the checks panel with at most `most` rows below its
// title; 0 if there is nothing to show. Checks that do not fit share a row.
func (in contents) proof(most int) int {
	switch {
	case in.checks+in.notes == 0:
		return 0
	case in.checks+min(in.notes, 1) <= most:
		return 1 + min(in.checks+in.notes, most)
	}
	return 1 + min(in.checks, 1) + min(in.notes, most-1)
}

// layout places the panels on a screen of w by h cells, the last row of which is for the keys. If alone is set, only
// that panel is shown below the header.
func layout(w, h int, alone panel, in contents) []rect {
	switch {
	case w <= 0 || h <= 0:
		return nil
	case alone != panelHeader:
		return stack(w, h, map[panel]int{panelHeader: min(2, h), alone: max(h-3, 0)})
	case w >= twoColumns && h >= columnHeight:
		return beside(w, h, in)
	}
	sizes := map[panel]int{}
	used, room := 0, max(h-1, 1)
	for _, s := range steps(in, h >= 38) {
		log := max(s.log, sizes[panelLog])
		if s.panel == panelLog {
			log = 0
		}
		if used-sizes[panelLog]+s.rows+log > room {
			break
		}
		sizes[s.panel] += s.rows
		used += s.rows
	}
	if sizes[panelLog] > 0 {
		sizes[panelLog] += room - used
	}
	return stack(w, h, sizes)
}

func stack(w, h int, sizes map[panel]int) []rect {
	var all []rect
	y := 0
	for _, p := range panels() {
		if n := min(sizes[p.panel], h-y); n > 0 {
			all = append(all, rect{p.panel, 0, y, w, n})
			y += n
		}
	}
	return all
}

// beside places the log to the right of the other panels.
func beside(w, h int, in contents) []rect {
	left := min(w*2/5, 64)
	y, bottom := 3, h-1
	all := []rect{{panelHeader, 0, 0, w, y}}
	add := func(p panel, rows int) {
		if rows = min(rows, bottom-y); rows > 0 {
			all = append(all, rect{p, 0, y, left, rows})
			y += rows
		}
	}
	usage, proof, ends := 2+in.gauges, 2, 3
	if h >= 32 {
		usage, proof, ends = usage+4, 8, 5
	}
	add(panelPlan, 3+in.more(h/6)+in.listed(h))
	add(panelUsage, usage)
	add(panelEnds, min(ends, 2+len(flow(in.ends, left-2)))) // the breaker's reason has a row
	checks := min(in.proof(proof), max(bottom-y-3, 0))
	add(panelIterations, bottom-checks-y)
	add(panelChecks, checks)
	return append(all, rect{panelLog, left + 2, 3, w - left - 2, bottom - 3})
}
