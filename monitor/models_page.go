package monitor

// This file is the monitor's page of agents and models: a person types until one is left,
// and it says which verb of ralph makes the choice. It runs nothing itself.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/sahilm/fuzzy"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/act"
	"ralph/state/view/summary"
)

// choice is an agent with a model.
type choice struct{ agent, model string }

func (c choice) text() string { return strings.TrimSpace(c.agent + " " + c.model) }

// modelsPage is the page of models. It is not safe for concurrent use.
type modelsPage struct {
	filterList[choice]
	all     []choice
	agents  map[string]bool
	current string // agent of the run
	ready   bool
	why     string // the agents are not known
}

// newModelsPage returns a page that waits for the agents. The current one takes models that are typed
// without an agent.
func newModelsPage(current string) *modelsPage {
	p := &modelsPage{current: current}
	p.Find = p.find
	return p
}

// Load reads what `ralph agent list --json` prints. Agents that do not run are left out.
func (p *modelsPage) Load(data []byte) error {
	var agents []act.Agent
	if err := json.Unmarshal(data, &agents); err != nil {
		return fmt.Errorf("read the list of agents: %w", err)
	}
	p.all, p.agents, p.ready = nil, map[string]bool{}, true
	for _, a := range agents {
		if !a.Runs {
			continue
		}
		if a.Chosen && p.current == "" {
			p.current = a.Name
		}
		p.agents[a.Name] = true
		p.all = append(p.all, choice{agent: a.Name})
		for _, m := range a.Models {
			p.all = append(p.all, choice{a.Name, m})
		}
	}
	if p.current != "" && !p.agents[p.current] { // it works, even if this process cannot find it
		p.agents[p.current] = true
		p.all = append([]choice{{agent: p.current}}, p.all...)
	}
	p.Narrow()
	return nil
}

// Fail shows why the agents are not known.
func (p *modelsPage) Fail(why string) { p.why = why }

type source []choice

func (s source) String(i int) string { return s[i].text() }
func (s source) Len() int            { return len(s) }

// find narrows the list. The typed text itself is always the last choice.
func (p *modelsPage) find(typed string) (shown []choice) {
	if typed == "" {
		return p.all
	}
	exact := p.typed(typed)
	for _, m := range fuzzy.FindFrom(typed, source(p.all)) {
		if p.all[m.Index] != exact {
			shown = append(shown, p.all[m.Index])
		} else {
			shown = append([]choice{exact}, shown...)
		}
	}
	if slices.Contains(shown, exact) {
		return shown
	}
	return append(shown, exact)
}

// typed is a choice that a person has typed: an agent and a model, or a model of the current agent.
func (p *modelsPage) typed(text string) choice {
	first, rest, _ := strings.Cut(text, " ")
	if p.agents[first] {
		return choice{first, rest}
	}
	return choice{p.current, text}
}

// Asks is true: all keys belong to the text and the list.
func (p *modelsPage) Asks() bool { return true }

// Hints is nil: the last row asks for a model.
func (p *modelsPage) Hints() []keyHint { return nil }

// Key handles a key.
func (p *modelsPage) Key(e *tcell.EventKey) (keyAct, bool) {
	switch p.filterList.Key(e) {
	case inputLeft:
		return keyAct{Close: true}, true
	case inputEntered:
		return keyAct{Close: true, Verb: p.choose()}, true
	}
	return keyAct{}, true
}

// choose is the verb for the selected choice; nil if there is none.
func (p *modelsPage) choose() []string {
	c, ok := p.Row()
	if !p.ready || !ok || c.agent == "" {
		return nil
	}
	verb := []string{"agent", "use"}
	if c.model != "" {
		verb = append(verb, "--model="+c.model)
	}
	return append(verb, "--", c.agent)
}

// Draw draws the page.
func (p *modelsPage) Draw(c canvas.Canvas, _ scene) {
	c.Title(canvas.Title{Name: "Agent and model from the next turn on", Key: "m", Focused: true})
	c = c.Rows(1, c.H-1)
	switch {
	case p.why != "":
		c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(p.why, c.W-2))
		return
	case !p.ready:
		c.Text(1, 0, c.Dim(), termtext.Fit("asking the agents for their models …", c.W-2))
		return
	case len(p.Shown) == 0:
		c.Text(1, 0, c.Dim(), "no agent runs here; see: ralph agent list")
		return
	}
	p.filterList.Draw(c, func(row canvas.Canvas, one choice, style tcell.Style) {
		x := row.Text(1, 0, style.Bold(true), termtext.Fit(termtext.Line(one.agent), 14))
		model := one.model
		if model == "" {
			model = "its own default"
		}
		row.Text(max(x+2, 17), 0, style, termtext.Fit(termtext.Line(model), max(c.W-19, 0)))
	})
}

// DrawAsk draws what is typed in the last row.
func (p *modelsPage) DrawAsk(c canvas.Canvas) { p.Line.Draw(c, "model, or agent and model: ") }
