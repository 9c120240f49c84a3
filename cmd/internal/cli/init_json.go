package cli

import (
	"io"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/scaffold"
)

// written is what init did, as JSON.
type written struct {
	Project string   `json:"project"`
	Wrote   []string `json:"wrote"`
	Kept    []string `json:"kept"`
	Agent   string   `json:"agent"`        // empty: none is installed
	Test    string   `json:"test_command"` // empty: none is known
	Build   string   `json:"build_command"`
	Lint    string   `json:"lint_command"`
	Next    []string `json:"next"` // commands, in order
}

// reported runs init. With --json it asks nothing and prints only the result.
func (o *initOptions) reported(run func(*initOptions) error) error {
	if !o.json {
		return run(o)
	}
	dir, err := o.Project()
	if err != nil {
		return err
	}
	out, quiet := o.Out, *o.Factory
	quiet.Out, o.yes, o.Factory = io.Discard, true, &quiet
	o.result = written{Project: dir, Wrote: []string{}, Kept: []string{}, Next: []string{}}
	if o.made != nil {
		o.result.Wrote = append(o.result.Wrote, *o.made...)
	}
	if err := run(o); err != nil {
		return err
	}
	return cmdline.NewEncoder(out).Encode(o.result)
}

func (o *initOptions) sayWritten(dir string, files []scaffold.File, a answers) {
	for _, file := range files {
		o.WroteInProject(dir, file.Path)
		o.Say("wrote %s", file.Path)
		o.result.Wrote = append(o.result.Wrote, file.Path)
	}
	o.result.Agent, o.result.Test, o.result.Build, o.result.Lint = a.agent, a.Test, a.Build, a.Lint
}
