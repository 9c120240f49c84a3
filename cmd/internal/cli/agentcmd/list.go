package agentcmd

import (
	"context"
	"sync"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
)

// listed is what is known about an agent without calling it.
type listed struct {
	preflight.Health
	login  string
	models []string
}

// entry is an agent in the JSON of ralph agent list.
type entry struct {
	Name    string   `json:"agent"`
	Runs    bool     `json:"runs"`
	Why     string   `json:"why,omitempty"` // it does not
	Chosen  bool     `json:"chosen"`        // it is used unless another one is named
	Version string   `json:"version"`
	Login   string   `json:"login"`
	Models  []string `json:"models"`
}

// looker finds out what is known about agents.
type looker struct {
	*preflight.Project
	untrusted bool   // the project: nothing of it is run
	home      string // where lists of models are kept
}

// at looks at all of them at the same time.
func (p looker) at(ctx context.Context, names []string) ([]listed, error) {
	found := make([]listed, len(names))
	ctx, cancel := context.WithTimeout(ctx, preflight.VersionBound)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, name := range names {
		one, err := p.Find(name)
		if err != nil {
			return nil, err
		}
		wg.Go(func() {
			h := p.Probe(ctx, one, p.untrusted)
			found[i] = listed{Health: h}
			if h.Askable && h.Why == "" {
				found[i].login = p.Login(ctx, one)
				found[i].models = p.Models(ctx, one, p.home)
			}
		})
	}
	return found, nil
}

// asJSON prints the agents as JSON.
func asJSON(f *cmdline.Factory, names []string, found []listed, chosen string) error {
	rows := []entry{}
	for i, name := range names {
		h := found[i]
		models := []string{}
		for _, m := range h.models {
			models = append(models, termtext.Line(m))
		}
		rows = append(rows, entry{name, h.Why == "", h.Why, name == chosen, h.Version, h.login, models})
	}
	return cmdline.NewEncoder(f.Out).Encode(rows)
}
