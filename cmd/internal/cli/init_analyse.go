package cli

import (
	"bufio"

	"ralph/cmd/internal/preflight"
)

// analyse lets the agent propose checks. What the user accepts becomes an answer.
func (o *initOptions) analyse(in *bufio.Reader, a *answers) error {
	p, loader, err := preflight.Open(o.Factory, nil)
	if err != nil {
		return err
	}
	if err := o.Trust(loader); err != nil {
		return err
	}
	if err := p.FindAgents(); err != nil {
		return err
	}
	if err := p.Installed(p.Agent); err != nil {
		return err
	}
	answer, err := p.Analyse(o.Factory)
	if err != nil {
		return err
	}
	accepted, err := p.Propose(o.Factory, in, answer)
	for _, c := range accepted {
		*map[string]*string{"build": &a.Build, "test": &a.Test, "lint": &a.Lint}[c.Name] = c.Command
	}
	return err
}
