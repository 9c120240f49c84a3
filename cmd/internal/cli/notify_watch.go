package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/state/view"
)

func newNotifyWatchCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Start ralph-hub for the run of this project, as the run itself did", Args: cmdline.NoArgs,
		Long: "Start ralph-hub for the active or latest run of this project. Each run does this itself. You need it only if\n" +
			"ralph-hub was ended, or if you have set NOTIFY, WEBHOOKS or REPLIES since the run started. A ralph-hub that is\n" +
			"already running continues with its own settings. Nothing is sent twice.",
		Example: "  ralph notify watch",
		RunE:    func(*cobra.Command, []string) error { return notifyWatchRun(f) },
	}
}

func notifyWatchRun(f *cmdline.Factory) error {
	p, loader, err := preflight.Open(f, nil)
	if err == nil {
		err = cmp.Or(f.RefuseAgent(p.Dir, "start ralph-hub"), f.Trust(loader))
	}
	if err != nil {
		return err
	}
	run := view.Gather(cmdline.OpenState(p.Dir), time.Now()).Status.RunID
	if run == "" {
		return &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "nothing has run here yet; start with: ralph"}
	}
	job, err := jobOf(f, p.Config, p.Dir, run)
	switch {
	case err != nil:
		return err
	case !job.Wanted():
		return cmdline.UsageError("neither NOTIFY, WEBHOOKS nor REPLIES is set; " +
			"set one in your own configuration or environment")
	}
	if out, err := runHub(f, job, "watch", "--detach"); err != nil {
		return fmt.Errorf("start ralph-hub: %w%s", err, prefixed(out))
	}
	f.Say("ralph-hub follows run %s", run)
	return nil
}
