package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// each calls do with the command and all below it, except those that cobra adds.
func each(cmd *cobra.Command, do func(*cobra.Command)) {
	if cmd.Name() == "completion" || cmd.Name() == "help" {
		return
	}
	do(cmd)
	for _, child := range cmd.Commands() {
		each(child, do)
	}
}

// The help of all flags reads alike: sentences, and names of values in capitals or the values themselves.
func TestFlags_helpOfEach_isASentenceWithANameForTheValue(t *testing.T) {
	value := regexp.MustCompile(`^([A-Z][A-Z_:=|]*|[a-z|-]+\|[a-z|-]+|json)$`)
	each(Root(), func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			name, help := pflag.UnquoteUsage(flag)
			first, _, _ := strings.Cut(help, " ")
			begins := unicode.IsUpper([]rune(help)[0]) || slices.Contains([]string{"allowed-tools", "worktree"}, first) // values
			if !begins || !strings.HasSuffix(help, ".") && !strings.Contains(help, ". (default ") {
				t.Errorf("%s --%s: %q is not a sentence", cmd.CommandPath(), flag.Name, help)
			}
			if name != "" && flag.NoOptDefVal != "true" && !flag.Hidden && !value.MatchString(name) {
				t.Errorf("%s --%s takes %q", cmd.CommandPath(), flag.Name, name)
			}
		})
	})
}
