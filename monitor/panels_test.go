package monitor

import (
	"fmt"
	"strings"
	"testing"

	"ralph/internal/sample"
	"ralph/state"
)

// Turns side by side that have no row are counted, and a fleet is shown whatever there is room for.
func TestPlan_turnsOfAFleet_areShownOrCounted(t *testing.T) {
	s, events := sample.Run(noon)
	s.Status.Fleet = &state.FleetStatus{Workers: 3, Slots: 6, Busy: 5}
	for n := range 8 {
		s.Status.Slots = append(s.Status.Slots, state.SlotStatus{Slot: n + 1, Title: fmt.Sprint("task ", n), Worker: "build1"})
	}
	for _, c := range []struct {
		w, h      int
		has, miss string
	}{
		{80, 20, "8 turns side by side", "task 3"},
		{100, 50, "and 1 more", "8 on build1"},
		{160, 50, "and 2 more", "7 on build1"},
	} {
		screen := simulate(t, c.w, c.h)
		still(t, s, events).drawOn(screen)
		got := text(screen)
		if !strings.Contains(got, "fleet: 3 workers, 5 of 6 slots busy") || !strings.Contains(got, c.has) || strings.Contains(got, c.miss) {
			t.Errorf("%d by %d:\n%s", c.w, c.h, got)
		}
	}
}
