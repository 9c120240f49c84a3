package cmdline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/config"
	"ralph/logs/termtext"
	"ralph/state/option"
)

// optionFlag collects the raw text of one option's flag. The loader reads and
// checks it, as it does for every other source.
type optionFlag struct {
	row      option.Row
	values   map[string]string
	fixed    string      // value of a flag that takes none: "false" of --no-continue
	opposite *optionFlag // nil: none
	given    bool
}

func (f *optionFlag) String() string { return "" }

func (f *optionFlag) Set(text string) error {
	if f.fixed != "" && text == "true" {
		text = f.fixed
	}
	if f.opposite != nil && f.opposite.given {
		return UsageError("--%s and --%s exclude each other", f.row.Flag, f.row.NoFlag)
	}
	f.values[f.row.Key], f.given = text, true
	return nil
}

// Type is what help shows for the value.
func (f *optionFlag) Type() string {
	if f.row.Kind == option.Bool {
		return "bool"
	}
	return f.row.Arg
}

// IsBoolFlag lets pflag accept the flag without a value.
func (f *optionFlag) IsBoolFlag() bool { return f.row.Kind == option.Bool }

// AddOptions adds a flag for every option that has one. Values get the raw text
// by the option's key.
func AddOptions(cmd *cobra.Command, f *Factory, values map[string]string) {
	if f.Verb != "" && f.Verb != cmd.Name() {
		return // it is not called
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	add := func(name, short, help string, value *optionFlag) {
		flag := fs.VarPF(value, name, short, help)
		flag.NoOptDefVal = value.row.Alone
		if value.IsBoolFlag() {
			flag.NoOptDefVal = "true"
		}
	}
	for _, o := range config.Table() {
		if o.Flag == "" {
			continue
		}
		help := o.Help
		if o.Default != "" && o.Kind != option.Bool {
			help += fmt.Sprintf(" (default %s)", Shorten(o.Default))
		}
		value := &optionFlag{row: o, values: values}
		add(o.Flag, o.Short, help, value)
		if o.NoFlag != "" {
			value.opposite = &optionFlag{row: o, values: values, fixed: "false", opposite: value}
			add(o.NoFlag, "", "The opposite of --"+o.Flag+".", value.opposite)
		}
		completeOption(cmd, o)
	}
}

// Join joins a flag whose value is optional and the address after it into one argument: pflag does not take the value
// of such a flag from the next argument.
func Join(args []string) []string {
	for i, arg := range args[:max(len(args)-1, 0)] {
		if next := args[i+1]; arg == "--fleet" && strings.Contains(next, ":") {
			return slices.Concat(args[:i], []string{arg + "=" + next}, args[i+2:])
		}
	}
	return args
}

// AddHiddenOptions adds the option flags to a verb that only reads the
// configuration. They work and complete, but its help does not list them.
func AddHiddenOptions(cmd *cobra.Command, f *Factory, values map[string]string) {
	AddOptions(cmd, f, values)
	cmd.Annotations = map[string]string{hiddenOptions: "yes"}
	cmd.Long = cmp.Or(cmd.Long, cmd.Short+".") + "\n\nIt also accepts the option flags of ralph run."
}

// hiddenOptions marks a verb whose help does not list the option flags.
const hiddenOptions = "hidden-options"

// HideOptions prepares the help of a verb that AddHiddenOptions was called for.
// Flags that are hidden all the time would not complete.
func HideOptions(cmd *cobra.Command) {
	if cmd.Annotations[hiddenOptions] == "" {
		return
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if _, ok := flag.Value.(*optionFlag); ok {
			flag.Hidden = true
		}
	})
}

