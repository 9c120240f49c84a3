package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ralph/config"
	"ralph/ptyexec"
	"ralph/runner"
	"ralph/runner/agent"
)

// versionBound is what asking all programs for their versions may take.
const versionBound = 20 * time.Second

func (a *app) agentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "List, add and test agents: list, add, test NAME", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return usageError("agent needs one of: list, add, test") },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "Show every agent: its program, its version, and whether it can run", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.agentList(cmd.Context()) },
		},
		a.agentAddCommand(), a.agentTestCommand(),
	)
	return cmd
}

// configured loads the configuration of the project for a verb that is no run.
func (a *app) configured(flags map[string]string) (*setup, config.Loader, error) {
	dir, err := a.project()
	if err != nil {
		return nil, config.Loader{}, err
	}
	loader := a.loader(dir, flags)
	cfg, warnings, err := loader.Load()
	if err != nil {
		return nil, loader, err
	}
	for _, w := range warnings {
		a.warn(w)
	}
	s := &setup{dir: dir, cfg: cfg}
	return s, loader, s.findAgents()
}

// health is what is known of an agent without asking it anything.
type health struct {
	path    string // of the program; empty: not found
	version string // empty: unknown
	why     string // it cannot run; empty: it can
}

func (a *app) agentList(ctx context.Context) error {
	s, loader, err := a.configured(nil)
	if err != nil {
		return err
	}
	untrusted, err := loader.Untrusted()
	if err != nil {
		return err
	}
	specs := append(agent.Specs(), s.cfg.Agents()...)
	found := make([]health, len(specs))
	ctx, cancel := context.WithTimeout(ctx, versionBound)
	defer cancel()
	var wg sync.WaitGroup
	for i, spec := range specs {
		one, err := s.find(spec.Name)
		if err != nil {
			return err
		}
		wg.Go(func() { found[i] = a.probe(ctx, s, one, untrusted != nil) })
	}
	wg.Wait()
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  AGENT\tRUNS\tVERSION\tPROGRAM\tFROM\tWHY NOT")
	for i, spec := range specs {
		h, mark, runs, from := found[i], " ", "yes", "built in"
		if spec.Name == s.cfg.Agent {
			mark = "*"
		}
		if h.why != "" {
			runs = "no"
		}
		if at := s.cfg.AgentSource(spec.Name); at.Kind != "" {
			from = at.Where
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t%s\t%s\n", mark, spec.Name, runs, orDash(h.version), orDash(h.path), from, h.why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	a.say("* is the one that AGENT names; ralph agent test NAME asks one a question")
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// probe finds the program and asks it for its version. What a project file
// names is not started before the user has agreed to it.
func (a *app) probe(ctx context.Context, s *setup, one runner.Agent, untrusted bool) health {
	var h health
	program := one.Program
	if len(program) == 0 {
		program = []string{one.Spec.Bin}
	}
	if program[0] == "" {
		h.why = one.Spec.Install
		return h
	}
	var err error
	if h.path, err = lookProgram(s.dir, program[0]); err != nil {
		h.why = fmt.Sprintf("%q is not an executable on PATH; install it: %s", program[0], one.Spec.Install)
		return h
	}
	if untrusted && s.fromProject(one) {
		h.why = "a project file names it, and you have not agreed to it; agree with: ralph trust"
		return h
	}
	if len(one.Spec.VersionArgs) == 0 {
		return h
	}
	filter := s.cfg.EnvFilter()
	if untrusted && ofProject(s.cfg.Source("ENV_EXCLUDE").Kind) {
		filter.Exclude = nil
	}
	cmd := one.Spec.VersionCommand(agent.Request{Program: one.Program, Dir: s.dir, Env: a.env, Filter: filter})
	cmd.Timeout = versionBound
	var out strings.Builder
	exit, err := ptyexec.Run(ctx, cmd, func(p []byte) bool {
		if out.Len() < 64<<10 {
			out.Write(p)
		}
		return false
	})
	h.version = versionLine(out.String())
	switch {
	case err != nil:
		h.why = err.Error()
	case exit.Cause != ptyexec.CauseExited:
		h.why = fmt.Sprintf("%s did not tell its version within %s", quoteArgs(cmd.Args), versionBound)
	case exit.Code != 0:
		h.why = fmt.Sprintf("%s ended with exit code %d: %s", quoteArgs(cmd.Args), exit.Code, h.version)
	}
	if h.why != "" {
		h.version = ""
	}
	return h
}

// versionLine is the first line with a number: some programs warn first.
func versionLine(text string) string {
	first := ""
	for line := range strings.Lines(inert(text)) {
		line = strings.Join(strings.Fields(line), " ")
		if strings.ContainsAny(line, "0123456789") {
			return shorten(line)
		}
		if first == "" {
			first = line
		}
	}
	return shorten(first)
}

// fromProject tells whether a file of the project decides which program it is.
func (s *setup) fromProject(one runner.Agent) bool {
	kind := s.cfg.AgentSource(one.Spec.Name).Kind
	if len(one.Program) > 0 {
		kind = s.cfg.Source("CLAUDE_CODE_CMD").Kind
	}
	return ofProject(kind)
}

// ofProject tells whether a source is a file of the project.
func ofProject(kind string) bool { return kind == config.SourceProject || kind == config.SourceRC }
