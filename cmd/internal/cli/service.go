package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/service"
)

// newServiceCmd returns the verb with its subcommands.
func newServiceCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "service", Short: "Resume an interrupted run after a reboot",
		Long: "Resume an interrupted run of this project after a reboot, without asking.\n\n" +
			"A run was interrupted if it was killed, or if SIGTERM or SIGHUP ended it. The service does not resume a run that\n" +
			"ended by its own rules, by Ctrl-C, ralph stop or ralph abort, that is paused, or that ralph reset --all forgot.",
		Example: "  ralph service install\n  ralph service status",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newInstallCmd(f), newUninstallCmd(f), newServiceStatusCmd(f))
	return cmd
}

// entry returns the service of the project.
func entry(f *cmdline.Factory) (service.Entry, error) {
	dir, err := f.Project()
	if err != nil {
		return service.Entry{}, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return service.Entry{}, fmt.Errorf("find project: %w", err)
	}
	return entryOf(dir)
}

func entryOf(dir string) (service.Entry, error) {
	e, err := service.For(dir)
	if err != nil {
		return e, cmdline.UsageError("%v", err)
	}
	return e, nil
}

// serviceInstalled is Installed, with a foreign file as a usage error.
func serviceInstalled(e service.Entry) (bool, error) {
	found, err := e.Installed()
	if foreign := (*service.ForeignError)(nil); errors.As(err, &foreign) {
		return found, cmdline.UsageError("%v", err)
	}
	return found, err
}
