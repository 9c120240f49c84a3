package hub

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/notify"
	"ralph/state"
)

func newNotifyTestCmd() *cobra.Command {
	return &cobra.Command{
		Use: "notify-test", Short: "Send a test message to each address", Args: cmdline.NoArgs, Hidden: true,
		Long: "Send a test message to each address. ralph notify test tells it the addresses, " +
			"as JSON on standard input.",
		Example: "  ralph-hub notify-test < job.json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return notifyTestRun(cmd.Context(), cmd.OutOrStdout()) },
	}
}

func notifyTestRun(ctx context.Context, out io.Writer) error {
	job, _, err := readJob()
	if err != nil {
		return err
	}
	failed := 0
	for i, to := range job.Notify {
		what, ok := try(ctx, to, job)
		if !ok {
			failed++
		}
		scheme, _, _ := strings.Cut(config.Address(to), ":") // all of an address that may be shown
		fmt.Fprintf(out, "%d %s: %s\n", i+1, scheme, what)
	}
	if failed > 0 {
		return &cmdline.ExitError{Code: state.ExitError} // each line says why
	}
	return nil
}

// try sends a test message, and says what came of it.
func try(ctx context.Context, to string, job config.HubJob) (what string, ok bool) {
	m := notify.Test(job.Dir)
	if to != config.Desktop {
		if err := notify.Send(ctx, to, job.TTY, m); err != nil {
			return "failed: " + err.Error(), false
		}
		return "sent", true
	}
	const none = "no notification program works here (tt, terminal-notifier, notify-send)"
	switch via := notify.Desktop(ctx, job.TTY, m); via {
	case "":
		return "failed: " + none + ", and there is no terminal to ring", false
	case notify.Bell:
		return none + "; rang " + via, true
	default:
		return "sent with " + via, true
	}
}
