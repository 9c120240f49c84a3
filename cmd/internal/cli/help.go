package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
)

// helpColumns is the width of help where there is no terminal.
const helpColumns = 80

// addHelp gives root its help, in layers: first what a first night needs, some verbs and some flags of ralph run; with
// --help-all everything. The shell completes all flags.
func addHelp(root *cobra.Command, f *cmdline.Factory) {
	all, fs := false, root.PersistentFlags()
	fs.BoolP("help", "h", false, "Show the help of a verb.")
	fs.BoolFunc("help-all", "Show the help of a verb with all of its flags.", func(text string) error {
		on, err := strconv.ParseBool(text)
		if err == nil && on {
			all, err = true, fs.Set("help", "true")
		}
		return err
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if cmd != root || root.ValidateArgs(root.Flags().Args()) == nil { // else it is not a verb
			printHelp(cmd, cmp.Or(f.Width(), helpColumns), all)
		}
	})
}

// printHelp prints the help of a verb, as wide as the terminal.
func printHelp(cmd *cobra.Command, width int, all bool) {
	w, root := cmd.OutOrStdout(), cmd.Root()
	cmdline.HideOptions(cmd)
	more := ""
	switch {
	case cmd == root && all:
		more = "Help of a verb: ralph VERB --help. All flags of a run: ralph run --help-all"
	case cmd == root:
		more = "All verbs: ralph help all. All flags of a run: ralph run --help-all"
	case !all && (cmd.Name() == "run" || cmd.Name() == "once"):
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			flag.Hidden = flag.Hidden || !slices.Contains(firstFlags(), flag.Name)
		})
		more = "All flags: " + cmd.CommandPath() + " --help-all"
	}
	section := func(title, text string) {
		if text = strings.TrimRight(text, " \n"); text != "" {
			fmt.Fprintf(w, "\n%s\n%s\n", title, text)
		}
	}
	fmt.Fprintln(w, paragraphs(cmp.Or(cmd.Long, cmd.Short+"."), width))
	usage := "  " + cmd.UseLine()
	if cmd.HasSubCommands() {
		usage += "\n  " + cmd.CommandPath() + " VERB"
	}
	section("Usage:", usage)
	if len(cmd.Aliases) > 0 {
		section("Aliases:", "  "+cmd.NameAndAliases())
	}
	switch {
	case cmd == root && !all:
		var first []*cobra.Command
		for _, name := range firstVerbs() {
			if verb, _, err := root.Find([]string{name}); err == nil {
				first = append(first, verb)
			}
		}
		section("Verbs of a first night:", verbLines(first, width))
	case cmd == root:
		for _, group := range root.Groups() {
			section(group.Title, verbLines(slices.DeleteFunc(slices.Clone(root.Commands()),
				func(verb *cobra.Command) bool { return verb.GroupID != group.ID }), width))
		}
	default:
		section("Verbs:", verbLines(cmd.Commands(), width))
	}
	section("Examples:", cmd.Example)
	if cmd == root {
		hideRunFlags(root)
	}
	section("Flags:", cmd.LocalFlags().FlagUsagesWrapped(width))
	section("Flags of all verbs:", cmd.InheritedFlags().FlagUsagesWrapped(width))
	if more != "" {
		fmt.Fprintf(w, "\n%s\n", more)
	}
}

// paragraphs wraps a text. Paragraphs with indented lines stay as they are.
func paragraphs(text string, width int) string {
	all := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range all {
		if !strings.Contains(p, "\n ") {
			all[i] = strings.Join(termtext.Wrap(termtext.Unwrap(p), width), "\n")
		}
	}
	return strings.Join(all, "\n\n")
}

// verbLines has a line for each verb.
func verbLines(verbs []*cobra.Command, width int) string {
	var b strings.Builder
	for _, verb := range verbs {
		name := verb.Name()
		for _, row := range termtext.Wrap(verb.Short, max(width-14, 20)) {
			fmt.Fprintf(&b, "  %-11s %s\n", name, row)
			name = ""
		}
	}
	return b.String()
}

// firstFlags are the flags in the help of ralph run and ralph once; --help-all shows the others, too.
func firstFlags() []string {
	return []string{"monitor", "max-iterations", "max-cost", "until", "agent", "model", "plan", "task", "parallel", "qa", "sandbox", "dry-run"}
}

// hideRunFlags leaves the flags of ralph run out of the help of ralph.
func hideRunFlags(root *cobra.Command) {
	root.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = flag.Name != "help" && flag.Name != "version"
	})
}

// newHelpCmd returns ralph help. Unlike cobra's, it fails for what is not a verb.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [VERB|all]", Short: "Show the help of a verb, or all verbs", PersistentPreRun: func(*cobra.Command, []string) {},
		RunE: func(_ *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"all"}) {
				return errors.Join(root.PersistentFlags().Set("help-all", "true"), root.Help())
			}
			cmd, rest, err := root.Find(args)
			switch {
			case err != nil:
				return err
			case len(rest) == 0:
				return cmd.Help()
			case cmd != root && cmd.HasSubCommands():
				return cmdline.Parent(cmd, rest)
			}
			return cmd.ValidateArgs(rest)
		},
	}
}
