package cli

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git/replica"
	"ralph/runner/receipt"
	"ralph/runner/sandbox"
	"ralph/state"
)

// newVerifyCmd returns ralph verify.
func newVerifyCmd(f *cmdline.Factory) *cobra.Command {
	var rerun bool
	cmd := &cobra.Command{
		Use: "verify [COMMIT|RANGE]", Short: "Check the receipts of commits that ralph made",
		Args: cmdline.Takes("at most one commit or range", cobra.MaximumNArgs(1)),
		Long: "Check that each commit has a receipt that is signed by somebody who may, that the receipts follow each other without\n" +
			"a gap, and that they meet " + receipt.PolicyFile + " as it is in the base: A in A..B, the parent of a single COMMIT. Without\n" +
			"an argument, check HEAD. It needs the notes: git fetch origin " + receipt.Ref + ":" + receipt.Ref + "\n\n" +
			"Exit code 0: all of it holds; 1: it does not, with a line for each failure; 2: the policy or the range cannot be used.",
		Example: "  ralph verify origin/main..HEAD\n  ralph verify origin/main..HEAD --rerun    # run the policy's checks on both ends, too",
		RunE: func(_ *cobra.Command, args []string) error {
			return verifyRun(f, append(args, "HEAD")[0], rerun)
		},
	}
	cmd.Flags().BoolVar(&rerun, "rerun", false, "Run the checks of the policy on copies of both ends, in a sandbox.")
	return cmd
}

func verifyRun(f *cmdline.Factory, text string, rerun bool) error {
	dir, err := f.Project()
	if err != nil {
		return err
	}
	for _, name := range []string{"GIT_NO_REPLACE_OBJECTS", "GIT_GRAFT_FILE"} { // git shows no other object than the one that is asked for
		_ = os.Setenv(name, os.DevNull+"/none")
	}
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	span, err := receipt.Resolve(sig.Ctx, dir, text)
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	policy, err := span.Policy(sig.Ctx)
	if err != nil {
		return cmdline.UsageError("%s of %.7s: %v", receipt.PolicyFile, span.Base, err)
	}
	rows, whole, err := span.Check(sig.Ctx, policy)
	if err != nil {
		return err
	}
	failed := append(printReceipts(f, rows), whole...)
	if rerun {
		again, err := rerunChecks(f, sig, dir, span, policy.Checks, rows)
		if err != nil {
			return err
		}
		failed = append(failed, again...)
	}
	for _, line := range failed {
		f.Say("%s", cmdline.Inert(line))
	}
	what := fmt.Sprintf("%s after %.7s, which has %s", termtext.Counted(len(rows), "commit", "commits"), span.Start, policy.File)
	if len(failed) > 0 {
		return &cmdline.ExitError{Code: state.ExitError, Text: "not proven: " + what + "; " + termtext.Counted(len(failed), "failure", "failures")}
	}
	f.Say("proven: %s", what)
	return nil
}

// printReceipts prints a line for each commit, and returns what fails.
func printReceipts(f *cmdline.Factory, rows []receipt.Row) (failed []string) {
	table := [][]string{{"COMMIT", "RECEIPT", "AGENT", "SANDBOX", "SIGNED BY", "SUBJECT"}}
	for _, r := range rows {
		says := "holds"
		if len(r.Failures) > 0 {
			says = "FAILS"
		} else if r.In != "" {
			says = "in " + r.In[:7]
		}
		failed = append(failed, r.Failures...)
		table = append(table, []string{r.OID[:7], says, cmdline.Inert(r.Agent), cmdline.Inert(r.Policy.Sandbox.Sandbox),
			cmdline.Inert(r.Signer), cmdline.Inert(r.Subject)})
	}
	if len(rows) > 0 {
		f.Table(table, "SANDBOX", "AGENT")
	}
	return failed
}

// rerunChecks runs the checks of the policy on copies of both ends and returns what does not fit.
func rerunChecks(f *cmdline.Factory, sig *cmdline.Signals, dir string, span receipt.Range, checks []gate.Check,
	rows []receipt.Row) (failed []string, err error) {
	if len(checks) == 0 {
		return []string{"there is nothing to run again: the policy has no checks"}, nil
	}
	p, err := preflight.Trusted(f, nil)
	if err != nil {
		return nil, err
	}
	if !p.Config.On() { // what runs is somebody else's
		p.Config.Sandbox = sandbox.Auto
	}
	box, stop, err := p.Contain(sig.Ctx, f)
	if err != nil {
		return nil, err
	}
	defer stop()
	suite := gate.Suite{Checks: checks, Mode: gate.ModeGate, Progress: progress(f), Baseline: &gate.Baseline{}}
	base, now := suite.Baseline, gate.Report{}
	for i, commit := range []string{span.Start, span.Head} {
		copied, made := replica.Make(sig.Ctx, replica.Home(f.Env), dir, commit)
		if made != nil {
			return nil, made
		}
		defer copied.Close()
		contained, unfit := box(copied.Dir)
		contained.Write = append(contained.Write, copied.Borrowed...)
		suite.Place = gate.Place{Dir: copied.Dir, Env: slices.Concat(p.Config.EnvFilter().Checks(f.Env), copied.Env()), Kill: sig.Kill, Box: contained}
		switch {
		case unfit != nil:
			return nil, unfit
		case i == 0:
			_, err = suite.TakeBaseline(sig.Ctx, "verify")
			base = suite.Baseline.Clone()
		case err == nil:
			now, err = suite.Run(sig.Ctx, gate.Changed{All: true})
		}
	}
	if err != nil {
		return nil, interrupted(err)
	}
	said := map[string]int{} // tests of each check, by the last receipt that names it
	for _, r := range rows {
		for _, ran := range r.Results.Checks {
			said[ran.Name] = ran.Tests
		}
	}
	for _, r := range now.Results {
		ran := r.Tests.Tally().Ran
		f.Say("check %s: %d tests at %.7s, %d at %.7s", cmdline.Inert(r.Name), base.Tests(r.Name).Ran, span.Start, ran, span.Head)
		if !r.Passed {
			failed = append(failed, fmt.Sprintf("check %s does not pass at %.7s: %s", r.Name, span.Head, logs.Redact(r.FirstLine())))
		}
		if ran < said[r.Name] {
			failed = append(failed, fmt.Sprintf("check %s runs %d tests; its last receipt says %d", r.Name, ran, said[r.Name]))
		}
	}
	return append(failed, termtext.Each(now.Losses(base.Tests), report.Loss.String)...), nil
}
