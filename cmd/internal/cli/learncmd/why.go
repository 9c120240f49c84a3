package learncmd

import (
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

func newWhyCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{Use: "why ID", Short: "Show where a lesson comes from",
		Args:              cmdline.Takes("the id of a lesson", cobra.ExactArgs(1)),
		ValidArgsFunction: complete(f), Example: "  ralph learn why 3fa9c1",
		RunE: func(_ *cobra.Command, args []string) error { return whyRun(f, args[0]) }}
}

func whyRun(f *cmdline.Factory, id string) error {
	_, all, err := load(f)
	if err != nil {
		return err
	}
	i, err := find(all, id)
	if err != nil {
		return err
	}
	for line := range strings.Lines(all[i].Describe()) {
		f.Say("%s", cmdline.Inert(strings.TrimRight(line, "\n")))
	}
	return nil
}
