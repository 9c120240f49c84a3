package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/resume"
	"ralph/config"
	"ralph/logs"
	"ralph/runner"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/rules"
	"ralph/state"
)

// Limits on the kept states of iterations.
const (
	keptAge   = 30 * 24 * time.Hour
	keptCount = 500
)

// loop takes the lock and runs.
func (o *runOptions) loop(p *preflight.Project) error {
	now := time.Now()
	run := o.resumed
	if run == "" {
		run = now.Format("20060102-150405") + fmt.Sprintf("-%04x", os.Getpid()&0xffff)
	}
	owner := state.Owner{PID: os.Getpid(), RunID: run, StartedAt: now}
	w, aside, err := state.Acquire(filepath.Join(p.Dir, state.DirName), owner)
	if err != nil {
		return err
	}
	defer w.Release()
	for _, e := range aside {
		o.Warn(e)
	}
	o.forget(p.Dir)
	flags := resume.Words(p.Config, o.once)
	begun := resume.Record(o.Factory, w.Reader, config.KeptRun{Run: run, Flags: flags})
	if err := w.SaveRunFlags(run, flags); err != nil {
		return err
	}
	file, err := logs.OpenFile(w.LogPath(), 10, 4)
	if err != nil {
		return err
	}
	defer file.Close()
	sig := cmdline.HandleSignals(o.In)
	defer sig.Stop()
	rows, detected := p.Checks()
	con := o.console(p)
	con.start(p, run, rows)
	log := logs.NewLogger(flushing{file}, p.Config.Verbose)
	if held := p.HeldBack(); held != "" {
		con.print("ralph: environment: %s", held)
		log.Info("environment", logs.KeyRun, run, "held", held)
	}
	p.Config.TestMode = string(p.Mode(detected || len(rows) == 0))
	result, err := runner.New(runOptionsOf(p.Config), runner.Deps{
		Dir: p.Dir, RunID: run, Version: version(), Resumed: o.resumed != "", Unattended: o.unattended,
		Agents: p.Find, Env: o.Env, Filter: p.Config.EnvFilter(),
		Checks: rows, Mode: gate.Mode(p.Config.TestMode), Detect: p.Config.DetectChecks && len(rows) == 0, Find: preflight.FindChecks,
		State: w, Log: log, Prompt: p.Prompt, Plan: p.Plan,
		Show: func(e state.Event) { begun(e); con.show(e) }, Tick: con.tick,
		Size: sig.Size, Resize: sig.Resize, Kill: sig.Kill,
	}).Run(sig.Ctx)
	con.end(result)
	if p.Config.Notify {
		o.notify(result)
	}
	if err != nil {
		return err
	}
	if result.Decision.Exit == rules.ExitComplete {
		return nil
	}
	return &cmdline.ExitError{Code: result.Decision.Exit}
}

// runOptionsOf returns the options that a run reads.
func runOptionsOf(c *config.Config) runner.Options {
	return runner.Options{Policy: c.Policy, CallOptions: c.CallOptions, CheckOptions: c.CheckOptions, PlanOptions: c.PlanOptions,
		CommitOptions: c.CommitOptions}
}

// flushing flushes each line of ralph's own log: lines are rare, and a crash must
// not lose them.
type flushing struct{ *logs.File }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, errors.Join(err, f.Flush())
}

// notify sends a desktop notification, or rings the bell. It never fails the run.
func (a *app) notify(r runner.Ending) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if exec.CommandContext(ctx, "notify-send", "--app-name=ralph", "--", "ralph: "+r.Decision.Status, r.Decision.Reason).Run() != nil {
		fmt.Fprint(a.Err, "\a")
	}
}

// forget deletes the oldest kept states. A failure is harmless.
func (a *app) forget(dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, ok := git.Root(dir); ok {
		if _, err := history.Prune(ctx, dir, keptAge, keptCount); err != nil {
			a.Warn(err)
		}
	}
}
