// Package preflight checks that ralph can run in a project: it resolves the
// configuration, agents, prompt, plan and checks, and can make a test call.
package preflight

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"

	"ralph/cmd/internal/cmdline"
	"ralph/config"
	"ralph/logs/termtext"
	"ralph/runner"
	"ralph/runner/agent"
	"ralph/runner/agent/environ"
	"ralph/runner/git"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state/view"
)

// Project is what a run needs before it takes the lock.
type Project struct {
	Dir          string // absolute
	Env          []string
	Config       *config.Config
	Agent        runner.Agent // as chosen by the options
	Prompt, Plan string       // absolute paths; Plan is empty without a plan
}

// Open loads the configuration of the project. The loader is for Trust.
func Open(f *cmdline.Factory, flags map[string]string) (*Project, config.Loader, error) {
	dir, err := f.Project()
	if err != nil {
		return nil, config.Loader{}, err
	}
	loader := f.Loader(dir, flags)
	cfg, warnings, err := loader.Load()
	for _, w := range warnings {
		f.Warn(w)
	}
	return &Project{Dir: dir, Env: f.Env, Config: cfg}, loader, err
}

// Load resolves everything that a run needs, after the user trusts the project.
func Load(f *cmdline.Factory, flags map[string]string) (*Project, error) {
	p, loader, err := Open(f, flags)
	if err != nil {
		return nil, err
	}
	if err := f.Trust(loader); err != nil {
		return nil, err
	}
	if err := p.FindPrompt(); err != nil {
		return nil, err
	}
	if err := p.FindPlan(); err != nil {
		return nil, err
	}
	if list, err := p.Tasks(); err == nil {
		for _, line := range OddBoxes(list) {
			f.Warn(line)
		}
	}
	return p, p.FindAgents()
}

// FindPrompt sets Prompt.
func (p *Project) FindPrompt() (err error) {
	if p.Prompt, err = runner.FindPrompt(p.Dir, p.Config.PromptFile); err != nil {
		return cmdline.UsageError("%v", err)
	}
	return nil
}

// FindPlan sets Plan.
func (p *Project) FindPlan() (err error) {
	if p.Plan, err = task.Locate(p.Dir, p.Config.PlanFile, p.Config.OptionalSections); err != nil {
		return cmdline.UsageError("%v", err)
	}
	return nil
}

// Tasks reads the plan.
func (p *Project) Tasks() (task.List, error) { return task.Load(p.Plan, p.Config.OptionalSections) }

// OddBoxes describes the lines that look like tasks but are not.
func OddBoxes(list task.List) []string {
	var lines []string
	for _, n := range list.Odd {
		lines = append(lines, fmt.Sprintf("%s:%d looks like a box but is not one; write: - [ ] what to do", list.Path, n))
	}
	return lines
}

// Find returns the agent of this name. CLAUDE_CODE_CMD applies only to the agent that
// the options choose.
func (p *Project) Find(name string) (runner.Agent, error) {
	if name == p.Agent.Spec.Name {
		return p.Agent, nil
	}
	spec, err := p.Config.Spec(name)
	return runner.Agent{Spec: spec}, err
}

// FindAgents sets Agent and checks that the fallback agents exist.
func (p *Project) FindAgents() error {
	spec, err := p.Config.Spec(p.Config.Agent)
	if err != nil {
		return cmdline.UsageError("%s: %v", p.Config.Source("AGENT"), err)
	}
	p.Agent = runner.Agent{Spec: spec}
	if p.Config.AgentCmd != "" {
		words, err := shell.Fields(p.Config.AgentCmd, func(string) string { return "" })
		if err != nil || len(words) == 0 {
			return cmdline.UsageError("%s: %q is not a command line", p.Config.Source("CLAUDE_CODE_CMD"), p.Config.AgentCmd)
		}
		p.Agent.Program = words
	}
	for _, name := range p.Config.FallbackAgents {
		if _, err := p.Find(name); err != nil {
			return cmdline.UsageError("%s: %v", p.Config.Source("FALLBACK_AGENTS"), err)
		}
	}
	return nil
}

// Startable checks the agents' programs and the repository.
func (p *Project) Startable() error {
	for _, name := range append([]string{p.Config.Agent}, p.Config.FallbackAgents...) {
		one, err := p.Find(name)
		if err == nil {
			err = p.Installed(one)
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := git.Inspect(ctx, p.Dir)
	if err != nil {
		return cmdline.UsageError("the repository cannot be used: %v", err)
	}
	if err := git.Fit(c); err != nil {
		return cmdline.UsageError("%v", err)
	}
	return nil
}

// Installed checks that the agent's program exists.
func (p *Project) Installed(one runner.Agent) error {
	if _, err := p.lookPath(one); err != nil {
		return &cmdline.ExitError{Code: rules.ExitAgent,
			Text: fmt.Sprintf("the agent %s cannot run: %s", one.Spec.Name, missing(one))}
	}
	return nil
}

// program is the first word of the agent's command line.
func program(one runner.Agent) string {
	if len(one.Program) > 0 {
		return one.Program[0]
	}
	return one.Spec.Bin
}

func missing(one runner.Agent) string {
	return fmt.Sprintf("%q is not an executable on PATH; install it: %s", program(one), one.Spec.Install)
}

// lookPath finds the agent's program as a run does.
func (p *Project) lookPath(one runner.Agent) (string, error) {
	return exec.LookPath(p.absolute(program(one)))
}

// absolute resolves a program path relative to the project.
func (p *Project) absolute(name string) string {
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		return filepath.Join(p.Dir, name)
	}
	return name
}

// EnvRequest returns the parts of a call that decide its environment.
func (p *Project) EnvRequest() agent.Request {
	return agent.Request{
		Env: p.Env, Model: p.Config.Model, PermissionMode: p.Config.PermissionMode, Root: os.Geteuid() == 0,
	}
}

// HeldBack names the variables that the agent does not get; empty: none.
func (p *Project) HeldBack() string {
	names := p.Config.EnvFilter().Held(p.Agent.Spec, p.EnvRequest())
	if len(names) == 0 {
		return ""
	}
	return termtext.Clean(fmt.Sprintf("%s held back from %s: %s; see: ralph config --env",
		view.Plural(len(names), "variable"), p.Agent.Spec.Name, environ.Summarize(names)))
}

// OnlyHere names the variables that agents read and a service manager does not set.
// Options are not among them: each run records its own.
func (p *Project) OnlyHere() []string {
	var names []string
	env := slices.DeleteFunc(slices.Clone(p.Env), func(pair string) bool { return strings.HasSuffix(pair, "=") })
	for _, name := range append([]string{p.Config.Agent}, p.Config.FallbackAgents...) {
		spec, err := p.Config.Spec(name)
		if err != nil {
			continue // Startable reports it
		}
		for _, row := range p.Config.EnvFilter().List(spec, agent.Request{Env: env, Model: p.Config.Model}) {
			upper := strings.ToUpper(row.Name)
			key := row.Agent == environ.Passes && row.Checks == environ.Held
			setting := row.Agent == environ.Passes && strings.HasPrefix(upper, strings.ToUpper(spec.Name)+"_")
			where := strings.HasSuffix(upper, "_BASE_URL") || strings.HasSuffix(upper, "_PROXY") ||
				row.Name == "XDG_CONFIG_HOME" || row.Name == "XDG_STATE_HOME"
			if key || setting || where {
				names = append(names, row.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
