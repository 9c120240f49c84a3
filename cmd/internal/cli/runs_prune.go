package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
)

func newPruneCmd(f *cmdline.Factory) *cobra.Command {
	keep := 0
	cmd := &cobra.Command{
		Use: "prune", Short: "Forget all but the latest runs", Args: cmdline.NoArgs,
		Long: "Forget all but the latest runs of this project: their reports are removed, " +
			"and ralph runs leaves them out.",
		Example: "  ralph runs prune --keep 10",
		RunE:    func(*cobra.Command, []string) error { return pruneRun(f, keep) },
	}
	cmd.Flags().IntVar(&keep, "keep", 100, "How many of the latest runs to keep: `N`.")
	return cmd
}

func pruneRun(f *cmdline.Factory, keep int) error {
	r, dir, err := f.Reader()
	if err != nil {
		return err
	}
	if keep < 0 {
		return cmdline.UsageError("--keep %d is not allowed: at least 0", keep)
	}
	if err := f.RefuseAgent(dir, "forget runs"); err != nil {
		return err
	}
	w, err := f.Lock(r.Dir(), "prune")
	if err != nil {
		return err
	}
	defer w.Release()
	n, err := w.PruneReports(keep)
	f.Say("forgot %s", termtext.Count(n, "run"))
	return err
}
