package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"ralph/logs"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/state"
)

// adviceChecks says how checks are configured.
const adviceChecks = "name them in .ralphrc, as in: TEST_COMMAND=\"make test\""

func (a *app) checkCommand() *cobra.Command {
	values := map[string]string{}
	cmd := &cobra.Command{
		Use: "check", Short: "Run the project's checks alone, once, and print what they say", Args: cobra.NoArgs,
		Long: "Run the project's checks alone, once, and print what they say. Nothing is written to .ralph/.\n\n" +
			"Exit code 0: all required checks pass, or TEST_MODE is report; 1: one fails; 2: there are none.",
		RunE: func(*cobra.Command, []string) error { return a.check(values) },
	}
	addOptions(cmd.Flags(), values)
	return cmd
}

func (a *app) check(flags map[string]string) error {
	dir, err := a.project()
	if err != nil {
		return err
	}
	loader := a.loader(dir, flags)
	cfg, warnings, err := loader.Load()
	if err != nil {
		return err
	}
	for _, w := range warnings {
		a.warn(w)
	}
	if err := a.askTrust(loader); err != nil {
		return err
	}
	rows, detected := a.checks(dir, cfg)
	if len(rows) == 0 {
		return usageError("no checks are configured in %q, and none were detected; %s", dir, adviceChecks)
	}
	sig := handleSignals(a.in)
	defer sig.stop()
	suite := gate.Suite{Checks: rows, Mode: mode(cfg, detected), Place: gate.Place{Dir: dir, Env: cfg.EnvFilter().Checks(a.env), Kill: sig.kill}, Progress: a.progress()}
	rep, err := suite.Run(sig.ctx, gate.Changed{All: true})
	if i := (*rules.Interrupt)(nil); errors.As(err, &i) {
		return &exitError{code: i.Exit, text: i.Why}
	}
	if err != nil {
		return err
	}
	if err := a.printChecks(rep); err != nil {
		return err
	}
	a.printFlakes(dir)
	if rep.Blocked() {
		return &exitError{code: rules.ExitError}
	}
	return nil
}

// progress names the check that is running, on a terminal only.
func (a *app) progress() func(gate.Step) {
	if !isatty.IsTerminal(a.in.Fd()) {
		return nil
	}
	return func(s gate.Step) {
		if s.Result == nil {
			fmt.Fprintf(a.err, "running %s: %s\n", inert(s.Check.Name), inert(s.Check.Reproduce()))
		}
	}
}

func (a *app) printChecks(rep gate.Report) error {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "CHECK\tRESULT\tSECONDS\tFAILURE")
	for _, r := range rep.Results {
		result, line := string(r.Verdict), inert(logs.Redact(r.FirstLine()))
		if r.Verdict == gate.VerdictFailed && !r.Blocks {
			result += " (blocks nothing)"
		}
		if r.Verdict == gate.VerdictSkipped {
			line = inert(r.Reason)
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%s\n", inert(r.Name), result, r.Duration.Seconds(), line)
	}
	return w.Flush()
}

// flakesShown are the flaky tests that are named, those seen last.
const flakesShown = 10

// printFlakes names the tests that failed in one of two runs before.
func (a *app) printFlakes(dir string) {
	all := gate.PeekFlakes(filepath.Join(dir, state.DirName, gate.FlakesFile))
	for i, f := range slices.Backward(all) {
		if i < len(all)-flakesShown || len(f.Runs) == 0 {
			break
		}
		a.say("flaky before: %s of %s, %d times, last %s", inert(f.Test), inert(f.Check), f.Times, f.Runs[len(f.Runs)-1].At.Local().Format("Jan 2 15:04"))
	}
}
