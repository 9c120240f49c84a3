package cli

import (
	"bufio"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"ralph/config"
	"ralph/runner/agent"
	"ralph/runner/agent/argv"
	"ralph/runner/agent/custom"
	"ralph/runner/rules"
)

// addFlags are the flags of agent add: the fields of a row.
type addFlags struct {
	name     string
	fields   map[string]*string // by the key in config.yaml
	env      []string           // NAME=value
	patterns []string           // CLASS=regular expression
}

// addKeys are the keys of a row that are one text, in the order in which they are written.
func addKeys() []struct{ key, help string } {
	return []struct{ key, help string }{
		{custom.FieldCommand, "`line`: program and arguments; {prompt}, {prompt_file}, {permissions}, {model}, {resume} stand where these go"},
		{custom.FieldPrompt, "how the prompt goes in: `" + strings.Join(custom.Prompts(), "|") + "` (default stdin)"},
		{custom.FieldFormat, "what it prints: `" + strings.Join(custom.Formats(), "|") + "` (default text)"},
		{custom.FieldOutput, "where its output goes: `pty|pipe` (default pty)"},
		{custom.FieldResume, "`arguments` that resume a session, {} is its id"},
		{custom.FieldModel, "`arguments` that choose a model, {} is its name"},
		{custom.FieldAllowed, "`arguments` of the permission mode allowed-tools, {} is an entry"},
		{custom.FieldBypass, "`arguments` of the permission mode bypass"},
		{custom.FieldVersion, "`arguments` that print its version"},
		{custom.FieldKeys, "`names` of the variables that hold its keys, with * for any text"},
	}
}

func (a *app) agentAddCommand() *cobra.Command {
	f := &addFlags{fields: map[string]*string{}}
	cmd := &cobra.Command{
		Use: "add", Short: "Add an agent of your own to .ralph/config.yaml, by asking or by flags", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.agentAdd(f) },
	}
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of the agent, as AGENT takes it")
	for _, k := range addKeys() {
		f.fields[k.key] = new(string)
		cmd.Flags().StringVar(f.fields[k.key], strings.ReplaceAll(k.key, "_", "-"), "", k.help)
	}
	cmd.Flags().StringArrayVar(&f.env, "env", nil, "`NAME=value` for every call; may be repeated")
	cmd.Flags().StringArrayVar(&f.patterns, "pattern", nil, "`CLASS=regexp` for its error texts; may be repeated")
	cmd.Flags().SortFlags = false
	return cmd
}

func (a *app) agentAdd(f *addFlags) error {
	dir, err := a.project()
	if err != nil {
		return err
	}
	loader := a.loader(dir, nil)
	before, err := loader.Untrusted()
	if err != nil {
		return err
	}
	if command := f.fields[custom.FieldCommand]; f.name == "" || *command == "" {
		if !isatty.IsTerminal(a.in.Fd()) {
			return usageError("agent add needs --name and --command where there is no terminal to ask on")
		}
		if err := a.askAgent(loader, f); err != nil {
			return err
		}
	}
	fields, err := f.list()
	if err != nil {
		return err
	}
	spec, err := loader.CheckAgent(f.name, fields)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(spec.Bin); err != nil {
		return &exitError{rules.ExitAgent, fmt.Sprintf("%q is not an executable on PATH; nothing was written", spec.Bin)}
	}
	if _, err := loader.AddAgent(f.name, fields); err != nil {
		return err
	}
	a.say("wrote agents.%s to .ralph/config.yaml", f.name)
	a.trustAdded(loader, before)
	a.say("next: ralph agent test %s, then choose it with --agent %s, or AGENT=%s in .ralphrc", f.name, f.name, f.name)
	return nil
}

// trustAdded records that this user agrees to the row just written. What the
// project's files wanted to run before stays to be asked for.
func (a *app) trustAdded(loader config.Loader, before *config.Untrusted) {
	now, err := loader.Untrusted()
	if err == nil && now != nil && before == nil {
		err = config.Trust(loader.StateHome(), *now)
	}
	switch {
	case err != nil:
		fmt.Fprintf(a.err, "ralph: warning: the new agent is not trusted yet (%v); agree with: ralph trust\n", err)
	case before != nil:
		fmt.Fprintf(a.err, "ralph: warning: the new agent is not trusted yet, nor is what was there before: %s; agree with: ralph trust\n", strings.Join(before.Lines, "; "))
	}
}

