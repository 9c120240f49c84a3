package monitor

import (
	"context"
	"time"

	"ralph/logs/termtext"
	"ralph/state/view/summary"
)

// forecastPause is the time between two forecasts. Each reads all events of the run.
const forecastPause = 15 * time.Second

// updateForecast keeps the forecast up to date until ctx ends.
func (u *ui) updateForecast(ctx context.Context) {
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
		case <-time.After(forecastPause + 20*time.Since(began)):
		}
	}
}

// forecast returns the latest forecast. It is empty if no run is alive or no task is open, because the forecast may be
// older than the rest of the screen.
func (u *ui) forecast(v summary.Summary) string {
	if !v.Alive || v.Plan.Done >= v.Plan.Total {
		return ""
	}
	return u.soon
}
