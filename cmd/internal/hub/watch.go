package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/notify"
	"ralph/logs"
	"ralph/state"
)

const maxJob = 1 << 20 // bytes

// readJob reads what to do. It comes on standard input, as it holds keys.
func readJob() (job config.HubJob, data []byte, err error) {
	if data, err = io.ReadAll(io.LimitReader(os.Stdin, maxJob)); err == nil {
		err = json.Unmarshal(data, &job)
	}
	if err != nil {
		return job, nil, cmdline.UsageError("standard input has no job, as ralph writes it (%v)", err)
	}
	return job, data, nil
}

func newWatchCmd() *cobra.Command {
	detach := false
	cmd := &cobra.Command{
		Use: "watch", Short: "Follow a run and send notifications", Args: cmdline.NoArgs,
		Long: "Follow a run of ralph, and send notifications. It outlives the runner, and exits when everything is\n" +
			"sent. ralph starts it and tells it what to do, as JSON on standard input.",
		Example: "  ralph-hub watch --detach < job.json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return watchRun(cmd.Context(), detach) },
	}
	cmd.Flags().BoolVar(&detach, "detach", false, "Start it in a session of its own, and return.")
	return cmd
}

func watchRun(ctx context.Context, detach bool) error {
	job, data, err := readJob()
	if err != nil {
		return err
	}
	if detach {
		return again(data)
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	file, err := logs.OpenFile(job.Log, 2, 1)
	if err != nil {
		return err
	}
	defer file.Close()
	return (&notify.Watch{HubJob: job, Logger: logs.NewLogger(flushed{file}, false)}).Run(ctx)
}

// again starts the watcher in a session of its own, because it must outlive the runner. It is also
// no descendant of the run, so ralph does not take the verbs that it runs for requests of the agent.
func again(job []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "watch") //nolint:noctx // it outlives this process
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("start the watcher: %w", err)
	}
	if _, err = in.Write(job); err == nil {
		err = in.Close()
	}
	return err
}

// flushed writes each line of the log immediately.
type flushed struct{ *logs.File }

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err == nil {
		err = f.Flush()
	}
	return n, err
}

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
		if err := notify.Send(ctx, to, m); err != nil {
			return "failed: " + err.Error(), false
		}
		return "sent", true
	}
	if via := notify.Desktop(ctx, m); via != "" {
		return "sent with " + via, true
	}
	return "failed: no notification program works here (tt, terminal-notifier, notify-send)", false
}