func completeOption(cmd *cobra.Command, o option.Row) {
	complete := cobra.NoFileCompletions
	switch {
	case o.Kind == option.Path:
		return // the shell completes files
	case o.Kind == option.Enum:
		values := o.Values
		if o.Default != "" && !slices.Contains(values, o.Default) {
			values = append([]string{o.Default}, values...)
		}
		complete = cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	_ = cmd.RegisterFlagCompletionFunc(o.Flag, complete) // fails only for an unknown flag
}

// FlagError names the flag and what is allowed, in one line.
func FlagError(cmd *cobra.Command, err error) error {
	var own *ExitError
	var unknown *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &valueless):
		return UsageError("--%s needs a value%s", valueless.GetFlag().Name, allowed(valueless.GetFlag()))
	case errors.As(err, &invalid):
		kind := map[string]string{"int": "a whole number", "bool": "true or false"}[invalid.GetFlag().Value.Type()]
		return UsageError("--%s: %q is not allowed: %s", invalid.GetFlag().Name, invalid.GetValue(), kind)
	case !errors.As(err, &unknown):
		return UsageError("%v; see: %s --help", err, cmd.CommandPath())
	}
	name := "--" + unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		name = name[1:]
	}
	if ours, ok := ForeignFlags()[name]; ok {
		return UsageError("%s is a flag of another ralph; %s", name, ours)
	}
	return UsageError("unknown flag: %s; %s", name, flagHint(cmd, name))
}

func allowed(flag *pflag.Flag) string {
	if value, ok := flag.Value.(*optionFlag); ok {
		return ": " + value.row.Allowed()
	}
	return ""
}

// flagHint says which flag the user may mean, or where all are listed.
func flagHint(cmd *cobra.Command, name string) string {
	var names []string
	key := strings.ToUpper(strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_"))
	meant := ""
	if slices.Contains(strings.FieldsFunc(cmd.Use, func(r rune) bool { return !unicode.IsLetter(r) }), key) {
		return fmt.Sprintf("write: %s %s", cmd.CommandPath(), key) // it takes that without a flag
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		names = append(names, flag.Name)
		ours, option := flag.Value.(*optionFlag)
		if option && (ours.row.Key == key || slices.Contains(ours.row.Aliases, key)) {
			meant = flag.Name
		}
	})
	if meant != "" { // --max-cost-usd, as the option is called in files
		return "did you mean --" + meant + "?"
	}
	if near := similar(strings.TrimLeft(name, "-"), names); len(near) > 0 && strings.HasPrefix(name, "--") {
		return "did you mean --" + strings.Join(near, " or --") + "?"
	}
	path := cmd.CommandPath()
	if !cmd.HasParent() { // its help lists the verbs
		path += " run"
	}
	return fmt.Sprintf("see: %s --help", path)
}

// similar returns the names nearest to a mistyped one: one or two edits of less than half of the name away, or begun by it.
func similar(typed string, names []string) (near []string) {
	typed, fewest := strings.ToLower(typed), 2
	for _, name := range names {
		d := option.Edits(typed, name)
		if strings.HasPrefix(name, typed) {
			d = 1
		}
		if d > fewest || 2*d >= len(name) {
			continue
		}
		if d < fewest {
			near, fewest = nil, d
		}
		near = append(near, name)
	}
	return near
}

func subcommands(cmd *cobra.Command) string {
	names := termtext.Each(cmd.Commands(), func(sub *cobra.Command) string { return sub.Name() })
	return "needs one of: " + strings.Join(names, ", ")
}

// CompleteValues completes the value of a flag that takes one of these.
func CompleteValues(cmd *cobra.Command, flag string, values []string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails only for an unknown flag
}

