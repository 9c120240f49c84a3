package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/sandbox"
	"ralph/state"
	"ralph/state/view"
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
	return job, nil
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
			f.Warn(fmt.Errorf("no notifications: %w%s", err, view.Prefix(": ", termtext.Line(string(out)))))
		}
		return err == nil
	}
	if !start() {
		return func() {} // nor would the next one
	}
	return func() { start() }
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

// hubFlags are the settings of a verb of ralph-hub.
type hubFlags interface {
	Flags(fs *pflag.FlagSet)
	Check() error
}

// newHubCmd completes a verb that becomes the one of ralph-hub with the same name and flags, unless refuse says why it
// must not.
func newHubCmd(f *cmdline.Factory, cmd *cobra.Command, o hubFlags) *cobra.Command {
	cmd.Args = cmdline.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.Check(); err != nil {
			return cmdline.UsageError("%v", err)
		}
		return become(f, cmd.Name(), given(cmd)...)
	}
	o.Flags(cmd.Flags())
	return cmd
}

// newServeCmd returns ralph serve.
func newServeCmd(f *cmdline.Factory) *cobra.Command {
	o := &config.Serve{}
	return newHubCmd(f, &cobra.Command{
		Use: "serve", Short: "Show all of your runs in a browser, until Ctrl-C",
		Long: "Show all of your runs in a browser: tasks, live log, cost, checks, findings, questions, transcripts, diffs. This starts\n" +
			"ralph-hub. It is read-only unless you give --actions: then anyone who is logged in can act. docs/dashboard.md says\n" +
			"how to reach it from a phone.",
		Example: "  ralph serve\n  ralph serve --actions\n  ralph serve --link      # another link that logs you in",
		PreRunE: func(*cobra.Command, []string) error {
			dir, err := f.Project()
			if err != nil || !o.Actions && !o.Link {
				return nil //nolint:nilerr // it shows all projects, and needs none
			}
			return f.RefuseAgent(dir, "act as a person")
		},
	}, o)
}

// newWorkerCmd returns ralph worker.
func newWorkerCmd(f *cmdline.Factory) *cobra.Command {
	return newHubCmd(f, &cobra.Command{
		Use: "worker", Short: "Carry out turns for other runs, until Ctrl-C",
		Long: "Take turns from a fleet and carry them out on this machine, which needs git and the agents, logged in. This starts\n" +
			"ralph-hub. docs/fleet.md says how to set up a fleet.",
		Example: "  ralph worker                 # for runs of yours on this machine\n" +
			"  RALPH_FLEET_TOKEN=... ralph worker --join nats://build1:4222 --slots 4",
	}, &config.Worker{})
}

// newMCPCmd returns ralph mcp.
func newMCPCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Let another agent watch and steer the run of this project (MCP)", Args: cmdline.NoArgs,
		Long: "Serve the Model Context Protocol on standard input and output, for the agent that starts it: status, tasks, iterations,\n" +
			"diff, questions, add_task, answer. This starts ralph-hub. An agent inside a run cannot answer its own questions this way.",
		Example: "  claude mcp add ralph -- ralph -C ~/shop-api mcp",
		RunE: func(*cobra.Command, []string) error {
			dir, err := f.Project()
			if err != nil {
				return err
			}
			return become(f, "mcp", "--project", dir)
		},
	}
}

// newNotifyCmd returns ralph notify.
func newNotifyCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "notify", Short: "Test the notifications of this project",
		Long:    "Test the notifications that NOTIFY sets up. docs/in-touch.md describes them.",
		Example: "  NOTIFY=ntfy://ntfy.sh/my-topic ralph notify test",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "test", Short: "Send a test message to each address of NOTIFY", Args: cmdline.NoArgs,
		Example: "  ralph notify test",
		RunE:    func(*cobra.Command, []string) error { return notifyTestRun(f) },
	})
	return cmd
}

func notifyTestRun(f *cmdline.Factory) error {
	p, err := preflight.Trusted(f, nil) // a project is not needed
	if err != nil {
		return err
	}
	job, err := jobOf(p.Config, p.Dir, "")
	if err != nil {
		return err
	}
	if len(job.Notify) == 0 {
		return cmdline.UsageError("NOTIFY is not set; set it in your own configuration or environment, " +
			"such as NOTIFY=ntfy://ntfy.sh/my-topic")
	}
	if _, err := sandbox.FindHub(); err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	out, err := runHub(f, job, "notify-test")
	for line := range strings.Lines(string(out)) {
		f.Say("%s", strings.TrimRight(line, "\n"))
	}
	if err != nil {
		return &cmdline.ExitError{Code: state.ExitError, Text: "not every message was sent"}
	}
	return nil
}
