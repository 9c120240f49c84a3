package monitor

import "testing"

func TestPlan_forecast_standsBesideItsTitle(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24}, "MONITOR_TEST_FORECAST=done about 18:40 $2.00")
	p.shows("1 Plan", "done about 18:40 $2.00 ─")
}
