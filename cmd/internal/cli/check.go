package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/state"
)

// newCheckCmd returns ralph check.
func newCheckCmd(f *cmdline.Factory) *cobra.Command {
	flags := map[string]string{}
	cmd := &cobra.Command{
		Use: "check", Short: "Run the project's checks once and show the results", Args: cmdline.NoArgs,
		Long: "Run the project's checks once, in the sandbox if SANDBOX names one, and show the results. It writes nothing\n" +
			"to .ralph/.\n\n" +
			"Exit code 0: all required checks pass, or TEST_MODE is report; 1: one fails; 2: there are none.",
		Example: "  ralph check",
		RunE:    func(*cobra.Command, []string) error { return checkRun(f, flags) },
	}
	cmdline.AddHiddenOptions(cmd, f, flags)
	return cmd
}

func checkRun(f *cmdline.Factory, flags map[string]string) error {
	p, err := preflight.Trusted(f, flags)
	if err != nil {
		return err
	}
	if err := p.AgreeChecks(f); err != nil {
		return err
	}
	rows, _ := p.Checks()
	if len(rows) == 0 {
		return cmdline.UsageError("no checks are configured in %q, "+
			"and none were detected that you have agreed to run; %s", p.Dir, preflight.AdviceChecks)
	}
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	_ = p.FindPlan() // one that cannot be used matters to no check
	box, stop, err := p.Contain(sig.Ctx, f)
	if err != nil {
		return err
	}
	defer stop()
	contained, err := box(p.Dir)
	if err != nil {
		return err
	}
	place := gate.Place{Dir: p.Dir, Env: p.Config.EnvFilter().Checks(f.Env), Kill: sig.Kill, Box: contained}
	suite := gate.Suite{Checks: rows, Mode: gate.Mode(p.Config.TestMode), Place: place, Progress: progress(f)}
	rep, err := suite.Run(sig.Ctx, gate.Changed{All: true})
	if err != nil {
		return interrupted(err)
	}
	printChecks(f, rep)
	printTests(f, rep, gate.PeekBaseline(filepath.Join(p.Dir, state.DirName, gate.BaselineFile)))
	if rep.Blocked() {
		return &cmdline.ExitError{Code: state.ExitError}
	}
	return nil
}

// interrupted gives an error the exit code of the signal that caused it, if one did.
func interrupted(err error) error {
	if i := (*rules.Interrupt)(nil); errors.As(err, &i) {
		return &cmdline.ExitError{Code: i.Exit, Text: i.Why}
	}
	return err
}

// progress prints the running check if there is a terminal.
func progress(f *cmdline.Factory) func(gate.Step) {
	if !f.CanAsk() {
		return nil
	}
	return func(s gate.Step) {
		if s.Result == nil {
			f.Note("running %s: %s", s.Check.Name, s.Check.Reproduce())
		}
	}
}

func printChecks(f *cmdline.Factory, rep gate.Report) {
	table := [][]string{{"CHECK", "RESULT", "TESTS", "SECONDS", "FAILURE"}}
	for _, r := range rep.Results {
		result, line := string(r.Verdict), logs.Redact(r.FirstLine())
		switch {
		case r.Verdict == gate.VerdictFailed && !r.Blocks:
			result += " (blocks nothing)"
		case r.Verdict == gate.VerdictSkipped:
			line = r.Reason
		}
		table = append(table, []string{cmdline.Inert(r.Name), result, testsOf(r), fmt.Sprintf("%.1f", r.Duration.Seconds()),
			cmdline.Inert(line)})
	}
	f.Table(table)
}

// testsOf is how many tests a check ran; empty: it runs none.
func testsOf(r gate.Result) string {
	switch {
	case r.Verdict == gate.VerdictSkipped: // what its output looks like is no test
	case r.Tests.Skipped > 0:
		return fmt.Sprintf("%d, %d skipped", r.Tests.Passed+r.Tests.Failed, r.Tests.Skipped)
	case r.Tests.Known:
		return fmt.Sprint(r.Tests.Total())
	case r.UnreadOutput() != "":
		return "not known"
	}
	return ""
}

// printTests says of which checks ralph cannot count the tests, and which run fewer
// than at the baseline of the last run.
func printTests(f *cmdline.Factory, rep gate.Report, b *gate.Baseline) {
	for _, r := range rep.Results {
		if line := r.UnreadOutput(); line != "" {
			f.Say("%s", line)
		}
	}
	for _, l := range rep.Losses(b.Tests) {
		f.Say("%s", l)
	}
}
