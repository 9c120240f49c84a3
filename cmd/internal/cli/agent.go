package cli

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/state"
	"ralph/state/act"
)

// open reads the project, and finds its agents.
func open(f *cmdline.Factory, flags map[string]string) (*preflight.Project, config.Loader, error) {
	p, loader, err := preflight.Open(f, flags)
	if err == nil {
		err = p.FindAgents()
	}
	return p, loader, err
}

// newAgentCmd returns the verb with its subcommands.
func newAgentCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "List, choose and add agents",
		Long: "List, choose and add agents. The agent text is any program that reads the prompt from standard input and prints text;\n" +
			"AGENT_CMD names it.",
		Example: "  AGENT=text AGENT_CMD='my-agent --yes' ralph\n  ralph agent list",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newListCmd(f), newUseCmd(f), newAddCmd(f))
	return cmd
}

func newListCmd(f *cmdline.Factory) *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "list", Short: "Show every agent: whether it is installed and logged in, its version, its models",
		Args: cmdline.NoArgs,
		Long: "Show every agent: whether it is installed and logged in, its version, its models. This makes no call.\n\n" +
			"LOGIN is yes; no; key: a variable holds a key, but ralph has not tried it; ?: ralph cannot tell without a call.",
		Example: "  ralph agent list",
	}, forPrograms, func(_ []string, asJSON bool) error { return listRun(f, asJSON) })
}

// listRun finds out about all agents at the same time. It runs nothing of an untrusted project.
func listRun(f *cmdline.Factory, asJSON bool) error {
	p, loader, err := open(f, nil)
	if err != nil {
		return err
	}
	untrusted, err := loader.Untrusted()
	if err != nil {
		return err
	}
	specs := p.Config.AllAgents()
	rows, programs := make([]act.Agent, len(specs)), make([]string, len(specs))
	ctx, cancel := context.WithTimeout(context.Background(), preflight.VersionBound)
	defer cancel()
	var wg sync.WaitGroup
	for i, spec := range specs {
		wg.Go(func() {
			one, _ := p.Find(spec.Name) // every listed one is known
			h := p.Probe(ctx, one, len(untrusted) > 0)
			r := act.Agent{Name: spec.Name, Runs: h.Why == "", Why: h.Why, Chosen: spec.Name == p.Config.Agent,
				Version: h.Version, Models: []string{}}
			if h.Askable && r.Runs {
				r.Login = p.Login(ctx, one)
				for _, m := range p.Models(ctx, one) {
					r.Models = append(r.Models, termtext.Line(m))
				}
			}
			rows[i], programs[i] = r, h.Path
		})
	}
	wg.Wait()
	if asJSON {
		return cmdline.NewEncoder(f.Out).Encode(rows)
	}
	table := [][]string{{"  AGENT", "RUNS", "VERSION", "LOGIN", "MODELS", "PROGRAM", "FROM", "ABOUT"}}
	for i, r := range rows {
		name, runs, about := "  "+r.Name, "yes", specs[i].About
		from := cmp.Or(p.Config.AgentSource(r.Name).Where, "built in")
		if r.Chosen {
			name = "* " + r.Name
		}
		if !r.Runs {
			runs, about = "no", r.Why
		}
		cells := []string{name, runs}
		for _, cell := range []string{r.Version, r.Login, termtext.Some(r.Models, 3), programs[i], from, about} {
			cells = append(cells, cmp.Or(termtext.Line(cell), "-"))
		}
		table = append(table, cells)
	}
	f.Table(table, "FROM", "PROGRAM", "MODELS", "VERSION")
	f.Say("* is used unless you name another one; all models: ralph agent list --json; to try one: ralph doctor --live --agent NAME")
	return nil
}

func newUseCmd(f *cmdline.Factory) *cobra.Command {
	model := ""
	cmd := &cobra.Command{
		Use: "use NAME", Short: "Choose the agent or model for the rest of the run",
		Long: "Choose the agent or model for the rest of the run, from the next turn on. Without --model the agent uses its own\n" +
			"default. An agent or model that the plan names still wins.",
		Args:    cmdline.Takes("one name", cobra.ExactArgs(1)),
		Example: "  ralph agent use codex\n  ralph agent use claude --model opus",
		RunE:    func(_ *cobra.Command, args []string) error { return useRun(f, args[0], model) },
	}
	cmd.Flags().StringVar(&model, "model", "", "`MODEL` to ask for (default: the agent's own).")
	return cmd
}

func useRun(f *cmdline.Factory, name, model string) error {
	p, loader, err := open(f, nil)
	if err != nil {
		return err
	}
	one, err := p.Find(name)
	switch {
	case err != nil:
		return cmdline.UsageError("%v", err)
	case model != "" && !one.Spec.TakesModel(model):
		return preflight.NoModel(one.Spec, model)
	}
	if err := f.Trust(loader); err != nil {
		return err
	}
	if err := p.Installed(one); err != nil {
		return err
	}
	r := cmdline.OpenState(p.Dir)
	owner, alive := r.Owner()
	if !alive {
		return cmdline.UsageError("no ralph is running in %q; start one with: ralph --agent %s", p.Dir, one.Spec.Name)
	}
	if err := state.Use(r.Dir(), state.AgentUse{Run: owner.RunID, Agent: one.Spec.Name, Model: model}); err != nil {
		return err
	}
	f.Wrote(p.Dir, state.UseFile)
	with := "its own default model"
	if model != "" {
		with = "model " + model
	}
	f.Say("from the next turn of run %s on: %s with %s", owner.RunID, one.Spec.Name, with)
	if p.FindRunPlan() == nil && !p.NeedsOption() {
		f.Warn("the plan names the agent of every open task; that still counts")
	}
	return nil
}

