package cli

import (
	"fmt"
	"os/exec"

	"mvdan.cc/sh/v3/shell"

	"ralph/runner"
	"ralph/runner/rules"
)

// find looks an agent up by its name. The user's own command line is for the
// agent that the options name.
func (s *setup) find(name string) (runner.Agent, error) {
	if name == s.agent.Spec.Name {
		return s.agent, nil
	}
	spec, err := s.cfg.Spec(name)
	return runner.Agent{Spec: spec}, err
}

// findAgents looks up the agents that the options name.
func (s *setup) findAgents() error {
	spec, err := s.cfg.Spec(s.cfg.Agent)
	if err != nil {
		return usageError("%s: %v", s.cfg.Source("AGENT"), err)
	}
	s.agent = runner.Agent{Spec: spec}
	if s.cfg.AgentCmd != "" {
		words, err := shell.Fields(s.cfg.AgentCmd, func(string) string { return "" })
		if err != nil || len(words) == 0 {
			return usageError("%s: %q is not a command line", s.cfg.Source("CLAUDE_CODE_CMD"), s.cfg.AgentCmd)
		}
		s.agent.Program = words
	}
	for _, name := range s.cfg.FallbackAgents {
		if _, err := s.find(name); err != nil {
			return usageError("%s: %v", s.cfg.Source("FALLBACK_AGENTS"), err)
		}
	}
	return nil
}

// installed checks before the first iteration that the agent is there.
func installed(a runner.Agent) error {
	name := a.Spec.Bin
	if len(a.Program) > 0 {
		name = a.Program[0]
	}
	if _, err := exec.LookPath(name); err != nil {
		return &exitError{rules.ExitAgent, fmt.Sprintf("the agent %s cannot run: %q is not an executable on PATH; install it: %s", a.Spec.Name, name, a.Spec.Install)}
	}
	return nil
}
