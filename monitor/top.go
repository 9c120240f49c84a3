package monitor

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

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
		{"AGENT", 130, 24, func(r TopRow, _ time.Time) string { return strings.TrimSpace(r.Agent + " " + r.Model) }},
		{"RUN", 150, 24, func(r TopRow, _ time.Time) string { return r.Run }},
		{"WHAT", 0, 0, what},
	}
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
	titles := termtext.Each(r.Turns, func(s state.SlotStatus) string { return s.Title })
	return strings.Join(titles, " | ")
}

// TopCells are the headings and the rows for a screen of this width; 0: all columns.
func TopCells(rows []TopRow, width int, now time.Time) (table [][]string) {
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

// TopScreen shows the runs until the user quits or chooses one.
type TopScreen struct {
	Rows   func() []TopRow // asked once a second
	Screen tcell.Screen    // nil: the terminal
	On     string          // the project whose run is chosen at first; empty: the first one
	Now    func() time.Time

	table *tview.Table
	head  *tview.TextView
	rows  []TopRow
	width int
}

// Run returns the project of the run that the user opened; empty: none.
func (s TopScreen) Run(ctx context.Context) (chosen string, err error) {
	app, release := tview.NewApplication(), func() {}
	if s.Screen != nil {
		app.SetScreen(s.Screen)
	} else {
		release = keepTerminal()
	}
	s.rows, s.head = s.Rows(), tview.NewTextView().SetTextColor(tcell.ColorDefault)
	s.table = tview.NewTable().SetFixed(1, 0).SetSelectable(true, false).SetSelectedStyle(plain.Reverse(true))
	foot := tview.NewTextView().SetText(" enter open   up down choose   q quit").SetTextColor(tcell.ColorDefault)
	for _, box := range []*tview.Box{s.table.Box, s.head.Box, foot.Box} {
		box.SetBackgroundColor(tcell.ColorDefault)
	}
	s.table.SetSelectionChangedFunc(func(y, _ int) { s.On = s.project(y) }).SetSelectedFunc(func(y, _ int) {
		if chosen = s.project(y); chosen != "" {
			app.Stop()
		}
	})
	app.SetInputCapture(func(e *tcell.EventKey) *tcell.EventKey {
		if e.Rune() == 'q' || e.Key() == tcell.KeyEscape || e.Key() == tcell.KeyCtrlC {
			app.Stop()
			return nil
		}
		return e
	}).SetBeforeDrawFunc(func(screen tcell.Screen) bool {
		if w, _ := screen.Size(); w != s.width {
			s.width = w
			s.fill()
		}
		return false
	})
	app.SetRoot(tview.NewFlex().SetDirection(tview.FlexRow).AddItem(s.head, 1, 0, false).AddItem(s.table, 0, 1,
		true).AddItem(foot, 1, 0, false), true)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, app.Stop)
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				fresh := s.Rows()
				go app.QueueUpdateDraw(func() { // it would block forever after the screen has ended
					s.rows = fresh
					s.fill()
				})
			}
		}
	}()
	err = app.Run()
	if release(); err != nil { // not after a panic
		return "", fmt.Errorf("show the runs: %w", err)
	}
	return chosen, nil
}

// project is the project in row y of the table; empty if there is none.
func (s *TopScreen) project(y int) string {
	if y < 1 || y > len(s.rows) {
		return ""
	}
	return s.rows[y-1].Project
}

// fill puts the rows into the table, and keeps the selection on the same project.
func (s *TopScreen) fill() {
	on := s.On
	s.table.Clear()
	s.head.SetText(" " + termtext.Count(len(s.rows), "active run"))
	if len(s.rows) == 0 {
		s.head.SetText(" No run is alive. Start one with: ralph")
	}
	for y, row := range TopCells(s.rows, s.width, s.Now()) {
		for x, text := range row {
			cell := tview.NewTableCell(tview.Escape(text)).SetTextColor(tcell.ColorDefault).SetSelectable(y > 0)
			if y == 0 {
				cell.SetAttributes(tcell.AttrBold)
			}
			s.table.SetCell(y, x, cell)
		}
		if on != "" && s.project(y) == on {
			s.table.Select(y, 0)
		}
	}
	if y, _ := s.table.GetSelection(); s.project(y) == "" && len(s.rows) > 0 {
		s.table.Select(1, 0)
	}
}
