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

// runOptions are the flags of ralph run that are no options of the
// configuration: they belong to one call.
type runOptions struct {
	*cmdline.Factory
	options                         map[string]string // value of each flag by the option's key
	monitor, live, headless, dryRun bool
	output                          string
	agentOutput                     string
	once                            bool
	resumed                         string // id of the run to continue; empty: a new one
	unattended                      bool   // the service manager started it
}

// newRunCmd returns ralph run, ralph once, or ralph itself.
func newRunCmd(f *cmdline.Factory, name string) *cobra.Command {
	o := &runOptions{Factory: f, options: map[string]string{}, once: name == "once"}
	cmd := &cobra.Command{
		Use: name, Args: cmdline.NoArgs, Short: "Run the loop (the default verb)",
		Example: "  ralph run --monitor\n  ralph run --agent codex --max-iterations 20\n  ralph run --dry-run",
		RunE:    func(*cobra.Command, []string) error { return runRun(o) },
	}
	if o.once {
		cmd.Short, cmd.Example = "Make exactly one iteration", "  ralph once\n  ralph once --live"
	}
	cmdline.AddOptions(cmd, f, o.options)
	fs := cmd.Flags()
	fs.BoolVarP(&o.monitor, "monitor", "m", false, "Show runner and monitor side by side in tmux.")
	fs.BoolVarP(&o.live, "live", "l", false, "Print everything that the agent says and its tools answer.")
	fs.BoolVar(&o.headless, "headless", false, "Print plain lines only, as without a terminal.")
	fs.StringVar(&o.output, "output", "text", "Print `text|json`: lines for people, or one event a line.")
	fs.BoolVar(&o.dryRun, "dry-run", false, "Show prompt, command line and plan; call nothing, write nothing.")
	fs.StringVar(&o.agentOutput, "output-format", "json", "Accepted for existing scripts; only `json`.")
	fs.Lookup("output-format").Hidden = true
	for flag, values := range map[string][]string{"output": {"text", "json"}, "output-format": {"json"}} {
		complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
		_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails only for an unknown flag
	}
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
	if err := p.AgreeChecks(o.Factory); err != nil {
		return err
	}
	if o.monitor {
		window := split.Window{Factory: o.Factory, Project: p.Dir, Runner: o.argv(p), Summary: o.summary}
		if handled, err := window.Open(); handled || err != nil {
			return err
		}
	}
	return (&app{o.Factory}).loop(p, o)
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

// argv is the command line of the inner runner: every flag that was given here.
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

// summary repeats the end of a run that another process made.
func (o *runOptions) summary(s state.Status) {
	if s.Status != state.StatusReview {
		s.Review = nil // there is nothing to accept yet
	}
	(&console{out: o.Out}).end(runner.Ending{
		Decision: rules.Decision{
			Status: s.Status, Reason: s.Reason, Rule: s.Rule, Exit: s.ExitCode, ExitReason: s.ExitReason, Next: s.Next, Review: s.Review,
		},
		Iterations: s.LoopCount, Usage: s.Usage, Done: s.Task.Done, Total: s.Task.Total,
	})
}
