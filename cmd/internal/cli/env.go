package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"ralph/config"
	"ralph/runner/agent"
)

// heldNames are so many names that a line about them stays readable.
const heldNames = 5

// envRows tells what the agent and the checks get of the environment.
func (a *app) envRows(cfg *config.Config, s agent.Spec) []agent.EnvRow {
	return cfg.EnvFilter().List(s, agent.Request{Env: a.env, PermissionMode: cfg.PermissionMode, Root: os.Geteuid() == 0})
}

// heldBack names what the agent does not get, in one line; "" when that is nothing.
func (a *app) heldBack(s *setup) string {
	var names []string
	for _, row := range a.envRows(s.cfg, s.agent.Spec) {
		if row.Agent == agent.EnvHeld {
			names = append(names, inert(row.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	shown := strings.Join(names[:min(heldNames, len(names))], ", ")
	if more := len(names) - heldNames; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s held back from %s: %s; see: ralph config --env", count(len(names), "variable"), s.agent.Spec.Name, shown)
}

// checkEnv is the environment of a check in the project.
func (a *app) checkEnv(dir string) ([]string, error) {
	loader := a.loader(dir, nil)
	cfg, _, err := loader.Load()
	if err != nil {
		return nil, err
	}
	return cfg.EnvFilter().Checks(a.env), a.askTrust(loader)
}

func (a *app) printEnv(cfg *config.Config) error {
	s, err := cfg.Spec(cfg.Agent)
	if err != nil {
		return usageError("%s: %v", cfg.Source("AGENT"), err)
	}
	rows := a.envRows(cfg, s)
	others := 0
	if !cfg.Verbose {
		all := len(rows)
		rows = slices.DeleteFunc(rows, func(r agent.EnvRow) bool { return r.Why == "" })
		others = all - len(rows)
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "VARIABLE\tAGENT\tCHECKS\tWHY")
	for _, r := range rows {
		line := fmt.Sprintf("%s\t%s\t%s\t%s", inert(r.Name), r.Agent, r.Checks, r.Why)
		fmt.Fprintln(w, strings.TrimRight(line, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if others > 0 {
		a.say("%s to both; -v names them", passing(others))
	}
	a.say("the agent is %s; let a variable pass to both with ENV_EXCLUDE='!NAME'", s.Name)
	return nil
}

func passing(others int) string {
	if others == 1 {
		return "1 other passes"
	}
	return fmt.Sprintf("%d others pass", others)
}
