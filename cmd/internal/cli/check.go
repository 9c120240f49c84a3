package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/state"
)

type checkOptions struct {
	*cmdline.Factory
	flags map[string]string
}

// newCheckCmd returns ralph check.
func newCheckCmd(f *cmdline.Factory) *cobra.Command {
	o := &checkOptions{Factory: f, flags: map[string]string{}}
	cmd := &cobra.Command{
		Use: "check", Short: "Run the project's checks once and show the results", Args: cmdline.NoArgs,
		Long: "Run the project's checks once, in the sandbox if SANDBOX names one, and show the results. It writes nothing\n" +
			"to .ralph/.\n\n" +
			"Exit code 0: all required checks pass, or TEST_MODE is report; 1: one fails; 2: there are none.",
		Example: "  ralph check",
		RunE:    func(*cobra.Command, []string) error { return checkRun(o) },
	}
	cmdline.AddHiddenOptions(cmd, f, o.flags)
	return cmd
}

func checkRun(o *checkOptions) error {
	p, loader, err := preflight.Open(o.Factory, o.flags)
	if err != nil {
		return err
	}
	if err := o.Trust(loader); err != nil {
		return err
	}
	if err := p.AgreeChecks(o.Factory); err != nil {
		return err
	}
	rows, _ := p.Checks()
	if len(rows) == 0 {
		return cmdline.UsageError("no checks are configured in %q, "+
			"and none were detected that you have agreed to run; %s", p.Dir, preflight.AdviceChecks)
	}
	sig := cmdline.HandleSignals(o.In)
	defer sig.Stop()
	_ = p.FindPlan() // one that cannot be used matters to no check
	box, stop, err := p.Contain(sig.Ctx, o.Factory)
	if err != nil {
		return err
	}
	defer stop()
	contained, err := box(p.Dir)
	if err != nil {
		return err
	}
	place := gate.Place{Dir: p.Dir, Env: p.Config.EnvFilter().Checks(o.Env), Kill: sig.Kill, Box: contained}
	suite := gate.Suite{Checks: rows, Mode: gate.Mode(p.Config.TestMode), Place: place, Progress: o.progress()}
	rep, err := suite.Run(sig.Ctx, gate.Changed{All: true})
	if i := (*rules.Interrupt)(nil); errors.As(err, &i) {
		return &cmdline.ExitError{Code: i.Exit, Text: i.Why}
	}
	if err != nil {
		return err
	}
	if err := printChecks(o.Factory, rep); err != nil {
		return err
	}
	printTests(o.Factory, rep, gate.PeekBaseline(filepath.Join(p.Dir, state.DirName, gate.BaselineFile)))
	if rep.Blocked() {
		return &cmdline.ExitError{Code: state.ExitError}
	}
	return nil
}

// progress prints the running check if there is a terminal.
func (o *checkOptions) progress() func(gate.Step) {
	if !o.CanAsk() {
		return nil
	}
	return func(s gate.Step) {
		if s.Result == nil {
			fmt.Fprintf(o.Err, "running %s: %s\n", cmdline.Inert(s.Check.Name), cmdline.Inert(s.Check.Reproduce()))
		}
	}
}

func printChecks(f *cmdline.Factory, rep gate.Report) error {
	w := tabwriter.NewWriter(f.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "CHECK\tRESULT\tTESTS\tSECONDS\tFAILURE")
	for _, r := range rep.Results {
		result, line := string(r.Verdict), cmdline.Inert(logs.Redact(r.FirstLine()))
		if r.Verdict == gate.VerdictFailed && !r.Blocks {
			result += " (blocks nothing)"
		}
		if r.Verdict == gate.VerdictSkipped {
			line = cmdline.Inert(r.Reason)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f\t%s\n", cmdline.Inert(r.Name), result, testsOf(r), r.Duration.Seconds(), line)
	}
	return w.Flush()
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
