package monitor

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"ralph/logs/termtext"
)

// TopScreen shows the runs until the user quits or chooses one.
type TopScreen struct {
	Rows   func() []TopRow // asked once a second
	Screen tcell.Screen    // nil: the terminal
	On     string          // the project whose run is chosen at first; empty: the first one
	Now    func() time.Time
}

const (
	refreshEvery = time.Second
	keys         = " enter open   up down choose   q quit"
)

// shown is what the screen shows. Only the event loop uses it.
type shown struct {
	TopScreen
	table  *tview.Table
	head   *tview.TextView
	rows   []TopRow
	width  int
	chosen string
}

// Run returns the project of the run that the user opened; empty: none.
func (s TopScreen) Run(ctx context.Context) (chosen string, err error) {
	app := tview.NewApplication()
	if s.Screen != nil {
		app.SetScreen(s.Screen)
	}
	v := &shown{TopScreen: s, rows: s.Rows(), head: tview.NewTextView(),
		table: tview.NewTable().SetFixed(1, 0).SetSelectable(true, false)}
	foot := tview.NewTextView().SetText(keys).SetTextColor(tcell.ColorDefault)
	v.head.SetTextColor(tcell.ColorDefault)
	for _, box := range []*tview.Box{v.table.Box, v.head.Box, foot.Box} {
		box.SetBackgroundColor(tcell.ColorDefault)
	}
	v.table.SetSelectedStyle(tcell.StyleDefault.Reverse(true)).SetSelectionChangedFunc(func(y, _ int) {
		v.On = v.project(y)
	}).SetSelectedFunc(func(y, _ int) {
		if v.chosen = v.project(y); v.chosen != "" {
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
		if w, _ := screen.Size(); w != v.width {
			v.width = w
			v.fill()
		}
		return false
	})
	app.SetRoot(tview.NewFlex().SetDirection(tview.FlexRow).AddItem(v.head, 1, 0, false).AddItem(v.table, 0, 1,
		true).AddItem(foot, 1, 0, false), true)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var looking atomic.Bool
	go every(ctx, func() {
		if looking.Swap(true) {
			return // the screen has not yet drawn the previous update
		}
		fresh := s.Rows()
		go app.QueueUpdateDraw(func() { // it would block forever after the screen has ended
			v.rows = fresh
			v.fill()
			looking.Store(false)
		})
	}, app.Stop)
	if err := app.Run(); err != nil {
		return "", fmt.Errorf("show the runs: %w", err)
	}
	return v.chosen, nil
}

// project is the project in row y of the table; empty if there is none.
func (v *shown) project(y int) string {
	if y < 1 || y > len(v.rows) {
		return ""
	}
	return v.rows[y-1].Project
}

// fill puts the rows into the table, and keeps the selection on the same project.
func (v *shown) fill() {
	on := v.On
	v.table.Clear()
	v.head.SetText(" " + termtext.Count(len(v.rows), "active run"))
	if len(v.rows) == 0 {
		v.head.SetText(" No run is alive. Start one with: ralph")
	}
	for y, row := range topCells(v.rows, v.width, v.Now()) {
		for x, text := range row {
			cell := tview.NewTableCell(tview.Escape(text)).SetTextColor(tcell.ColorDefault).SetSelectable(y > 0)
			if y == 0 {
				cell.SetAttributes(tcell.AttrBold)
			}
			v.table.SetCell(y, x, cell)
		}
		if on != "" && v.project(y) == on {
			v.table.Select(y, 0)
		}
	}
	if y, _ := v.table.GetSelection(); v.project(y) == "" && len(v.rows) > 0 {
		v.table.Select(1, 0)
	}
}

// every calls look once a second until the context ends, and then end.
func every(ctx context.Context, look, end func()) {
	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			end()
			return
		case <-ticker.C:
			look()
		}
	}
}
