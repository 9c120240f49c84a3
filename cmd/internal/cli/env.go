package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"ralph/config"
	"ralph/runner/agent"
	"ralph/runner/agent/environ"
)

// envRequest is a call, as far as its environment depends on it.
func (a *app) envRequest(cfg *config.Config) agent.Request {
	return agent.Request{Env: a.env, Model: cfg.Model, PermissionMode: cfg.PermissionMode, Root: os.Geteuid() == 0}
}

// heldBack names what the agent does not get, in one line; "" when that is nothing.
func (a *app) heldBack(s *setup) string {
	names := s.cfg.EnvFilter().Held(s.agent.Spec, a.envRequest(s.cfg))
	if len(names) == 0 {
		return ""
	}
	return inert(fmt.Sprintf("%s held back from %s: %s; see: ralph config --env", count(len(names), "variable"), s.agent.Spec.Name, environ.Summarize(names)))
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
	rows := cfg.EnvFilter().List(s, a.envRequest(cfg))
	others := 0
	if !cfg.Verbose {
		all := len(rows)
		rows = slices.DeleteFunc(rows, func(r environ.Row) bool { return r.Why == "" })
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
