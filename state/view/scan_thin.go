package view

import (
	"maps"
	"slices"

	"ralph/state"
)

// Thinner reads what a view.Run needs of a long file. Most lines of a file are words, tools and their
// answers: of those a Run counts the tools, and only the latest usage of a call matters.
type Thinner struct {
	usage map[int][]byte // by iteration: the latest line that was not passed on
	begun map[int]bool   // iterations whose start was passed on
}

// Events returns the events that matter now that this line was read. Those of tools have no content.
func (t *Thinner) Events(line []byte) []state.Event {
	h := state.HeadOf(line)
	switch h.Kind { // nearly all lines of a long file
	case state.KindText, state.KindToolResult, state.KindPhase, state.KindHook:
		return nil
	}
	if t.usage == nil {
		t.usage, t.begun = map[int][]byte{}, map[int]bool{}
	}
	switch h.Kind {
	case state.KindUsage:
		t.usage[h.Iteration] = append(t.usage[h.Iteration][:0], line...)
		return nil
	case state.KindTool:
		if t.begun[h.Iteration] {
			from := state.Origin{Run: h.Run, Iteration: h.Iteration}
			return []state.Event{{V: state.EventVersion, Kind: state.KindTool, Origin: from, Data: state.Tool{}}}
		}
	case state.KindIterationStart, state.KindIterationEnd:
		all := append(DecodeLine(t.usage[h.Iteration]), DecodeLine(line)...)
		delete(t.usage, h.Iteration)
		if t.begun[h.Iteration] = true; h.Kind == state.KindIterationEnd {
			delete(t.begun, h.Iteration)
		}
		return all
	case state.KindRunStart, state.KindRunEnd:
		return append(t.Rest(), DecodeLine(line)...)
	}
	return DecodeLine(line)
}

// Rest returns what was held back, at the end of the file.
func (t *Thinner) Rest() (all []state.Event) {
	for _, n := range slices.Sorted(maps.Keys(t.usage)) {
		all = append(all, DecodeLine(t.usage[n])...)
	}
	t.usage = map[int][]byte{}
	return all
}

// DecodeLine returns the event of a line; nil: it is none.
func DecodeLine(line []byte) []state.Event {
	if e, ok := state.EventFilter(nil).Decode(line); ok {
		return []state.Event{e}
	}
	return nil
}
