package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/sandbox"
)

// startBound is for ralph-hub to detach itself.
const startBound = 10 * time.Second

// jobOf is what ralph-hub gets to do for a run. The error is one line for people.
func jobOf(cfg *config.Config, dir, run string) (config.HubJob, error) {
	settings, err := cfg.InTouch()
	job := config.HubJob{Notifications: settings, Dir: dir, Run: run}
	if err != nil {
		return job, err
	}
	job.Log = filepath.Join(cmdline.OpenState(dir).LogsDir(), "hub.log")
	if tty, err := os.Readlink("/proc/self/fd/2"); err == nil && strings.HasPrefix(tty, "/dev/") {
		job.TTY = tty
	}
	return job, nil
}

// checkHub returns what is wrong with the options of ralph-hub: NOTIFY and NOTIFY_ON.
func checkHub(cfg *config.Config, dir string) error {
	_, err := jobOf(cfg, dir, "")
	return err
}

// startHub starts ralph-hub for a run if an option asks for it. It outlives this process. A
// run goes on without it, with a warning. The function that it returns is for the end of the
// run: it starts another one, since the first may have been killed. Two of them send nothing twice.
func startHub(f *cmdline.Factory, cfg *config.Config, dir, run string) (again func()) {
	start := func() (started bool) {
		job, err := jobOf(cfg, dir, run)
		var out []byte
		if err == nil && job.Wanted() {
			out, err = runHub(f, job, "watch", "--detach")
		}
		if err != nil {
			f.Warn(fmt.Errorf("no notifications: %w%s", err, prefixed(out)))
		}
		return err == nil
	}
	if !start() {
		return func() {} // nor would the next one
	}
	return func() { start() }
}

func prefixed(out []byte) string {
	if text := termtext.Line(string(out)); text != "" {
		return ": " + text
	}
	return ""
}

func runHub(f *cmdline.Factory, job config.HubJob, args ...string) ([]byte, error) {
	hub, err := sandbox.FindHub()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	bound := startBound + time.Duration(len(job.Notify))*30*time.Second
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	defer ptyexec.Working(bound)()
	cmd := exec.CommandContext(ctx, hub, args...)
	cmd.Stdin, cmd.Env, cmd.Dir = bytes.NewReader(data), f.Env, job.Dir
	return cmd.CombinedOutput()
}

// given returns the flags of a verb that stand on its command line.
func given(cmd *cobra.Command) (flags []string) {
	cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			flags = append(flags, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	return flags
}

// become turns this process into ralph-hub: ralph itself uses no network.
func become(f *cmdline.Factory, verb string, args ...string) error {
	hub, err := sandbox.FindHub()
	if err != nil {
		return errors.New("ralph-hub is neither beside ralph nor in PATH")
	}
	ralph, err := f.Ralph()
	if err != nil {
		return err
	}
	err = syscall.Exec(hub, append([]string{hub, verb, "--ralph", ralph}, args...), f.Env)
	return fmt.Errorf("start ralph-hub: %w", err)
}
