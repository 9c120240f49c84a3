package cli

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

// Version is what a release build sets. A plain build knows its commit from Go, if from anything.
var Version = ""

// newVersionCmd returns version.
func newVersionCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cmdline.NoArgs, Example: "  ralph version",
		RunE: func(*cobra.Command, []string) error {
			f.Say("ralph %s", versionText())
			return nil
		},
	}
}

// versionText returns the version.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case Version != "":
		return Version
	case !ok:
		return "unknown"
	}
	rev := ""
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			rev = fmt.Sprintf(" (%.12s)", s.Value)
		}
	}
	return strings.Trim(info.Main.Version, "()") + rev
}