// addOptions describe the new agent.
type addOptions struct {
	*cmdline.Factory
	name   string
	fields []addField // the first is the command
}

// addField is a field that agent add asks for, and its flag. config.yaml takes more.
type addField struct {
	key, help string
	value     string // at first what Enter means; empty: the field is left out
}

// none is the answer that leaves a field out.
const none = "-"

func addFields() []addField {
	return []addField{
		{key: agent.FieldCommand, help: "Program and arguments; may contain {prompt}, {prompt_file}, {model}, {permissions}, {resume}"},
		{key: agent.FieldFormat, value: string(agent.FormatText), help: "What it prints: " + strings.Join(agent.CustomFormats(), ", ")},
		{key: agent.FieldVersion, help: "Arguments that print its version, which show that it is installed"},
		{key: agent.FieldModels, help: "Arguments that print the names of its models, one per line"},
	}
}

func newAddCmd(f *cmdline.Factory) *cobra.Command {
	o := &addOptions{Factory: f, fields: addFields()}
	cmd := &cobra.Command{
		Use: "add", Short: "Add your own agent to .ralph/config.yaml", Args: cmdline.NoArgs,
		Long: "Add your own agent to .ralph/config.yaml. Without --name and --command it asks on the terminal. docs/options.md lists\n" +
			"the other fields of an agent.",
		Example: "  ralph agent add\n" +
			"  ralph agent add --name mine --command './mine.sh --file {prompt_file}'",
		RunE: func(*cobra.Command, []string) error { return addRun(o) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.name, "name", "", "`NAME` of the agent, as AGENT takes it.")
	for i, field := range o.fields {
		fs.StringVar(&o.fields[i].value, field.key, field.value, "`TEXT`: "+field.help+".")
	}
	cmdline.CompleteValues(cmd, agent.FieldFormat, agent.CustomFormats())
	return cmd
}

func addRun(o *addOptions) error {
	dir, err := o.Project()
	if err != nil {
		return err
	}
	loader := o.Loader(dir, nil)
	before, err := loader.Untrusted()
	if err != nil {
		return err
	}
	if o.name == "" || o.fields[0].value == "" {
		if !o.CanAsk() {
			return cmdline.UsageError("agent add needs --name and --command: there is no terminal to ask on")
		}
		if err := o.ask(loader); err != nil {
			return err
		}
	}
	if err := o.check(loader); err != nil {
		return err
	}
	if _, err := loader.AddAgent(o.name, o.row()); err != nil {
		return err
	}
	o.Wrote(dir, state.ConfigFile)
	o.Say("wrote agents.%s to .ralph/config.yaml", o.name)
	o.trustRow(loader, before)
	o.Say("next: ralph doctor --live --agent %s, then choose it with --agent %[1]s, or AGENT=%[1]s in .ralphrc", o.name)
	return nil
}

// trustRow records the user's consent to the row just written. It does not if other
// entries of the project's files need consent.
func (o *addOptions) trustRow(loader config.Loader, before []config.Untrusted) {
	if len(before) > 0 {
		o.Warn(fmt.Sprintf("the new agent is not trusted yet, nor is what was there before: %s; "+
			"agree with: ralph trust", strings.Join(cmdline.Lines(before), "; ")))
		return
	}
	now, err := loader.Untrusted()
	if err == nil {
		err = o.Record(loader, now)
	}
	if err != nil {
		o.Warn(fmt.Sprintf("the new agent is not trusted yet (%v); agree with: ralph trust", err))
	}
}

// row returns the fields that have a value. The placeholders of the command say how it takes the prompt.
func (o *addOptions) row() (fields []config.AgentField) {
	for _, f := range o.fields {
		if f.value != "" && f.value != string(agent.FormatText) { // that is what a row without a format means
			fields = append(fields, config.AgentField{Key: f.key, Value: f.value})
		}
		if f.key == agent.FieldCommand {
			fields = append(fields, config.AgentField{Key: agent.FieldPrompt, Value: promptFor(f.value)})
		}
	}
	return fields
}

// check says what keeps the row from being written.
func (o *addOptions) check(loader config.Loader) error {
	spec, err := loader.CheckAgent(o.name, o.row())
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(spec.Bin); err != nil {
		return cmdline.AgentError("%q is not an executable on PATH; nothing was written", spec.Bin)
	}
	return nil
}

// ask asks for the name and each field.
func (o *addOptions) ask(loader config.Loader) error {
	err := o.Ask("Name", o.name, func(answer string) error {
		o.name = answer
		_, err := loader.CheckAgent(answer, []config.AgentField{{Key: agent.FieldCommand, Value: "x"}})
		return err
	})
	for i := 0; err == nil && i < len(o.fields); i++ {
		f := &o.fields[i]
		err = o.Ask(f.help+" (- for none)", cmp.Or(f.value, none), func(answer string) error {
			if f.value = answer; answer == none {
				f.value = ""
			}
			return o.check(loader)
		})
	}
	return err
}

// promptFor derives from the placeholders of the command how it takes the prompt.
func promptFor(command string) string {
	switch {
	case strings.Contains(command, "{prompt_file}"):
		return string(agent.PromptFile)
	case strings.Contains(command, "{prompt}"):
		return string(agent.PromptArg)
	}
	return string(agent.PromptStdin)
}
