package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
)

func newServiceStatusCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show whether the service is installed and which run it would resume",
		Args: cmdline.NoArgs,
		Long: "Show whether the service is installed and which run it would resume.\n\n" +
			"Exit code 0: installed; 4: not installed.",
		Example: "  ralph service status",
		RunE:    func(*cobra.Command, []string) error { return serviceStatusRun(f) },
	}
}

func serviceStatusRun(f *cmdline.Factory) error {
	e, err := entry(f)
	if err != nil {
		return err
	}
	for _, dir := range e.Lost() {
		f.Say("lost       the service of %s, which is gone; remove it with: %s", dir,
			cmdline.Quote("ralph", "service", "uninstall", "-C", dir))
	}
	found, err := serviceInstalled(e)
	if err != nil {
		return err
	}
	if !found {
		f.Say("not installed; see: ralph service install --help")
		return &cmdline.ExitError{Code: cmdline.NothingHasRun}
	}
	f.Say("installed  %s", e.File)
	if e.Manager.Enables {
		if err := e.Enabled(); err != nil {
			f.Say("enabled    no (%v)", err)
		} else {
			f.Say("enabled    yes")
		}
	}
	last, err := cmdline.OpenState(e.Dir).Status()
	if err != nil {
		return err
	}
	if why := preflight.Finished(last); why != "" {
		f.Say("resumes    nothing: %s", why)
	} else {
		f.Say("resumes    run %s", last.RunID)
	}
	return nil
}
