package setupcmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/config"
	"ralph/state"
)

// NewTrustCmd returns ralph trust.
func NewTrustCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "trust", Args: cmdline.NoArgs, Example: "  ralph trust",
		Short: "Allow this project's files to choose programs to run and secrets to pass",
		RunE:  func(*cobra.Command, []string) error { return trustRun(f) },
	}
}

func trustRun(f *cmdline.Factory) error {
	dir, err := f.Project()
	if err != nil {
		return err
	}
	loader := f.Loader(dir, nil)
	u, err := loader.Untrusted()
	if err != nil {
		return err
	}
	if u == nil {
		f.Say("nothing to trust: no project file decides which programs run or which secrets they get, " +
			"or you have agreed already")
		return nil
	}
	// During a run, the agent could approve its own changes.
	if owner, alive := cmdline.OpenState(dir).Owner(); alive {
		return fmt.Errorf("cannot trust files during a run: %w", &state.LockedError{Owner: owner})
	}
	if err := config.Trust(loader.StateHome(), *u); err != nil {
		return err
	}
	f.Say("trusted for this project, until one of them changes:\n  %s", strings.Join(u.Lines, "\n  "))
	return nil
}
