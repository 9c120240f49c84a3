package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
)

type serveOptions struct {
	*cmdline.Factory
	config.Serve
}

// newServeCmd returns ralph serve.
func newServeCmd(f *cmdline.Factory) *cobra.Command {
	o := &serveOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "serve", Short: "Show all of your runs in a browser, until Ctrl-C", Args: cmdline.NoArgs,
		Long: "Show all of your runs in a browser: tasks, live log, cost, checks, findings, questions, transcripts, diffs. This starts\n" +
			"ralph-hub. It is read-only unless you give --actions: then anyone who is logged in can act. docs/dashboard.md says\n" +
			"how to reach it from a phone.",
		Example: "  ralph serve\n  ralph serve --actions\n  ralph serve --link      # another link that logs you in",
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveRun(o, given(cmd)) },
	}
	o.Flags(cmd.Flags())
	return cmd
}

func serveRun(o *serveOptions, flags []string) error {
	if err := o.Check(); err != nil {
		return cmdline.UsageError("%v", err)
	}
	if dir, err := o.Project(); err == nil && (o.Actions || o.Link) {
		if err := o.RefuseAgent(dir, "act as a person"); err != nil {
			return err
		}
	}
	return become(o.Factory, "serve", flags...)
}
