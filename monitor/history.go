package monitor

import (
	"slices"
	"time"

	"ralph/state"
)

// maxRounds bounds the iterations that are remembered.
const maxRounds = 2000

// round is one iteration as the events tell it.
type round struct {
	Number   int
	Start    time.Time
	Ended    bool
	Duration time.Duration
	Outcome  string
	Action   string
	Rule     string
	Reason   string
	Files    int
	Tools    int
	Usage    state.Usage
}

// history folds the events of the latest run.
type history struct {
	Run    string
	Rounds []round // oldest first
	Limits []state.Limit
	Tool   *state.Tool // the latest call
	ToolAt time.Time
	Busy   bool // the latest call has no result yet
	notes  []note
	open   map[string]bool
	agents map[string]bool // calls that made sub-agents, in this iteration
}

// add folds one event.
func (h *history) add(e state.Event) {
	if e.Kind == state.KindRunStart || e.Run != "" && e.Run != h.Run {
		// A limit window belongs to the account, not to the run.
		*h = history{Run: e.Run, Limits: h.Limits}
	}
	switch e.Kind {
	case state.KindIterationStart:
		h.round(e)
		h.open, h.agents = map[string]bool{}, map[string]bool{}
		h.Tool, h.Busy = nil, false
	case state.KindTool:
		h.call(e)
	case state.KindToolResult:
		if e.Tool != nil {
			delete(h.open, e.Tool.ID)
			if h.Tool != nil && h.Tool.ID == e.Tool.ID {
				h.Busy = false
			}
		}
	case state.KindUsage, state.KindResult:
		if e.Usage != nil {
			h.round(e).Usage = *e.Usage
		}
	case state.KindLimit:
		if e.Limit != nil {
			h.limit(*e.Limit)
		}
	case state.KindDecision, state.KindIterationEnd:
		if !h.note(e) {
			h.end(e)
		}
	case state.KindRunEnd:
		h.Tool, h.Busy = nil, false
	}
}

// round returns the iteration of an event, made when it is new.
func (h *history) round(e state.Event) *round {
	for i := len(h.Rounds) - 1; i >= 0 && i >= len(h.Rounds)-2; i-- {
		if h.Rounds[i].Number == e.Iteration {
			return &h.Rounds[i]
		}
	}
	if len(h.Rounds) >= maxRounds {
		h.Rounds = slices.Delete(h.Rounds, 0, maxRounds/10)
	}
	h.Rounds = append(h.Rounds, round{Number: e.Iteration, Start: e.Time})
	return &h.Rounds[len(h.Rounds)-1]
}

// latest is the number of the latest iteration of a run, 0 when it is unknown.
func (h *history) latest(run string) int {
	if h.Run != run || len(h.Rounds) == 0 {
		return 0
	}
	return h.Rounds[len(h.Rounds)-1].Number
}

func (h *history) call(e state.Event) {
	r := h.round(e)
	r.Tools++
	if e.Tool == nil {
		return
	}
	if h.open == nil {
		h.open, h.agents = map[string]bool{}, map[string]bool{}
	}
	h.Tool, h.ToolAt, h.Busy = e.Tool, e.Time, true
	h.open[e.Tool.ID] = true
	if e.Tool.Parent != "" {
		h.agents[e.Tool.Parent] = true
	}
}

// subAgents counts the sub-agents that are at work.
func (h *history) subAgents() int {
	n := 0
	for id := range h.agents {
		if h.open[id] {
			n++
		}
	}
	return n
}

func (h *history) limit(l state.Limit) {
	i := slices.IndexFunc(h.Limits, func(o state.Limit) bool { return o.Kind == l.Kind })
	if i < 0 {
		h.Limits = append(h.Limits, l)
		return
	}
	h.Limits[i] = l
}

func (h *history) end(e state.Event) {
	if e.End == nil || e.Iteration == 0 {
		return
	}
	r := h.round(e)
	if e.End.Outcome != "" {
		r.Outcome = e.End.Outcome
	}
	if e.End.Rule != "" {
		r.Action, r.Rule, r.Reason = e.End.Action, e.End.Rule, e.End.Reason
	}
	if e.Kind != state.KindIterationEnd {
		return
	}
	r.Ended, r.Files, r.Duration = true, e.End.Files, e.End.Duration
	if e.Usage != nil {
		r.Usage = *e.Usage
	}
	if r.Duration == 0 {
		r.Duration = max(e.Time.Sub(r.Start), 0)
	}
	h.Tool, h.Busy = nil, false
}

// spent is the history plot: the cost of each iteration, or its tokens where
// the agent names no cost.
func (h *history) spent() (values []float64, of string) {
	of = "tokens"
	for _, r := range h.Rounds {
		if r.Usage.CostUSD > 0 {
			of = "cost"
			break
		}
	}
	for _, r := range h.Rounds {
		v := float64(r.Usage.Total())
		if of == "cost" {
			v = r.Usage.CostUSD
		}
		values = append(values, v)
	}
	return values, of
}
