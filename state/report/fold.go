package report

import (
	"cmp"
	"slices"
	"sort"

	"ralph/state"
	"ralph/state/view"
)

// Fold takes the events of one run, oldest first.
type Fold struct {
	Run       view.Run
	clock     clock
	before    int                // tasks that were done when the run began
	tasks     int                // that the plan had at its largest
	aside     map[string]string  // why, by task
	ticked    map[string]string  // who else has marked it as done, by task
	elsewhere []state.TaskChange // tasks that were done in the iterations of others
	redBefore map[int][]string   // checks, by iteration
	spent     map[payer]state.Usage
	payer     map[int]payer // of each iteration; 0: of calls outside of them
}

// Wanted reports whether a Fold uses events of this kind. The others are most of a file.
func Wanted(k state.Kind) bool {
	return !slices.Contains([]state.Kind{state.KindText, state.KindTool, state.KindToolResult, state.KindResult,
		state.KindDenied, state.KindBlocked, state.KindRetry}, k)
}

// payer is who spent something.
type payer struct{ role, agent, model string }

// Add folds one event.
func (f *Fold) Add(e state.Event) {
	if f.Run.Add(e); f.payer == nil {
		f.payer, f.spent, f.redBefore = map[int]payer{}, map[payer]state.Usage{}, map[int][]string{}
		f.aside, f.ticked = map[string]string{}, map[string]string{}
	}
	f.clock.add(e)
	switch d := e.Data.(type) {
	case state.RunStart:
		if f.before = min(f.before, d.Done); !d.Resumed { // less: earlier work was undone
			f.before = d.Done
		}
		f.tasks = max(f.tasks, d.Total)
		f.payer[0] = payer{agent: d.Agent, model: d.Model}
	case state.IterationStart:
		delete(f.aside, e.Task) // it has another chance
		delete(f.ticked, e.Task)
		f.payer[e.Iteration] = payer{e.Role, cmp.Or(d.Agent, f.Run.Agent), cmp.Or(d.Model, f.Run.Model)}
	case state.SessionStart:
		who := cmp.Or(f.payer[e.Iteration], f.payer[0])
		who.model = cmp.Or(who.model, d.Model)
		f.payer[e.Iteration] = who
	case state.TaskChange:
		delete(f.ticked, d.ID)
		switch d.State {
		case state.TaskDone:
			if d.Person {
				f.ticked[d.ID] = "a person marked it as done"
			} else if d.ID != e.Task {
				f.elsewhere = append(f.elsewhere, d)
			}
			delete(f.aside, d.ID)
		case state.TaskPutAside:
			f.aside[d.ID] = d.Why
		case state.TaskOpen: // perhaps only a tick that was taken back
		default:
			delete(f.aside, d.ID)
		}
	case state.RunEnd:
		for _, id := range d.Ticked {
			f.ticked[id] = "marked as done outside of its iterations"
		}
	case state.IterationEnd:
		if d.TaskDone {
			delete(f.aside, e.Task)
		}
		f.redBefore[e.Iteration] = d.RedBefore
		who := cmp.Or(f.payer[e.Iteration], f.payer[0])
		f.spent[who] = f.spent[who].Add(d.Usage)
	}
}

// Known reports whether there was any event.
func (f *Fold) Known() bool { return !f.clock.now.IsZero() }

// Share is what one task, role or model cost.
type Share struct {
	Name   string  `json:"name"`
	USD    float64 `json:"usd"`
	Tokens int64   `json:"tokens"`
}

// Cost is where the money went. The shares of each list add up to the whole.
type Cost struct {
	USD    float64 `json:"usd"`
	Tokens int64   `json:"tokens"`
	// Estimated is the part of USD that ralph estimated, for calls that were cut off. Unpriced counts those that USD leaves out.
	Estimated float64 `json:"estimated_usd,omitempty"`
	Unpriced  int     `json:"unpriced_calls,omitempty"`

	Task  []Share `json:"by_task"`
	Role  []Share `json:"by_role"`
	Model []Share `json:"by_model"`
}

// cost splits what the run used.
func (f *Fold) cost() Cost {
	whole := f.Run.Usage
	c := Cost{USD: whole.CostUSD, Tokens: whole.Total(), Estimated: whole.EstimatedUSD, Unpriced: whole.UnpricedCalls, Task: []Share{}, Role: []Share{}, Model: []Share{}}
	for i := range f.Run.Iterations {
		it := &f.Run.Iterations[i]
		share(&c.Task, line(cmp.Or(it.Task, it.TaskID)), it.Usage)
	}
	for who, used := range f.spent {
		share(&c.Role, cmp.Or(line(who.role), view.Developer), used)
		share(&c.Model, cmp.Or(line(view.Join(" ", who.agent, who.model)), "unknown"), used)
	}
	for _, list := range []*[]Share{&c.Task, &c.Role, &c.Model} {
		rest := Share{Name: "calls that were cut off", USD: c.USD, Tokens: c.Tokens}
		for _, s := range *list {
			rest.USD -= s.USD
			rest.Tokens -= s.Tokens
		}
		if rest.USD > 0.000_05 || rest.Tokens > 0 {
			*list = append(*list, rest)
		}
		sort.SliceStable(*list, func(i, j int) bool {
			a, b := (*list)[i], (*list)[j]
			return 0 > cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
		})
	}
	return c
}

// share adds a usage to the share of a name.
func share(list *[]Share, name string, used state.Usage) {
	i := slices.IndexFunc(*list, func(s Share) bool { return s.Name == name })
	if i < 0 {
		i = len(*list)
		*list = append(*list, Share{Name: name})
	}
	(*list)[i].USD += used.CostUSD
	(*list)[i].Tokens += used.Total()
}
