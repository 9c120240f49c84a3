package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/scaffold"
	"ralph/logs/termtext"
	"ralph/runner/task/store"
	"ralph/state/option"
)

// moved is what comes from another tool.
type moved struct {
	options      map[string]string // by the key of the option
	prompt, plan string            // existing files
}

// keys are the options to write: the usual ones, then those that were taken over.
func (m moved) keys(usual []string) []string {
	return append(usual, slices.DeleteFunc(slices.Sorted(maps.Keys(m.options)),
		func(key string) bool { return slices.Contains(usual, key) })...)
}

// move reads the project of another tool. An error means that nothing was changed.
func (o *initOptions) move(dir string) error {
	if !slices.Contains(scaffold.ForeignTools(), o.from) { // a plan, which was imported
		return nil
	}
	p, err := scaffold.ReadForeign(o.from, dir, optionOf)
	if err != nil {
		return cmdline.UsageError("%v; nothing was changed", err)
	}
	for _, name := range []string{".ralphrc", ".ralph/config.yaml"} {
		_, err := os.Stat(filepath.Join(dir, name))
		if p.Own || o.force || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return cmdline.UsageError("%s has settings of ralph already; move it away, or overwrite it with --force; "+
			"nothing was changed", name)
	}
	// What ralph would refuse at the start of a run is not written.
	options := optionsOf(dir, p)
	loader := o.Loader(dir, nil)
	for key, value := range options {
		loader.Env = append(slices.Clone(loader.Env), key+"="+value)
	}
	cfg, _, err := loader.Load()
	if err != nil {
		return cmdline.UsageError("%v; nothing was changed", err)
	}
	if name := options["AGENT"]; name != "" && !slices.Contains(initKnown(cfg), name) {
		return cmdline.UsageError("ralph has no agent %q, which the settings of %s name; "+
			"describe it first: ralph agent add; nothing was changed", name, o.from)
	}
	if p.Plan != "" {
		if _, err := store.Locate(dir, p.Plan, nil); err != nil {
			return cmdline.UsageError("%v; nothing was changed", err)
		}
	}
	o.moved = &p
	return nil
}

// optionOf is the key of the option that a name in .ralphrc sets; empty: none.
func optionOf(name string) string { return initRowOf(name).Key }

// initRowOf is the row of that option; the zero value: none.
func initRowOf(name string) (found option.Row) {
	for _, row := range config.Table() {
		if row.Key == name || slices.Contains(row.Aliases, name) {
			return row
		}
	}
	return found
}

// optionsOf are the settings of a project by the key of the option.
func optionsOf(dir string, p scaffold.Foreign) map[string]string {
	options := map[string]string{}
	if p.Own {
		return options
	}
	for _, s := range p.Settings {
		key := s.Key
		if key == "AGENT_CMD" {
			key = "CLAUDE_CODE_CMD"
		}
		options[key] = s.Value
	}
	usual := func() string {
		for _, name := range []string{".ralph/PROMPT.md", "PROMPT.md", "prompt.md"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return name
			}
		}
		return ""
	}()
	if p.Prompt != "" && p.Prompt != usual {
		options["PROMPT_FILE"] = p.Prompt
	}
	if found, _ := store.Find(dir, nil); p.Plan != "" && found != filepath.Join(dir, filepath.FromSlash(p.Plan)) {
		options["PLAN_FILE"] = p.Plan
	}
	return options
}

// apply puts what was taken over in place of what was detected.
func (o *initOptions) apply(dir string, a *answers) {
	if o.moved == nil {
		return
	}
	a.moved = moved{optionsOf(dir, *o.moved), o.moved.Prompt, o.moved.Plan}
	for key, place := range map[string]*string{"AGENT": &a.agent, "CLAUDE_CODE_CMD": &a.command,
		"SANDBOX": &a.sandbox, "QA": &a.qa} {
		if value := a.moved.options[key]; value != "" {
			*place = value
		}
	}
}

func (o *initOptions) sayMoved() {
	if o.moved == nil {
		return
	}
	for _, file := range []struct{ name, use string }{{o.moved.Prompt, "the prompt"}, {o.moved.Plan, "the plan"}} {
		if file.name != "" {
			o.Say("took  %s as %s", file.name, file.use)
		}
	}
	for _, s := range o.moved.Settings {
		s.Value = config.Display(initRowOf(s.Key), s.Value)
		if s.From == s.Key {
			o.Say("took  %s=%s", s.Key, termtext.Fit(s.Value, 60))
		} else {
			o.Say("took  %s as %s=%s", s.From, s.Key, termtext.Fit(s.Value, 60))
		}
		o.result.Took = append(o.result.Took, s.Key+"="+s.Value)
	}
	for _, l := range o.moved.Left {
		l.Why = strings.ReplaceAll(l.Why, "`", "")
		o.Say("left  %s: %s", l.Name, l.Why)
		o.result.Left = append(o.result.Left, l.Name+": "+l.Why)
	}
}

// sayAsks shows what a taken-over .ralphrc asks for. It returns true if settings need the user's
// consent before a run.
func (o *initOptions) sayAsks(dir string) bool {
	u, err := o.Loader(dir, nil).Untrusted()
	if err != nil || u == nil { // broken settings are the business of those who read them
		return false
	}
	if o.moved != nil && o.moved.Own {
		for _, line := range u.Lines {
			o.Say("asks  %s", line)
		}
	}
	return len(u.Lines) > 0
}
