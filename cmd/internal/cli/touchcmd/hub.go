package touchcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/config"
	"ralph/config/huboptions"
	"ralph/runner/rules"
	"ralph/runner/sandbox"
	"ralph/state/view"
)

// startBound is for ralph-hub to detach itself.
const startBound = 10 * time.Second

// jobOf is what ralph-hub gets to do for a run. The error is one line for people.
func jobOf(f *cmdline.Factory, cfg *config.Config, dir, run string) (huboptions.Job, error) {
	settings, err := cfg.InTouch()
	job := huboptions.Job{Settings: settings, Dir: dir, Run: run}
	if err != nil {
		return job, cmdline.UsageError("%v", err)
	}
	ralph, err := f.Ralph()
	if err != nil {
		return job, err
	}
	job.Ralph = []string{ralph, "-C", dir}
	job.Log = filepath.Join(cmdline.OpenState(dir).LogsDir(), "hub.log")
	if tty, err := os.Readlink("/proc/self/fd/2"); err == nil && strings.HasPrefix(tty, "/dev/") {
		job.TTY = tty
	}
	return job, nil
}

// Check returns what is wrong with the options of being in touch.
func Check(f *cmdline.Factory, cfg *config.Config, dir string) error {
	_, err := jobOf(f, cfg, dir, "")
	return err
}

// Start starts ralph-hub for a run if an option asks for it. It outlives this process. A
// run goes on without it, with a warning. The function that it returns is for the end of the
// run: it starts ralph-hub anew if it was killed.
func Start(f *cmdline.Factory, cfg *config.Config, dir, run string) (again func()) {
	start := func() {
		job, err := jobOf(f, cfg, dir, run)
		var out []byte
		if err == nil && job.Wanted() {
			out, err = runHub(f, job, "watch", "--detach")
		}
		if err != nil {
			f.Warn(fmt.Errorf("no notifications: %w%s", err, prefixed(out)))
		}
	}
	start()
	return func() {
		if huboptions.Unwatched(cmdline.OpenState(dir).HubDir(), run) {
			start()
		}
	}
}

func prefixed(out []byte) string {
	if text := cmdline.OneLine(string(out)); text != "" {
		return ": " + text
	}
	return ""
}

func runHub(f *cmdline.Factory, job huboptions.Job, args ...string) ([]byte, error) {
	hub, err := sandbox.FindHub()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startBound+time.Duration(len(job.Notify))*30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, hub, args...)
	cmd.Stdin, cmd.Env, cmd.Dir = bytes.NewReader(data), f.Env, job.Dir
	return cmd.CombinedOutput()
}

// NewNotifyCmd returns ralph notify.
func NewNotifyCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "notify", Short: "Test the notifications of this project",
		Long:    "Test the notifications that NOTIFY sets up. docs/in-touch.md describes them.",
		Example: "  NOTIFY=ntfy://ntfy.sh/my-topic ralph notify test",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "test", Short: "Send a test message to each address of NOTIFY", Args: cmdline.NoArgs,
		Example: "  ralph notify test",
		RunE:    func(*cobra.Command, []string) error { return testRun(f) },
	}, &cobra.Command{
		Use: "watch", Short: "Start ralph-hub for the run of this project, as the run itself did", Args: cmdline.NoArgs,
		Long: "Start ralph-hub for the active or latest run of this project. Each run does this itself. You need it only if\n" +
			"ralph-hub was ended, or if you have set NOTIFY, WEBHOOKS or REPLIES since the run started. A ralph-hub that is\n" +
			"already running continues with its own settings. Nothing is sent twice.",
		Example: "  ralph notify watch",
		RunE:    func(*cobra.Command, []string) error { return watchRun(f) },
	})
	return cmd
}

func watchRun(f *cmdline.Factory) error {
	p, loader, err := preflight.Open(f, nil)
	if err == nil {
		err = cmp.Or(f.RefuseAgent(p.Dir, "start ralph-hub"), f.Trust(loader))
	}
	if err != nil {
		return err
	}
	run := view.Gather(cmdline.OpenState(p.Dir), time.Now()).Status.RunID
	if run == "" {
		return &cmdline.ExitError{Code: cmdline.NothingHasRun, Text: "nothing has run here yet; start with: ralph"}
	}
	job, err := jobOf(f, p.Config, p.Dir, run)
	switch {
	case err != nil:
		return err
	case !job.Wanted():
		return cmdline.UsageError("neither NOTIFY, WEBHOOKS nor REPLIES is set; set one in your own configuration or environment")
	}
	if out, err := runHub(f, job, "watch", "--detach"); err != nil {
		return fmt.Errorf("start ralph-hub: %w%s", err, prefixed(out))
	}
	f.Say("ralph-hub follows run %s", run)
	return nil
}

func testRun(f *cmdline.Factory) error {
	p, loader, err := preflight.Open(f, nil) // a project is not needed
	if err == nil {
		err = f.Trust(loader)
	}
	if err != nil {
		return err
	}
	job, err := jobOf(f, p.Config, p.Dir, "")
	if err != nil {
		return err
	}
	if len(job.Notify) == 0 {
		return cmdline.UsageError("NOTIFY is not set; set it in your own configuration or environment, such as NOTIFY=ntfy://ntfy.sh/my-topic")
	}
	if _, err := sandbox.FindHub(); err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	out, err := runHub(f, job, "notify-test")
	for line := range strings.Lines(string(out)) {
		f.Say("%s", strings.TrimRight(line, "\n"))
	}
	if err != nil {
		return &cmdline.ExitError{Code: rules.ExitError, Text: "not every message was sent"}
	}
	return nil
}
