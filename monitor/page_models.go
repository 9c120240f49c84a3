package monitor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/act"
	"ralph/state/view/summary"
)

// modelsPage lists agents with their models. A person types until one is left, or any other name.
type modelsPage struct {
	u        *ui
	all      []choice
	shown    []choice
	agents   map[string]bool
	current  string // agent of the run: it takes models that are typed without an agent
	selected int    // in shown
	top      int
	why      string // nothing is listed
}

// choice is an agent with a model.
type choice struct{ agent, model string }

// openModels opens the page of agents and models.
func (u *ui) openModels() {
	if why := u.noRalph(); why != "" {
		u.fail("no list of models: " + why)
		return
	}
	if !u.alive() {
		return
	}
	p := &modelsPage{u: u, current: u.model.Status.Agent, why: "asking the agents for their models …"}
	u.open("models", p)
	q := u.ask("model, or agent and model: ", "", p.choose)
	q.typed, q.left, q.moves = p.find, u.closeFront, p.Scroll
	ralph := u.ralph()
	u.background(func() func() {
		data, err := ralph.Output(context.Background(), "agent", "list", "--json")
		return func() {
			if err == nil {
				err = p.load(data)
			}
			if err != nil {
				p.why = termtext.Line(err.Error())
			}
		}
	})
}

// load reads what `ralph agent list --json` prints. Agents that do not run are left out.
func (p *modelsPage) load(data []byte) error {
	var agents []act.Agent
	if err := json.Unmarshal(data, &agents); err != nil {
		return fmt.Errorf("read the list of agents: %w", err)
	}
	p.all, p.agents, p.why = nil, map[string]bool{}, ""
	for _, a := range agents {
		if !a.Runs {
			continue
		}
		p.agents[a.Name] = true
		p.all = append(p.all, choice{agent: a.Name})
		for _, m := range a.Models {
			p.all = append(p.all, choice{a.Name, m})
		}
	}
	if !p.agents[p.current] { // it works, even if this process cannot find it
		p.agents[p.current] = true
		p.all = append([]choice{{agent: p.current}}, p.all...)
	}
	p.find("")
	return nil
}

// String is what a search looks at.
func (p *modelsPage) String(i int) string { return p.all[i].agent + " " + p.all[i].model }

// Len is how many choices there are.
func (p *modelsPage) Len() int { return len(p.all) }

// find narrows the list. What is typed comes last if it is not listed.
func (p *modelsPage) find(text string) {
	text = termtext.Unwrap(text)
	if p.selected, p.top = 0, 0; text == "" {
		p.shown = p.all
		return
	}
	typed := choice{p.current, text}
	if first, rest, _ := strings.Cut(text, " "); p.agents[first] {
		typed = choice{first, rest}
	}
	p.shown = nil
	for _, m := range fuzzy.FindFrom(text, p) {
		p.shown = append(p.shown, p.all[m.Index])
	}
	if !slices.Contains(p.all, typed) {
		p.shown = append(p.shown, typed)
	}
}

// choose makes the choice.
func (p *modelsPage) choose(string) {
	p.u.closeFront()
	if p.why != "" || p.selected >= len(p.shown) {
		return
	}
	one := p.shown[p.selected]
	verb := []string{"agent", "use"}
	if one.model != "" {
		verb = append(verb, "--model="+one.model)
	}
	p.u.act(append(verb, "--", one.agent)...)
}

// Keys are none: what is typed narrows the list.
func (p *modelsPage) Keys() []binding { return nil }

// Scroll moves the selection.
func (p *modelsPage) Scroll(by int) { p.selected = min(max(p.selected+by, 0), max(len(p.shown)-1, 0)) }

// Click selects a row.
func (p *modelsPage) Click(_, y int) { p.Scroll(p.top + y - p.selected) }

// Draw draws the list.
func (p *modelsPage) Draw(c canvas.Canvas) {
	c.Title(canvas.Title{Name: "Agent and model from the next turn on", Key: "m", Focused: true})
	c = c.Rows(1, c.H-1)
	if p.why != "" {
		c.Text(1, 0, c.Tone(summary.Warn), termtext.Fit(p.why, c.W-2))
		return
	}
	p.top = c.First(p.top, p.selected, len(p.shown))
	for y := 0; y < c.H && p.top+y < len(p.shown); y++ {
		one, style := p.shown[p.top+y], plain
		if p.top+y == p.selected {
			style = style.Reverse(true)
			c.Text(0, y, style, strings.Repeat(" ", c.W))
		}
		model := one.model
		model = cmp.Or(model, "its own default")
		x := c.Text(1, y, style.Bold(true), termtext.Fit(termtext.Line(one.agent), 14))
		c.Text(max(x+2, 17), y, style, termtext.Fit(termtext.Line(model), max(c.W-19, 0)))
	}
}
