package monitor

import (
	"context"
	"time"

	"ralph/logs/termtext"
	"ralph/state/view/summary"
)

// foreseePause is the time between two forecasts. Each reads all events of the run.
const foreseePause = 15 * time.Second

// foresee keeps the forecast up to date until ctx ends.
func (u *ui) foresee(ctx context.Context) {
	if u.o.Forecast == nil {
		return
	}
	for {
		began := time.Now()
		text := termtext.Line(u.o.Forecast())
		u.mu.Lock()
		u.soon = text
		u.mu.Unlock()
		u.redraw()
		select {
		case <-ctx.Done():
			return
		case <-time.After(foreseePause + 20*time.Since(began)):
		}
	}
}

// foreseen is the forecast; empty if no run is alive or no task is open: it is older than the rest of the screen.
func (u *ui) foreseen(v summary.Summary) string {
	if !v.Alive || v.Plan.Done >= v.Plan.Total {
		return ""
	}
	return u.soon
}