// ForeignFlags are flags of other programs called ralph, and what to type here
// instead. Only flags that this ralph lacks.
func ForeignFlags() map[string]string {
	hints := map[string]string{}
	for _, row := range []struct{ flags, ours string }{
		{"-b --backup --rollback", "every iteration is kept: ralph undo takes one back"},
		{"--prd --yaml --tasks --tracker --epic --epics", "name the plan with --plan FILE"},
		{"--tool --backend --claude --codex --opencode --amp", "choose the agent with --agent NAME"},
		{"--prompt-file --prompt-text", "name the file of the prompt with --prompt FILE"},
		{"--once", "make one iteration with: ralph once"},
		{"--iterations", "limit the run with --max-iterations N"},
		{"--max-runtime", "limit the run with --max-duration D"},
		{"--max-calls", "limit the calls of an hour with --calls N"},
		{"--max-retries --retry-delay", "ralph retries transient errors by itself: limit the run with --max-iterations N"},
		{"--completion-promise", "<promise>COMPLETE</promise> is always understood, with nothing to set"},
		{"--min-iterations", "COMPLETION_CLAIMS in .ralphrc says how often the agent must claim to be done"},
		{"--no-commit --auto-commit", "commits follow AUTO_COMMIT in .ralphrc"},
		{"--no-tests --skip-tests --no-lint --skip-lint --fast", "required checks always run: TEST_MODE=report keeps them from blocking"},
		{"--branch-per-task --base-branch --branch --base-ref --target-branch", "ralph works on the branch that is checked out: create it with git first"},
		{"--create-pr --draft-pr", "ralph opens no pull requests: push the branch yourself"},
		{"--allow-all", "allow every tool with --permission-mode bypass"},
		{"--no-tui --tui --theme", "ralph monitor is the screen; a run prints lines"},
		{"--resume", "continue the last run with: ralph resume"},
		{"--init", "set the project up with: ralph init"},
		{"--config --dump-defaults", "show the configuration with: ralph config"},
		{"--review-model --review --external-only --codex-only --tasks-only --external-review-tool --custom-review-script --max-external-iterations --review-patience", "QA and JUDGES in .ralphrc say who reviews"},
		{"--worktree", "use worktrees with --isolate worktree"},
		{"--debug", "see everything with --verbose"},
		{"--no-color", "set NO_COLOR=1"},
		{"--reset", "forget what was done with: ralph reset"},
		{"--watch --host --serve --port", "show runs in a browser with: ralph serve"},
		{"--no-sandbox", "set SANDBOX=off"},
		{"--no-network", "set SANDBOX_NET=none"},
		{"--github-issue --comment-progress --auto-close --close-summary --link-issue --comment-interval --followup-label --create-followups --add-label", "ralph import reads issues; to write one, use a hook (HOOK_ON_COMPLETE)"},
		{"--sandbox-image", "name the image with SANDBOX_IMAGE in .ralphrc"},
		{"--sandbox-network --sandbox-memory --sandbox-cpus --sandbox-template --sandbox-timeout --sandbox-max-cost --sandbox-cost-alert --sandbox-id --sandbox-keep-alive --sync-include --sync-exclude", "SANDBOX=auto confines agents, SANDBOX_NET says what they reach; nothing runs in a cloud"},
		{"--queue-status --process-queue --resume-queue --queue-next --queue-clear --queue-remove --halt-on-failure", "ralph import takes issues into the plan; ralph --plan FILE works on another one"},
	} {
		for _, flag := range strings.Fields(row.flags) {
			hints[flag] = row.ours
		}
	}
	return hints
}

// ForeignVerbs are commands of other programs called ralph, and what to type
// here instead.
func ForeignVerbs() map[string]string {
	return map[string]string{
		"setup": "ralph init", "enable": "ralph init", "enable-ci": "ralph init", "install": "ralph init",
		"migrate": "ralph init", "build": "ralph run", "loop": "ralph run", "start": "ralph run",
		"continue": "ralph resume", "cancel": "ralph abort", "quit": "ralph stop", "kill": "ralph abort",
		"logs": "ralph monitor --plain", "log": "ralph monitor --plain", "watch": "ralph monitor",
		"tui": "ralph monitor", "stats": "ralph report", "metrics": "ralph report", "history": "ralph runs",
		"events": "ralph iterations", "overview": "ralph status", "list": "ralph iterations",
		"rollback": "ralph undo N", "revert": "ralph undo N", "restore": "ralph undo N", "backup": "ralph iterations",
		"convert": "ralph import", "create-prd": "ralph import", "prime": "ralph import", "queue": "ralph import",
		"template": "ralph import --list-templates", "plugins": "ralph agent list", "info": "ralph doctor",
		"clean": "ralph reset --all", "circuit": "ralph --circuit-status",
		"ping": "ralph doctor --live", "agents": "ralph agent list", "validate": "ralph config --check",
	}
}
