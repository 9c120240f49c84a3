package hub

import (
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The help of all flags reads alike, as in ralph.
func TestFlags_helpOfEach_isASentence(t *testing.T) {
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			_, help := pflag.UnquoteUsage(flag)
			if !unicode.IsUpper([]rune(help)[0]) || !strings.HasSuffix(help, ".") {
				t.Errorf("%s --%s: %q", cmd.CommandPath(), flag.Name, help)
			}
		})
		for _, verb := range cmd.Commands() {
			look(verb)
		}
	}
	look(Root())
}
