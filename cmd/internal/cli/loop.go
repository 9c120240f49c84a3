package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/console"
	"ralph/cmd/internal/preflight"
	"ralph/logs"
	"ralph/runner"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/roles"
	"ralph/runner/rules/pace"
	"ralph/state"
)

// Bounds of the kept iterations.
const (
	keptAge   = 30 * 24 * time.Hour
	keptCount = 500
)

// Reading an agent's output allocates much memory and keeps little of it: with Go's default of
// 100 percent, nearly half of the work in a flood of output would be garbage collection.
const (
	garbagePercent = 300
	memoryLimit    = 18 << 20 // bytes; above that, garbage is collected more often
	memoryPerTask  = 6 << 10  // bytes more for each task: a run keeps the plan in several versions
)

// loop takes the lock and runs.
func (o *runOptions) loop(s *preflight.Project) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit + int64(len(s.Tasks.Tasks))*memoryPerTask))
	now := time.Now()
	run := cmp.Or(o.resumed, now.Format("20060102-150405")+fmt.Sprintf("-%04x", os.Getpid()&0xffff))
	owner := state.Owner{PID: os.Getpid(), RunID: run, StartedAt: now}
	w, _, err := o.LockAndRecover(filepath.Join(s.Dir, state.DirName), owner)
	if locked := (*state.LockedError)(nil); errors.As(err, &locked) {
		return fmt.Errorf("%w; watch it with: ralph monitor", err)
	}
	if err != nil {
		return err
	}
	defer w.Release()
	o.tidy(s)
	preflight.KeepPlan(s.Config, s.Dir, s.Plan)
	rows, _ := s.Checks()
	about := console.About(s, rows)
	kept := s.Config.Kept(run)
	if kept.About = about; o.once {
		kept.Flags[maxIterations] = "1"
	}
	begun, before := preflight.RecordStart(o.Factory, w.Reader, kept)
	if err := w.MakeRunDir(run); err != nil {
		return err
	}
	file, err := logs.OpenFile(w.LogPath(), 10, 4)
	if err != nil {
		return err
	}
	defer file.Close()
	sig := cmdline.HandleSignals(o.In)
	defer sig.Stop()
	con := console.New(o.Factory, s.Dir, console.Options{JSON: o.output == "json", Live: o.live || s.Config.Verbose, Headless: o.headless})
	con.Start(s, run, about, before.About)
	defer startHub(o.Factory, s.Config, s.Dir, run)()
	log := logs.NewLogger(flushing{file}, s.Config.Verbose)
	if held := s.HeldBack(); held != "" {
		log.Info("environment", logs.KeyRun, run, "held", held)
	}
	out := o.openOutgoing(s, w, con, log, run)
	result, err := runner.New(runOptionsOf(s), runner.Deps{
		Project: runner.Project{Dir: s.Dir, Prompt: s.Prompt, Plan: s.Plan, PlanEdits: o.Loader(s.Dir, nil).PlanEditsPath()},
		Start: runner.Start{RunID: run, Version: versionText(), Resumed: o.resumed != "",
			Unattended: o.unattended, Begun: preflight.BegunState(o.Factory, s.Dir, w, o.resumed)},
		Proof: runner.Proof{LeftOut: s.LeftOut, Checks: rows, Mode: gate.Mode(s.Config.TestMode),
			Detect: s.Config.DetectChecks && len(rows) == 0, Find: preflight.FindChecks, Elsewhere: out.elsewhere()},
		Terminal: runner.Terminal{Show: func(e state.Event) { begun(e); con.Show(e); out.show(e) }, Tick: con.Tick, Size: sig.Size,
			Resize: sig.Resize, Kill: sig.Kill},
		Agents: s.Find, Self: s.Self, Env: o.Env, Filter: s.Config.EnvFilter(), Hooks: s.Config.Hooks(),
		State: w, Log: log, End: o.end(s.Config.Until, w.Reader, now),
	}).Run(sig.Ctx)
	con.End(result)
	o.report(con, log, w, run)
	out.end(result)
	if err != nil && !con.Ended() {
		return err
	}
	if result.Decision.Exit == state.ExitComplete {
		return nil
	}
	return &cmdline.ExitError{Code: result.Decision.Exit}
}

// end is the latest time at which this run ends; zero: no bound. If a service manager resumes the run, it still ends when it
// would have ended before.
func (o *runOptions) end(until string, r *state.Reader, now time.Time) time.Time {
	if before, err := r.Status(); o.unattended && err == nil && !before.StartedAt.IsZero() {
		now = before.StartedAt.Local()
	}
	return pace.Next(until, now)
}

// runOptionsOf are the options that a run reads.
func runOptionsOf(p *preflight.Project) runner.Options {
	c := p.Config
	return runner.Options{Policy: c.Policy, CallOptions: c.CallOptions, Continuity: c.Continuity,
		CheckOptions: c.CheckOptions, PlanOptions: c.PlanOptions,
		CommitOptions: c.CommitOptions, Contained: p.Contained, Wanted: c.Wanted, LessonOptions: c.LessonOptions,
		SlotOptions: c.SlotOptions, Review: c.Review, JudgeRows: c.JudgeRows(), AIOS: roles.AIOSOptions(c.AIOSOptions)}
}

// flushing writes each line of ralph's own log immediately: there are few lines, and
// after a crash they are all that is left.
type flushing struct{ *logs.File }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, errors.Join(err, f.Flush())
}

// report saves the report of the run. A failure does not change how the run ended.
func (o *runOptions) report(con *console.Console, log hclog.Logger, w *state.Writer, run string) {
	if err := saveReport(context.Background(), w, run, o.Env); err != nil {
		log.Warn("no report", logs.KeyRun, run, logs.KeyError, err)
		return
	}
	con.Print("ralph: report: ralph report, or %s", w.ReportPath(run, ".html"))
}

// tidy switches to the memory of the branch, if another one was checked out before, and removes
// the oldest kept iterations. Errors are only warnings.
func (o *runOptions) tidy(s *preflight.Project) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	onBranch(ctx, o.Factory, s, s.Branch)
	if _, ok := git.Root(s.Dir); !ok {
		return
	}
	if _, err := history.Prune(ctx, s.Dir, keptAge, keptCount); err != nil {
		o.Warn(err)
	}
}

// onBranch switches to the memory of a branch, if another one was checked out before.
func onBranch(ctx context.Context, f *cmdline.Factory, p *preflight.Project, branch string) {
	said, err := p.Config.OnBranch(ctx, p.Dir, branch, p.Plan, time.Now())
	if err != nil {
		f.Warn(err)
	}
	if said != "" {
		f.Note("%s", said)
	}
}
