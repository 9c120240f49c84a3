package monitor

import "testing"

func TestPlan_forecast_standsBesideItsTitle(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24}, "MONITOR_TEST_FORECAST=done about 18:40 $2.00")
	p.shows("1 Plan", "done about 18:40 $2.00 ─")
}

// In 120 columns the panel has 48: what does not fit goes, from the end, and not all of it.
func TestPlan_forecast_inNarrowPanel_keepsItsBeginning(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{120, 40}, "MONITOR_TEST_FORECAST=done about 18:40 $2.00 · 9 in 10: 19:10 $2.40")
	p.shows("1 Plan", "done about 18:40 $2.00 ─")
}