// list is the row, key by key.
func (f *addFlags) list() ([]config.AgentField, error) {
	var fields []config.AgentField
	for _, k := range addKeys() {
		if value := *f.fields[k.key]; value != "" {
			fields = append(fields, config.AgentField{Key: k.key, Value: value})
		}
	}
	for _, group := range []struct {
		key, form string
		values    []string
	}{{custom.FieldEnv, "NAME=value", f.env}, {custom.FieldPatterns, "CLASS=regexp", f.patterns}} {
		var some []config.AgentField
		for _, v := range group.values {
			name, value, ok := strings.Cut(v, "=")
			if !ok || name == "" {
				return nil, usageError("--%s %q is not %s", strings.TrimSuffix(group.key, "s"), v, group.form)
			}
			some = append(some, config.AgentField{Key: group.key + "." + name, Value: value})
		}
		slices.SortStableFunc(some, func(x, y config.AgentField) int { return strings.Compare(x.Key, y.Key) })
		fields = append(fields, some...)
	}
	return fields, nil
}

// askAgent asks for what the flags have not said. Whoever ends it early has
// written nothing.
func (a *app) askAgent(loader config.Loader, f *addFlags) error {
	in := bufio.NewReader(a.in)
	field := func(key string) *string { return f.fields[key] }
	check := func(name string, fields ...config.AgentField) (agent.Spec, error) {
		return loader.CheckAgent(name, fields)
	}
	command := func(line string) []config.AgentField {
		return []config.AgentField{{Key: custom.FieldCommand, Value: line}, {Key: custom.FieldPrompt, Value: promptOf(line)}}
	}
	questions := []struct {
		text   string
		answer *string
		usual  func() string
		check  func(string) error
	}{
		{"Name", &f.name, nil, func(s string) error {
			_, err := check(s, command("x")...)
			return err
		}},
		{"Command (it may hold {prompt}, {prompt_file}, {model}, {permissions}, {resume})", field(custom.FieldCommand), nil, func(s string) error {
			spec, err := check(f.name, command(s)...)
			if err == nil {
				_, err = exec.LookPath(spec.Bin)
			}
			return err
		}},
		{"The prompt goes in by (" + strings.Join(custom.Prompts(), ", ") + ")", field(custom.FieldPrompt), func() string { return promptOf(*field(custom.FieldCommand)) }, func(s string) error {
			_, err := check(f.name, config.AgentField{Key: custom.FieldCommand, Value: *field(custom.FieldCommand)}, config.AgentField{Key: custom.FieldPrompt, Value: s})
			return err
		}},
		{"It prints (" + strings.Join(custom.Formats(), ", ") + ")", field(custom.FieldFormat), func() string { return string(agent.FormatText) }, func(s string) error {
			_, err := check(f.name, append(command(*field(custom.FieldCommand)), config.AgentField{Key: custom.FieldFormat, Value: s})...)
			return err
		}},
	}
	for _, q := range questions {
		usual := *q.answer
		if usual == "" && q.usual != nil {
			usual = q.usual()
		}
		answer, err := a.askText(in, q.text, usual, q.check)
		if err != nil {
			return err
		}
		*q.answer = answer
	}
	return nil
}

// promptOf is how the prompt goes in, by the placeholders of the command.
func promptOf(command string) string {
	switch {
	case strings.Contains(command, "{prompt_file}"):
		return string(argv.PromptFile)
	case strings.Contains(command, "{prompt}"):
		return string(argv.PromptArg)
	}
	return string(argv.PromptStdin)
}

// askText asks until the answer passes; Enter means the usual one.
func (a *app) askText(in *bufio.Reader, text, usual string, check func(string) error) (string, error) {
	for {
		fmt.Fprintf(a.err, "%s [%s]: ", text, usual)
		line, err := in.ReadString('\n')
		if err != nil {
			fmt.Fprintln(a.err)
			return "", &exitError{rules.ExitInterrupted, "interrupted, nothing was written"}
		}
		if line = strings.TrimSpace(line); line == "" {
			line = usual
		}
		switch err := check(line); {
		case line == "":
			fmt.Fprintln(a.err, "this needs an answer")
		case err != nil:
			fmt.Fprintln(a.err, inert(err.Error()))
		default:
			return line, nil
		}
	}
}
