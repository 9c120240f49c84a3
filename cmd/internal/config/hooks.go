package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ralph/runner/hooks"
	"ralph/state/option"
)

// hooksKey is the key of config.yaml for the user's hooks.
const hooksKey = "hooks"

// hookRow is one hook of a config.yaml.
type hookRow struct {
	hook hooks.Hook
	key  string // of the option that it was written as; empty: it is a row of a list
}

// Hooks returns the hooks of the config.yaml files in their order, then those of
// HOOK_PRE_ITERATION and its siblings. Each is valid.
func (c *Config) Hooks() []hooks.Hook {
	var all []hooks.Hook
	for _, row := range c.hooks {
		all = append(all, row.row.hook)
	}
	return append(all, c.Commands.Hooks()...)
}

// keepHook keeps the command of a config.yaml for a point when a stronger source gives another
// one. Hooks of all sources run, so none replaces another.
func (c *Config) keepHook(o option.Row) {
	i := slices.IndexFunc(c.Commands.Options(), func(row option.Row) bool { return row.Key == o.Key })
	from := c.sources[o.Key]
	if i < 0 || c.Commands.Hook[i] == "" || from.Kind != SourceUser && from.Kind != SourceProject {
		return
	}
	h := hooks.Hook{Point: hooks.Points()[i].Point, Command: c.Commands.Hook[i]}
	c.hooks = append(c.hooks, listed[hookRow]{row: hookRow{h, o.Key}, source: from})
}

// checkHookAgents returns an error for a hook that asks an agent which does not exist.
func (c *Config) checkHookAgents() error {
	for _, row := range c.hooks {
		h := row.row.hook
		if h.Agent == "" {
			continue
		}
		if _, err := c.Spec(h.Agent); err != nil {
			return &UsageError{row.source.Where, hooksKey + "." + string(h.Point) + ": " + err.Error()}
		}
	}
	return nil
}

// noPoint says why HOOK_NAME is not an option. nil: it is one, or has another name.
func noPoint(where, key string) error {
	name, isHook := strings.CutPrefix(key, "HOOK_")
	if !isHook {
		return nil
	}
	if _, err := hooks.Find(strings.ToLower(name)); err != nil {
		return &UsageError{where, key + ": " + err.Error()}
	}
	return nil
}

// hookClaim shows what a row decides about programs.
func hookClaim(h hooks.Hook) string { return hooksKey + "." + string(h.Point) + "=" + h.Describe() }

// hookFields are the keys of a row, in the order of the documents.
func hookFields(h *hooks.Hook) []option.Row {
	var points []string
	for _, p := range hooks.Points() {
		points = append(points, string(p.Point))
	}
	return []option.Row{
		{YAML: "hooks.point", Kind: option.Enum, Values: points,
			Help: "When it runs.", Field: (*string)(&h.Point)},
		{YAML: "hooks.type", Kind: option.Enum, Default: string(hooks.Shell),
			Values: texts(hooks.Types()...), Help: "`shell` runs a command, `agent` asks an agent.", Field: (*string)(&h.Type)},
		{YAML: "hooks.command", Kind: option.String, Help: "Command line for `sh -c`; of an agent, the same as `prompt`.", Field: &h.Command},
		{YAML: "hooks.prompt", Kind: option.String, Help: "What an agent is asked, on one line.", Field: &h.Prompt},
		{YAML: "hooks.agent", Kind: option.String, Help: "Who is asked; empty means the run's agent.", Field: &h.Agent},
		{YAML: "hooks.model", Kind: option.String,
			Help: "Model of the agent; empty means its own default, or the run's.", Field: &h.Model},
		{YAML: "hooks.timeout", Kind: option.Duration, Min: "1s", Max: "24h",
			Help: "Time that it may take; empty means one minute for a command, ten for an agent.", Field: &h.Timeout},
		{YAML: "hooks.on_failure", Kind: option.Enum, Default: string(hooks.WarnContinue),
			Values: texts(hooks.OnFailures()...),
			Help: "What ralph does when it fails: `warn_continue` shows it, `skip_task` puts the task aside, " +
				"`abort_loop` ends the run, `ask_agent` tells the agent in the next prompt.", Field: (*string)(&h.OnFailure)},
		{YAML: "hooks.when", Kind: option.List,
			Help: "Globs, as for checks: the hook runs only if the turn changed a file that matches one. " +
				"Works only at points after a turn.", Field: &h.When},
	}
}

// hookRows reads what stands under hooks: a list of rows, or for each point a command or a
// list of rows.
func (r *yamlReader) hookRows(node ast.Node) error {
	m, ok := node.(*ast.MappingNode)
	if !ok {
		return r.each(hooksKey, node, func(item ast.Node) error { return r.hook("", item) })
	}
	keys := map[string]bool{}
	for _, pair := range m.Values {
		name, err := r.key(pair.Key, keys)
		if err != nil {
			return err
		}
		if _, err := hooks.Find(name); err != nil {
			return r.refuse(pair.Key, hooksKey+": "+err.Error())
		}
		path := hooksKey + "." + name
		if _, plain := scalar(pair.Value); plain {
			if err := r.value(r.paths[path], path, pair.Value); err != nil {
				return err
			}
			continue
		}
		if err := r.each(path, pair.Value, func(item ast.Node) error { return r.hook(hooks.Point(name), item) }); err != nil {
			return err
		}
	}
	return nil
}

// hook reads one row of a point; empty: the row names it.
func (r *yamlReader) hook(p hooks.Point, node ast.Node) error {
	h := hooks.Hook{Point: p}
	first := node
	if command, plain := scalar(node); plain && option.Printable(command) {
		h.Command = command
	} else {
		var err error
		if first, err = r.row(hooksKey, hookFields(&h), node); err != nil {
			return err
		}
	}
	if h.Type == hooks.Agent && h.Prompt == "" {
		h.Prompt, h.Command = h.Command, ""
	}
	err := h.Validate()
	switch {
	case p != "" && h.Point != p:
		return r.refuse(first, hooksKey+"."+string(p)+": the row names another point, "+quote(string(h.Point)))
	case h.Point == "":
		return r.refuse(first, hooksKey+": the row names no point")
	case err != nil:
		return r.refuse(first, hooksKey+"."+string(h.Point)+": "+err.Error())
	}
	next := listed[hookRow]{row: hookRow{hook: h}, source: Source{r.kind, r.where(first)}}
	r.settings = append(r.settings, setting{row: func(c *Config) ([]Warning, error) {
		c.hooks = append(c.hooks, next)
		return nil, nil
	}})
	return nil
}
