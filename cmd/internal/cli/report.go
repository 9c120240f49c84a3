package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/state/report"
)

type reportOptions struct {
	*cmdline.Factory
	run            string // empty: the last one
	page           string // file for HTML; empty: none
	markdown, json bool
}

// newReportCmd returns ralph report.
func newReportCmd(f *cmdline.Factory) *cobra.Command {
	o := &reportOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "report [RUN]", Short: "Show the results of a run on one page: proof, findings, time, money, next steps",
		Args: cmdline.Takes("one run at most", cobra.MaximumNArgs(1)),
		Long: "Show the results of a run on one page: what is done and its proof, what was put aside, findings, where time and money\n" +
			"went, and what to type next. At the end of each run, ralph also writes this page to .ralph/reports/.",
		Example: "  ralph report\n  ralph report --html night.html\n  ralph report 20261120-131810-abcd --md",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.run = strings.Join(args, "")
			return reportRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.page, "html", "", "Write the page with the diffs to this `FILE`; - means standard output.")
	cmd.Flags().BoolVar(&o.markdown, "md", false, "Print Markdown.")
	cmd.Flags().BoolVar(&o.json, "json", false, "Print an object.")
	return cmd
}

func reportRun(ctx context.Context, o *reportOptions) error {
	if o.page != "" && (o.markdown || o.json) || o.markdown && o.json {
		return cmdline.UsageError("--html, --md and --json exclude each other")
	}
	r, _, err := o.Reader()
	if err != nil {
		return err
	}
	rep, err := buildReport(ctx, r, o.run, o.Env)
	if err != nil {
		return err
	}
	switch {
	case o.page != "":
		return o.write(rep)
	case o.markdown:
		fmt.Fprint(o.Out, rep.Markdown())
	case o.json:
		return o.JSON(rep)
	default:
		fmt.Fprint(o.Out, rep.Text())
	}
	return nil
}

// write writes the page.
func (o *reportOptions) write(rep *report.Report) error {
	if o.page == "-" {
		_, err := o.Out.Write(rep.HTML())
		return err
	}
	return os.WriteFile(o.page, rep.HTML(), 0o600) // file: the user names it
}
