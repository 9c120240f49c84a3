package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

func newUninstallCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "uninstall", Short: "Disable the service and remove its file; does not end a run", Args: cmdline.NoArgs,
		Example: "  ralph service uninstall",
		RunE:    func(*cobra.Command, []string) error { return uninstallRun(f) },
	}
}

func uninstallRun(f *cmdline.Factory) error {
	e, err := entry(f)
	// If the folder is gone, its service may still exist.
	if _, gone := os.Lstat(f.Dir); f.Dir != "" && errors.Is(gone, fs.ErrNotExist) {
		var dir string
		if dir, err = filepath.Abs(f.Dir); err == nil {
			e, err = entryOf(dir)
		}
	}
	if err != nil {
		return err
	}
	found, err := serviceInstalled(e)
	if err != nil {
		return err
	}
	if !found {
		f.Say("not installed: there is no %s", e.File)
		return nil
	}
	if err := e.Remove(); err != nil {
		return err
	}
	f.Say("removed %s", e.File)
	return nil
}
