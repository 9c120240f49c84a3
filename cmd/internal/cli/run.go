package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/console"
	"ralph/cmd/internal/preflight"
	"ralph/runner"
	"ralph/runner/gate"
	"ralph/runner/ledger"
	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/state"
	"ralph/state/view"
)

// runOptions are the flags of ralph run that are not options of the
// configuration: they belong to one call.
type runOptions struct {
	*cmdline.Factory
	options                         map[string]string // value of each flag by the option's key
	monitor, live, headless, dryRun bool
	withoutTasks                    bool // the user knows that there are none
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
		Use: name + " [N]", Args: atMostIterations(o), Short: "Run the loop (the default verb)",
		Long: "Run the loop. N is the same as --max-iterations N.\n\n" + ownAgent,
		Example: "  ralph run --monitor\n  ralph run 50\n  ralph run --agent codex --max-iterations 20\n" +
			"  ralph run --dry-run",
		RunE: func(*cobra.Command, []string) error {
			if o.IsTerminal() && o.output == "text" && o.nothingHere() {
				fmt.Fprint(o.Out, "ralph demo    # watch a run in a temporary project\n"+
					"ralph init    # set up this folder: prompt, plan, settings\n"+
					"ralph         # then run; ralph --help has more\n")
				return &cmdline.ExitError{Code: state.ExitUsage}
			}
			return runRun(o)
		},
	}
	if o.once {
		cmd.Use, cmd.Args, cmd.Short = name, cmdline.NoArgs, "Make exactly one iteration"
		cmd.Long = cmd.Short + ", as ralph 1 does: to try out a prompt or a setting. For more, use ralph run."
		cmd.Example = "  ralph once\n  ralph once --live"
	}
	cmdline.AddOptions(cmd, f, o.options)
	fs := cmd.Flags()
	fs.BoolVarP(&o.monitor, "monitor", "m", false,
		"Show the monitor in tmux: next to the runner, or above it if there are fewer than 100 columns.")
	fs.BoolVarP(&o.live, "live", "l", false, "Print everything that the agent says and its tools answer.")
	fs.BoolVar(&o.headless, "headless", false, "Print plain lines only, as without a terminal.")
	fs.StringVar(&o.output, "output", "text", "Print `text|json`: lines for people, or one event a line.")
	fs.BoolVar(&o.dryRun, "dry-run", false,
		"Show the prompt, the command line and the plan; call nothing and write nothing.")
	fs.BoolVar(&o.withoutTasks, "without-tasks", false, "Run without asking even if the plan has no tasks or is gone.")
	fs.StringVar(&o.agentOutput, "output-format", "json", "Accepted for existing scripts; only `json`.")
	fs.Lookup("output-format").Hidden = true
	cmdline.CompleteValues(cmd, "output", []string{"text", "json"})
	return cmd
}

const ownAgent = "Another agent: AGENT=text AGENT_CMD='my-agent --yes' ralph. It reads the prompt\n" +
	"from standard input and prints text. ralph agent add describes one that can do\nmore."

const maxIterations = "MAX_ITERATIONS"

// atMostIterations accepts the number of iterations as an argument, as existing tools do.
func atMostIterations(o *runOptions) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		n, err := strconv.Atoi(args[0])
		switch flag, given := o.options[maxIterations]; {
		case err != nil:
			return unknownVerb(cmd, args)
		case len(args) > 1:
			return cmdline.UsageError("give %s only one number of iterations, not also %q", cmd.CommandPath(), args[1])
		case n < 1:
			return cmdline.UsageError("the number of iterations %q must be at least 1; leave it out for no limit",
				args[0])
		case given && flag != args[0]:
			return cmdline.UsageError("%s and --max-iterations %s exclude each other", args[0], flag)
		}
		o.options[maxIterations] = args[0]
		return nil
	}
}

func runRun(o *runOptions) error {
	if !slices.Contains([]string{"text", "json"}, o.output) {
		return cmdline.UsageError("--output %q is not allowed: text or json", o.output)
	}
	if o.agentOutput != "" && o.agentOutput != "json" {
		return cmdline.UsageError("--output-format %q is not allowed: ralph always reads the agent's records; "+
			"for ralph's own output see --output", o.agentOutput)
	}
	o.Shows = o.dryRun
	p, err := preflight.Load(o.Factory, o.options)
	if err != nil {
		return err
	}
	if o.once {
		p.Config.MaxIterations = 1
	}
	if _, err := p.Config.InTouch(); err != nil {
		return err
	}
	if o.dryRun {
		return o.preview(p)
	}
	if err := o.agreeNoTasks(p); err != nil {
		return err
	}
	if err := p.Startable(); err != nil {
		return err
	}
	if other := p.OtherBranch(); other != "" {
		o.Warn(other)
	}
	if err := p.AgreeChecks(o.Factory); err != nil {
		return err
	}
	missing, sure := p.MissingPrograms()
	if sure {
		return cmdline.UsageErrors(missing)
	}
	for _, line := range missing {
		o.Warn(line)
	}
	if o.monitor {
		window := console.Split{Factory: o.Factory, Project: p.Dir, Runner: o.argv(p), Summary: o.summary}
		if handled, err := window.Open(); handled || err != nil {
			return err
		}
	}
	return o.loop(p)
}

