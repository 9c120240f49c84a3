package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
)

type pruneOptions struct {
	*cmdline.Factory
	keep int
}

func newPruneCmd(f *cmdline.Factory) *cobra.Command {
	o := &pruneOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "prune", Short: "Forget all but the latest runs", Args: cmdline.NoArgs,
		Long: "Forget all but the latest runs of this project: their reports are removed, " +
			"and ralph runs leaves them out.",
		Example: "  ralph runs prune --keep 10",
		RunE:    func(*cobra.Command, []string) error { return pruneRun(o) },
	}
	cmd.Flags().IntVar(&o.keep, "keep", 100, "How many of the latest runs to keep: `N`.")
	return cmd
}

func pruneRun(o *pruneOptions) error {
	r, dir, err := o.Reader()
	if err != nil {
		return err
	}
	if o.keep < 0 {
		return cmdline.UsageError("--keep %d is not allowed: at least 0", o.keep)
	}
	if err := o.RefuseAgent(dir, "forget runs"); err != nil {
		return err
	}
	w, err := o.Lock(r.Dir(), "prune")
	if err != nil {
		return err
	}
	defer w.Release()
	n, err := w.PruneReports(o.keep)
	o.Say("forgot %s", termtext.Count(n, "run"))
	return err
}
