package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/runner/agent"
	"ralph/state"
)

// addOptions are the fields of the new agent.
type addOptions struct {
	*cmdline.Factory
	name     string
	fields   map[string]*string // by the key in config.yaml
	env      []string           // NAME=value
	patterns []string           // CLASS=regular expression
}

const placeholders = "{prompt}, {prompt_file}, {model}, {permissions}, {resume}"

// textFields are the fields with one value, in the order of the file.
func textFields() []struct{ key, help string } {
	return []struct{ key, help string }{
		{agent.FieldCommand, "`LINE`: program and arguments; may contain " + placeholders + "."},
		{agent.FieldPrompt,
			"`HOW` it takes the prompt: " + strings.Join(agent.CustomPrompts(), ", ") + " (default stdin)."},
		{agent.FieldFormat, "`FORMAT` that it prints: " + strings.Join(agent.CustomFormats(), ", ") + " (default text)."},
		{agent.FieldOutput, "`WHERE` it prints to: pty, pipe (default pty)."},
		{agent.FieldResume, "`ARGUMENTS` that resume a session; {} is its id."},
		{agent.FieldModel, "`ARGUMENTS` that choose a model; {} is its name."},
		{agent.FieldAllowed, "`ARGUMENTS` of the permission mode allowed-tools; {} is an entry."},
		{agent.FieldBypass, "`ARGUMENTS` of the permission mode bypass."},
		{agent.FieldVersion, "`ARGUMENTS` that print its version, which show that it is installed."},
		{agent.FieldModels, "`ARGUMENTS` that print the names of its models, one per line."},
		{agent.FieldLogin, "`ARGUMENTS` that end with exit code 0 if it is logged in."},
		{agent.FieldAbout, "`LINE` about it, for ralph agent list."},
		{agent.FieldKeys, "`NAMES` of the variables that hold its keys; * matches any text."},
	}
}

