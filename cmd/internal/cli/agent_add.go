package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/runner/agent"
	"ralph/state"
)

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
		if f.value != "" {
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
	in := bufio.NewReader(o.In)
	err := o.Ask(in, "Name", o.name, func(answer string) error {
		o.name = answer
		_, err := loader.CheckAgent(answer, []config.AgentField{{Key: agent.FieldCommand, Value: "x"}})
		return err
	})
	for i := 0; err == nil && i < len(o.fields); i++ {
		f := &o.fields[i]
		err = o.Ask(in, f.help+" (- for none)", cmp.Or(f.value, none), func(answer string) error {
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
