package cmdline

// This file lets the shell complete the values of flags.

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CompleteFlags lets the shell complete names of files for the flags of a verb whose help calls the value FILE, PATH or DIR. A
// completion that the verb has set itself stays.
func CompleteFlags(verb *cobra.Command) {
	verb.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		directive := cobra.ShellCompDirectiveDefault
		switch name, _ := pflag.UnquoteUsage(flag); name {
		case "DIR":
			directive = cobra.ShellCompDirectiveFilterDirs
		case "FILE", "PATH":
		default:
			return
		}
		// It fails if the verb did it.
		_ = verb.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(nil, directive))
	})
}

// CompleteValues completes the value of a flag that takes one of these.
func CompleteValues(cmd *cobra.Command, flag string, values []string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails only for an unknown flag
}
