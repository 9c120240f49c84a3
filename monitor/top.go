package monitor

// The files top*.go show the living runs of all projects of a user: state files in; rows,
// a table and a screen out.

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// TopRow is a living run.
type TopRow struct {
	Run       string    `json:"run"`
	Project   string    `json:"project"` // its folder
	Status    string    `json:"status"`
	PID       int       `json:"pid"`
	Task      string    `json:"task,omitempty"` // its title
	Done      int       `json:"tasks_done"`
	Total     int       `json:"tasks_total"`
	Iteration int       `json:"iteration"`
	Agent     string    `json:"agent,omitempty"`
	Model     string    `json:"model,omitempty"`
	USD       float64   `json:"cost_usd"`
	Reason    string    `json:"reason,omitempty"` // why it waits
	StartedAt time.Time `json:"started_at,omitzero"`
	WakeAt    time.Time `json:"wake_at,omitzero"`

	// Turns are those side by side; nil: the run has one at a time. Fleet is nil without one.
	Turns []state.SlotStatus `json:"turns,omitempty"`
	Fleet *state.FleetStatus `json:"fleet,omitempty"`
}

// Living looks at each project and returns the runs that are alive, those that need a
// person first.
func Living(projects []string, now time.Time) []TopRow {
	rows := []TopRow{}
	for _, dir := range projects {
		s := view.Gather(state.Open(filepath.Join(dir, state.DirName)), now)
		if !s.Alive {
			continue
		}
		m := view.Model{Snapshot: s}
		st := s.Status
		rows = append(rows, TopRow{
			Run: cmp.Or(s.Owner.RunID, st.RunID), Project: dir, Status: s.State, PID: s.Owner.PID, Task: st.Task.Title,
			Done: st.Task.Done, Total: st.Task.Total,
			Iteration: m.Iteration(), Agent: st.Agent, Model: st.Model, USD: st.Usage.CostUSD, Reason: s.Wait.Reason,
			StartedAt: st.StartedAt, WakeAt: s.Wait.Until, Turns: st.Slots, Fleet: st.Fleet,
		})
	}
	urgent := func(r TopRow) int {
		return 1 + slices.Index([]string{state.StatusPaused, state.StatusWaiting, state.StatusRunning,
			view.StateStarting}, r.Status)
	}
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		return cmp.Or(cmp.Compare(urgent(a), urgent(b)), a.StartedAt.Compare(b.StartedAt),
			cmp.Compare(a.Project, b.Project)) < 0
	})
	return rows
}

// column is a part of the table.
type column struct {
	head  string
	from  int // the width from which it is shown
	width int // at most; 0: the rest
	text  func(r TopRow, now time.Time) string
}

func topColumns() []column {
	return []column{
		{"PROJECT", 0, 20, func(r TopRow, _ time.Time) string { return filepath.Base(r.Project) }},
		{"STATE", 0, 10, func(r TopRow, _ time.Time) string {
			word, mark, _ := summary.Word(r.Status)
			return mark + " " + word
		}},
		{"TASKS", 0, 9, func(r TopRow, _ time.Time) string {
			if r.Total == 0 {
				return "-"
			}
			return fmt.Sprintf("%d/%d", r.Done, r.Total)
		}},
		{"RUNS FOR", 0, 8, func(r TopRow, now time.Time) string {
			if r.StartedAt.IsZero() {
				return "-"
			}
			return view.Span(now.Sub(r.StartedAt))
		}},
		{"COST", 70, 9, func(r TopRow, _ time.Time) string { return cmp.Or(view.Dollars(r.USD), "-") }},
		{"ITERATION", 90, 9, func(r TopRow, _ time.Time) string { return fmt.Sprint(r.Iteration) }},
		{"SIDE BY SIDE", 100, 34, func(r TopRow, _ time.Time) string { return cmp.Or(topBeside(r), "-") }},
		{"AGENT", 130, 24, func(r TopRow, _ time.Time) string { return strings.TrimSpace(r.Agent + " " + r.Model) }},
		{"RUN", 150, 24, func(r TopRow, _ time.Time) string { return r.Run }},
		{"WHAT", 0, 0, what},
	}
}

// topBeside counts the turns side by side, those that wait for the merge queue, and the workers of the fleet.
func topBeside(r TopRow) string {
	landing := 0
	for _, s := range r.Turns {
		if s.Phase == "landing" {
			landing++
		}
	}
	var parts []string
	if n := len(r.Turns); n > 0 {
		parts = append(parts, termtext.Count(n, "turn"))
	}
	if landing > 0 {
		parts = append(parts, fmt.Sprintf("%d landing", landing))
	}
	if r.Fleet != nil {
		parts = append(parts, termtext.Count(r.Fleet.Workers, "worker"))
	}
	return strings.Join(parts, " · ")
}

// what names the tasks, or says why the run waits.
func what(r TopRow, now time.Time) string {
	until := ""
	if !r.WakeAt.IsZero() {
		until = "until " + view.Clock(r.WakeAt, now)
	}
	if waits := view.Join(": ", until, r.Reason); waits != "" {
		return waits
	}
	if len(r.Turns) == 0 {
		return r.Task
	}
	var titles []string
	for _, s := range r.Turns {
		titles = append(titles, s.Title)
	}
	return strings.Join(titles, " | ")
}

// topCells are the headings and the rows for a screen of this width; 0: all columns.
func topCells(rows []TopRow, width int, now time.Time) (table [][]string) {
	shown := slices.DeleteFunc(topColumns(), func(c column) bool { return width > 0 && width < c.from })
	table = make([][]string, 1+len(rows))
	for _, c := range shown {
		table[0] = append(table[0], c.head)
		for i, r := range rows {
			text := termtext.Line(c.text(r, now))
			if width > 0 && c.width > 0 {
				text = termtext.Fit(text, c.width)
			}
			table[i+1] = append(table[i+1], text)
		}
	}
	return table
}

// TopLines is the table as text, cut to the width; 0: nothing is cut.
func TopLines(rows []TopRow, width int, now time.Time) (lines []string) {
	table := topCells(rows, width, now)
	wide := make([]int, len(table[0]))
	for _, row := range table {
		for i, text := range row {
			wide[i] = max(wide[i], termtext.Width(text))
		}
	}
	for _, row := range table {
		var b strings.Builder
		for i, text := range row {
			b.WriteString(text)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", wide[i]-termtext.Width(text)+2))
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if width > 0 {
			line = termtext.Fit(line, width)
		}
		lines = append(lines, line)
	}
	return lines
}