// nothingHere reports whether nobody has set up this folder, nor named a prompt elsewhere.
func (o *runOptions) nothingHere() bool {
	dir, err := o.Project()
	if err != nil {
		return false
	}
	for _, name := range []string{state.DirName, ".ralphrc"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return false
		}
	}
	cfg, _, err := o.Loader(dir, o.options).Load()
	if err != nil || cfg.PromptFile != "" {
		return false
	}
	_, err = prompt.Find(dir, "")
	return err != nil
}

// agreeNoTasks asks before money is spent: a user with a plan expects ralph to work through
// it.
func (o *runOptions) agreeNoTasks(p *preflight.Project) error {
	why := p.NoTasks()
	if why == "" || o.withoutTasks || o.resumed != "" {
		return nil
	}
	if !o.CanAsk() {
		return cmdline.UsageError("%s; add one, or run without any: ralph --without-tasks", why)
	}
	o.Warn(why)
	if !o.Agree("Without tasks, only the agent's word ends the run. Run anyway?") {
		return cmdline.UsageError("nothing was run")
	}
	o.withoutTasks = true
	return nil
}

// preview shows what a run would do.
func (o *runOptions) preview(p *preflight.Project) error {
	var err error
	if p.Contained.Settings, err = p.Config.Settings.Resolve(); err != nil {
		return p.Config.Located(err)
	}
	if err := cmdline.UsageErrors(p.Misnamed(false)); err != nil {
		return err
	}
	if err := p.CallHooks(); err != nil {
		return err
	}
	rows, _ := p.Checks()
	deps := runner.Deps{Project: runner.Project{Dir: p.Dir, Prompt: p.Prompt, Plan: p.Plan},
		Proof: runner.Proof{Checks: rows, Mode: gate.Mode(p.Config.TestMode)}, Agents: p.Find, Env: p.Env, Self: p.Self}
	dry, err := runner.Preview(runOptionsOf(p), deps, ledger.Read(cmdline.OpenState(p.Dir)))
	if err != nil {
		return err
	}
	if o.output == "json" {
		all, err := p.Unagreed()
		if err != nil {
			return err
		}
		dry.Consent = cmdline.Lines(all)
		return cmdline.NewEncoder(o.Out).Encode(dry)
	}
	o.Say("# command line (the prompt goes to its standard input)\n%s\n", cmdline.Quote(dry.Args...))
	if p.Plan != "" {
		o.Say("# plan %s: %d of %d done%s\n", p.Plan, dry.Done, dry.Total, view.Prefix(", next: ", dry.Next))
	}
	if text := p.Reviews(); text != "" {
		o.Say("# %s\n", text)
	}
	o.Say("# prompt\n%s", dry.Prompt)
	return nil
}

// argv is the command line of the inner runner. It has every flag that was given here.
func (o *runOptions) argv(p *preflight.Project) []string {
	verb := "run"
	if o.once {
		verb = "once"
	}
	argv := append([]string{"-C", p.Dir, verb}, p.Config.Flags()...)
	for flag, given := range map[string]bool{"--live": o.live, "--headless": o.headless,
		"--without-tasks": o.withoutTasks} { // it was agreed to in the outer terminal
		if given {
			argv = append(argv, flag)
		}
	}
	return append(argv, "--output="+o.output)
}

// summary repeats the end of a run that another process made.
func (o *runOptions) summary(s state.Status) {
	if s.Status != state.StatusReview {
		s.Review = nil // there is nothing to accept yet
	}
	console.New(o.Factory, "", console.Options{Headless: true}).End(runner.Ending{
		Decision: rules.Decision{
			Status: s.Status, Reason: s.Reason, Rule: s.Rule, Exit: s.ExitCode, ExitReason: s.ExitReason, Next: s.Next,
			Review: s.Review, Unproven: s.Unproven,
		},
		Iterations: s.LoopCount, Usage: s.Usage, Done: s.Task.Done, Total: s.Task.Total,
	})
}
