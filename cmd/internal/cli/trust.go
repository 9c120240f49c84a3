package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/state"
)

// newTrustCmd returns ralph trust.
func newTrustCmd(f *cmdline.Factory) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "trust", Args: cmdline.NoArgs, Example: "  ralph trust\n  ralph trust --yes    # ask nothing",
		Short: "Allow settings of this project that need your consent",
		Long: "Show what needs your consent in this project, then ask: settings in its files that decide which programs run,\n" +
			"what the agent may do, which secrets it gets or how its work is judged; checks that were detected; a prompt or a\n" +
			"plan outside the project. It makes blanks and invisible characters visible. A setting that changes needs consent again.\n\n" +
			"Use it before a run. ralph doctor only looks, and ralph accept is for what a run has done.",
		RunE: func(*cobra.Command, []string) error { return trustRun(f, yes) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "Agree without being asked.")
	return cmd
}

func trustRun(f *cmdline.Factory, yes bool) error {
	p, loader, err := preflight.Open(f, nil)
	if err != nil {
		return err
	}
	if err := f.RefuseAgent(p.Dir, "agree"); err != nil {
		return err
	}
	// A project without a prompt or a usable plan has none that is outside.
	_, _ = p.FindPrompt(), p.FindPlan()
	all, err := p.Unagreed()
	if err != nil {
		return err
	}
	checks, err := p.UnagreedChecks()
	if err != nil {
		return err
	}
	all = append(all, checks...)
	if len(all) == 0 {
		f.Say("nothing to trust: nothing here needs your consent, or you have agreed already")
		return nil
	}
	// During a run, the agent could approve its own changes.
	if owner, alive := cmdline.OpenState(p.Dir).Owner(); alive {
		return fmt.Errorf("cannot trust files during a run: %w", &state.LockedError{Owner: owner})
	}
	switch {
	case yes:
	case !f.CanAsk():
		return cmdline.UsageError("there is no terminal to ask on; ralph trust --yes agrees to: %s",
			strings.Join(cmdline.Lines(all), "; "))
	default:
		f.ShowClaims(all)
		if !f.Agree("Allow it until it changes?") {
			return &cmdline.ExitError{Code: state.ExitError, Text: "nothing was trusted"}
		}
	}
	if err := f.Record(loader, all); err != nil {
		return err
	}
	f.Say("trusted for this project, until it changes:\n%s", f.Claims(all))
	return nil
}
