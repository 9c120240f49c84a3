package report

import (
	"fmt"
	"testing"

	"ralph/state"
)

func TestLines_manyMachines_theOnesWithFewTurnsAreOneLine(t *testing.T) {
	var f machineFold
	for n := range 50 {
		for range 50 - n {
			f.Add(state.NewEvent(state.Origin{Host: fmt.Sprint("m", n)}, state.Event{}.Time, state.IterationEnd{Seconds: 2}))
		}
	}
	lines := f.Work().Lines(func(s float64) string { return fmt.Sprintf("%g s", s) })
	if len(lines) != mostMachines+1 || lines[0] != "machine m0: 50 turns, 100 s" || lines[mostMachines] != "30 more machines: 465 turns, 930 s" {
		t.Errorf("%q", lines)
	}
}

func TestWork_worktreeForOne_hasOnlyTheQueue(t *testing.T) {
	var f machineFold
	from := state.Origin{Host: "here"}
	for _, p := range []state.Payload{state.RunStart{Parallel: 1}, state.IterationEnd{Merge: state.MergeHook}, state.Commit{OID: "1", Landed: "b"},
		state.IterationEnd{}} {
		f.Add(state.NewEvent(from, state.Event{}.Time, p))
	}
	w := f.Work()
	if w.Queue == nil || *w.Queue != (Queue{Landed: 1, Hooks: 1}) || len(w.Machines) != 1 || w.Queue.line() != "1 landed, 1 sent back: 1 by a hook" {
		t.Errorf("%+v", w)
	}
}

func TestWork_oneAfterTheOther_resumedUnderAnotherHostName_isEmpty(t *testing.T) {
	var f machineFold
	for _, host := range []string{"old", "new"} {
		for _, p := range []state.Payload{state.RunStart{Parallel: 1}, state.IterationEnd{}} {
			f.Add(state.NewEvent(state.Origin{Host: host}, state.Event{}.Time, p))
		}
	}
	if w := f.Work(); w.Machines != nil || w.Queue != nil {
		t.Errorf("%+v", w)
	}
}

func TestWork_turnOnAnotherMachine_showsBoth(t *testing.T) {
	var f machineFold
	f.Add(state.NewEvent(state.Origin{Host: "run"}, state.Event{}.Time, state.RunStart{Parallel: 1}))
	for _, host := range []string{"build1", "run"} {
		f.Add(state.NewEvent(state.Origin{Host: host}, state.Event{}.Time, state.IterationEnd{}))
	}
	if w := f.Work(); len(w.Machines) != 2 {
		t.Errorf("%+v", w)
	}
}
