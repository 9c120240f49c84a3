package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/split"
	"ralph/runner"
	"ralph/runner/rules"
	"ralph/state"
)

// runOptions are the flags of ralph run.
type runOptions struct {
	*app
	options                         map[string]string // values of the flags that set an option, by its key
	monitor, live, headless, dryRun bool
	output, agentOutput             string
	once                            bool
	resumed                         string // id of the run to continue; empty: a new one
	unattended                      bool   // the service manager started it
}

// runCommand returns ralph run, ralph once, or ralph itself.
func (a *app) runCommand(name string) *cobra.Command {
	o := &runOptions{app: a, options: map[string]string{}, once: name == "once"}
	cmd := &cobra.Command{
		Use: name, Args: cmdline.NoArgs, Short: "Run the loop (the default command)",
		Example: "  ralph run --monitor\n  ralph run --agent codex --max-iterations 20\n  ralph run --dry-run",
		RunE:    func(*cobra.Command, []string) error { return runRun(o) },
	}
	if o.once {
		cmd.Short, cmd.Example = "Run exactly one iteration", "  ralph once\n  ralph once --live"
	}
	cmdline.AddOptions(cmd, a.Factory, o.options)
	fs := cmd.Flags()
	fs.BoolVarP(&o.monitor, "monitor", "m", false, "Show runner and monitor side by side in tmux.")
	fs.BoolVarP(&o.live, "live", "l", false, "Print everything that the agent and its tools say.")
	fs.BoolVar(&o.headless, "headless", false, "Print plain lines, as without a terminal.")
	fs.StringVar(&o.output, "output", "text", "Print `text|json`: lines for people, or one event per line.")
	fs.BoolVar(&o.dryRun, "dry-run", false, "Show prompt, command line and plan; call nothing, write nothing.")
	fs.StringVar(&o.agentOutput, "output-format", "json", "Accepted for existing scripts; only `json`.")
	fs.Lookup("output-format").Hidden = true
	complete := cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("output", complete) // fails only for an unknown flag
	return cmd
}

func runRun(o *runOptions) error {
	if !slices.Contains([]string{"text", "json"}, o.output) {
		return cmdline.UsageError("--output %q is not allowed: text or json", o.output)
	}
	if o.agentOutput != "" && o.agentOutput != "json" {
		return cmdline.UsageError("--output-format %q is not allowed: ralph always reads the agent's records; "+
			"for ralph's own output see --output", o.agentOutput)
	}
	p, err := preflight.Load(o.Factory, o.options)
	if err != nil {
		return err
	}
	if o.once {
		p.Config.MaxIterations = 1
	}
	if o.dryRun {
		return o.preview(p)
	}
	if err := p.Startable(); err != nil {
		return err
	}
	if o.monitor {
		window := split.Window{Factory: o.Factory, Project: p.Dir, Runner: o.argv(p), Summary: o.summary}
		if handled, err := window.Open(); handled || err != nil {
			return err
		}
	}
	return o.loop(p)
}

// preview shows what a run would do.
func (o *runOptions) preview(p *preflight.Project) error {
	deps := runner.Deps{Dir: p.Dir, Agents: p.Find, Env: p.Env, Prompt: p.Prompt, Plan: p.Plan}
	dry, err := runner.Preview(runOptionsOf(p.Config), deps)
	if err != nil {
		return err
	}
	o.Say("# command line (the prompt goes to its standard input)\n%s\n", cmdline.Quote(dry.Args...))
	if p.Plan != "" {
		o.Say("# plan %s: %d of %d done, next: %s\n", p.Plan, dry.Done, dry.Total, dry.Next)
	}
	o.Say("# prompt\n%s", dry.Prompt)
	return nil
}

// argv is the command line of the inner runner, with every flag that was given.
func (o *runOptions) argv(p *preflight.Project) []string {
	verb := "run"
	if o.once {
		verb = "once"
	}
	argv := append([]string{"-C", p.Dir, verb}, p.Config.Flags()...)
	if o.live {
		argv = append(argv, "--live")
	}
	if o.headless {
		argv = append(argv, "--headless")
	}
	return append(argv, "--output="+o.output)
}

// summary repeats how a run of another process ended.
func (o *runOptions) summary(s state.Status) {
	(&console{out: o.Out}).end(runner.Ending{
		Decision: rules.Decision{
			Status: s.Status, Reason: s.Reason, Rule: s.Rule, Exit: s.ExitCode, ExitReason: s.ExitReason, Next: s.Next,
		},
		Iterations: s.LoopCount, Usage: s.Usage, Done: s.Task.Done, Total: s.Task.Total,
	})
}
