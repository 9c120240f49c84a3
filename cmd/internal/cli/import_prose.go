package cli

import (
	"crypto/rand"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/scaffold"
	"ralph/logs/termtext"
	"ralph/state"
)

// askAgent lets the agent turn prose into stories, in one call.
func (o *importOptions) askAgent(text string) ([]scaffold.Item, []scaffold.Skipped, error) {
	if !o.CanAsk() {
		return nil, nil, cmdline.UsageError("--ai shows what the agent made of the text and asks; " +
			"nobody can be asked here")
	}
	p, loader, err := preflight.Open(o.Factory, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := o.Trust(loader); err != nil {
		return nil, nil, err
	}
	if err := p.FindAgents(); err != nil {
		return nil, nil, err
	}
	if err := p.Installed(p.Agent); err != nil {
		return nil, nil, err
	}
	nonce := rand.Text()
	o.Note("%s makes stories of the text; this is one call", p.Agent.Spec.Name)
	final, err := p.AskAgent(o.Factory, scaffold.ImportPrompt(text, nonce))
	if err != nil {
		return nil, nil, err
	}
	return scaffold.ParseAnswer(termtext.Clean(final), nonce)
}

// agreed shows the plan that an agent has made as a diff, and asks whether to write it.
func (o *importOptions) agreed(name, text string) error {
	if !o.ai {
		return nil
	}
	o.Note("--- /dev/null\n+++ %s", name)
	for line := range strings.Lines(text) {
		o.Note("+%s", strings.TrimRight(line, "\r\n"))
	}
	if !o.Agree("Write this plan?") {
		return &cmdline.ExitError{Code: state.ExitError, Text: "nothing was written"}
	}
	return nil
}
