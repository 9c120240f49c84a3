package summary

import (
	"testing"

	"ralph/state"
)

func TestEffect_turnsSideBySide_concernsAllOfThem(t *testing.T) {
	one := state.Status{Status: state.StatusRunning, Slots: make([]state.SlotStatus, 1)}
	one.Task.Title = "write a"
	all := one
	all.Slots = make([]state.SlotStatus, 4)
	for _, c := range []struct {
		q         state.Request
		one, many string
	}{
		{state.RequestSkip, ` "write a"`, " all 4 current turns"},
		{state.RequestPause, " after this iteration", " after the current turns"},
		{state.RequestStop, " after this iteration", " after the current turns"},
		{state.RequestAbort, "", ""},
	} {
		if a, b := Effect(c.q, one), Effect(c.q, all); a != c.one || b != c.many {
			t.Errorf("%s: %q, %q", c.q, a, b)
		}
	}
}