func newAddCmd(f *cmdline.Factory) *cobra.Command {
	o := &addOptions{Factory: f, fields: map[string]*string{}}
	cmd := &cobra.Command{
		Use: "add", Short: "Add your own agent to .ralph/config.yaml", Args: cmdline.NoArgs,
		Long: "Add your own agent to .ralph/config.yaml. Without --name and --command it asks on the terminal.",
		Example: "  ralph agent add\n" +
			"  ralph agent add --name mine --command './mine.sh --file {prompt_file}' --prompt file",
		RunE: func(*cobra.Command, []string) error { return addRun(o) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.name, "name", "", "`NAME` of the agent, as AGENT takes it.")
	for _, field := range textFields() {
		o.fields[field.key] = new(string)
		fs.StringVar(o.fields[field.key], strings.ReplaceAll(field.key, "_", "-"), "", field.help)
	}
	fs.StringArrayVar(&o.env, "env", nil, "`NAME=VALUE` for every call; may be repeated.")
	fs.StringArrayVar(&o.patterns, "pattern", nil, "`CLASS=REGEXP` for its error texts; may be repeated.")
	for flag, values := range map[string][]string{
		agent.FieldPrompt: agent.CustomPrompts(), agent.FieldFormat: agent.CustomFormats(), agent.FieldOutput: {"pty", "pipe"},
	} {
		complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
		_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails only for an unknown flag
	}
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
	if o.name == "" || *o.fields[agent.FieldCommand] == "" {
		if !o.CanAsk() {
			return cmdline.UsageError("agent add needs --name and --command: there is no terminal to ask on")
		}
		if err := o.ask(loader); err != nil {
			return err
		}
	}
	spec, err := o.check(loader)
	if err != nil {
		return err
	}
	fields, err := o.row()
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(spec.Bin); err != nil {
		return cmdline.AgentError("%q is not an executable on PATH; nothing was written", spec.Bin)
	}
	if _, err := loader.AddAgent(o.name, fields); err != nil {
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
func (o *addOptions) trustRow(loader config.Loader, before *config.Untrusted) {
	if before != nil {
		o.Warn(fmt.Sprintf("the new agent is not trusted yet, nor is what was there before: %s; "+
			"agree with: ralph trust", strings.Join(before.Lines, "; ")))
		return
	}
	now, err := loader.Untrusted()
	if err == nil && now != nil {
		err = o.Record(loader, []config.Untrusted{*now})
	}
	if err != nil {
		o.Warn(fmt.Sprintf("the new agent is not trusted yet (%v); agree with: ralph trust", err))
	}
}

// row returns the agent's row, key by key.
func (o *addOptions) row() ([]config.AgentField, error) {
	var fields []config.AgentField
	for _, field := range textFields() {
		if value := *o.fields[field.key]; value != "" {
			fields = append(fields, config.AgentField{Key: field.key, Value: value})
		}
	}
	for _, group := range []struct {
		key, form string
		values    []string
	}{{agent.FieldEnv, "NAME=value", o.env}, {agent.FieldPatterns, "CLASS=regexp", o.patterns}} {
		var some []config.AgentField
		for _, v := range group.values {
			name, value, ok := strings.Cut(v, "=")
			if !ok || name == "" {
				return nil, cmdline.UsageError("--%s %q is not %s", strings.TrimSuffix(group.key, "s"), v, group.form)
			}
			some = append(some, config.AgentField{Key: group.key + "." + name, Value: value})
		}
		sort.SliceStable(some, func(i, j int) bool { return some[i].Key < some[j].Key })
		fields = append(fields, some...)
	}
	return fields, nil
}

// none is the answer that leaves a field out.
const none = "-"

// check tries the row as it is now.
func (o *addOptions) check(loader config.Loader) (agent.Spec, error) {
	fields, err := o.row()
	if err != nil {
		return agent.Spec{}, err
	}
	return loader.CheckAgent(o.name, fields)
}

// ask asks for the fields that the flags do not set.
func (o *addOptions) ask(loader config.Loader) error {
	command, prompt, format := o.fields[agent.FieldCommand], o.fields[agent.FieldPrompt], o.fields[agent.FieldFormat]
	// check tries a row of the answers so far, with one field changed.
	check := func(name, line string, more ...config.AgentField) (agent.Spec, error) {
		fields := []config.AgentField{{Key: agent.FieldCommand, Value: line}}
		if len(more) == 0 || more[0].Key != agent.FieldPrompt {
			fields = append(fields, config.AgentField{Key: agent.FieldPrompt, Value: promptFor(line)})
		}
		return loader.CheckAgent(name, append(fields, more...))
	}
	in := bufio.NewReader(o.In)
	for _, q := range []agentQuestion{
		{"Name", &o.name, nil, func(s string) error {
			_, err := check(s, "x")
			return err
		}},
		{"Command (may contain " + placeholders + ")", command, nil, func(s string) error {
			spec, err := check(o.name, s)
			if err == nil {
				_, err = exec.LookPath(spec.Bin)
			}
			return err
		}},
		{"How it takes the prompt (" + strings.Join(agent.CustomPrompts(), ", ") + ")", prompt,
			func() string { return promptFor(*command) }, func(s string) error {
				_, err := check(o.name, *command, config.AgentField{Key: agent.FieldPrompt, Value: s})
				return err
			}},
		{"What it prints (" + strings.Join(agent.CustomFormats(), ", ") + ")", format,
			func() string { return string(agent.FormatText) }, func(s string) error {
				_, err := check(o.name, *command, config.AgentField{Key: agent.FieldFormat, Value: s})
				return err
			}},
		{"Arguments that print its version, which show that it is installed (- for none)",
			o.fields[agent.FieldVersion], nil, nil},
		{"Arguments that print the names of its models (- for none)", o.fields[agent.FieldModels], nil, nil},
		{"Description, one line (- for none)", o.fields[agent.FieldAbout], nil, nil},
	} {
		if err := o.put(in, loader, q); err != nil {
			return err
		}
	}
	return nil
}

// agentQuestion is one question of ask.
type agentQuestion struct {
	text   string
	answer *string
	preset func() string      // nil: what the flag says
	check  func(string) error // nil: no answer is needed
}

// put asks one question until its answer is good.
func (o *addOptions) put(in *bufio.Reader, loader config.Loader, q agentQuestion) error {
	preset, optional := *q.answer, q.check == nil
	switch {
	case preset == "" && optional:
		preset = none
	case preset == "" && q.preset != nil:
		preset = q.preset()
	}
	return o.Ask(in, q.text, preset, func(answer string) error {
		switch {
		case optional && answer == none:
			*q.answer = ""
			return nil
		case answer == "":
			return errors.New("this needs an answer")
		}
		*q.answer = answer
		if optional {
			_, err := o.check(loader)
			return err
		}
		return q.check(answer)
	})
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
