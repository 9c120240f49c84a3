package learncmd

import (
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/runner/memory"
)

func newListCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List all lessons", Args: cmdline.NoArgs, Example: "  ralph learn list",
		RunE: func(*cobra.Command, []string) error { return listRun(f) }}
}

func listRun(f *cmdline.Factory) error {
	_, all, err := load(f)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		f.Say("nothing was learned yet")
	}
	for _, l := range memory.ByWeight(all, time.Now()) {
		extra := string(l.Kind)
		if l.Uses > 0 {
			extra += ", used " + termtext.Count(l.Uses, "time")
		}
		if l.In != "" {
			extra += ", in " + l.In
		}
		f.Say("%s  %s (%s)", l.ID, cmdline.Inert(l.Text), cmdline.Inert(extra))
	}
	return nil
}
