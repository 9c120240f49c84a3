package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

// What a release build sets. A plain build knows its commit from Go, if from anything.
var (
	Version = ""
	Commit  = ""
	Date    = "" // of the commit, RFC 3339
)

// build says what this program was made from.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // empty: unknown
	Date    string `json:"date"`   // of the commit; empty: unknown
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// newVersionCmd returns version.
func newVersionCmd(f *cmdline.Factory) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cmdline.NoArgs,
		Example: "  ralph version\n  ralph version --json",
		RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				f.Say("ralph %s", versionText())
				return nil
			}
			return f.JSON(thisBuild())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false,
		"Print version, commit, date of the commit, Go, system and processor as JSON.")
	return cmd
}

// versionText returns the version.
func versionText() string { return thisBuild().Version }

func thisBuild() build {
	b := build{Version, Commit, Date, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{Main: debug.Module{Version: "unknown"}}
	}
	rev := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
			rev = fmt.Sprintf(" (%.12s)", s.Value)
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		}
	}
	if b.Version == "" {
		b.Version = strings.Trim(info.Main.Version, "()") + rev
	}
	return b
}
