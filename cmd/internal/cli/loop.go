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

	"ralph/cmd/internal/cli/historycmd"
	"ralph/cmd/internal/cli/touchcmd"
	"ralph/cmd/internal/cli/versioncmd"
	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/console"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/resume"
	"ralph/cmd/internal/runplan"
	"ralph/config"
	"ralph/logs"
	"ralph/runner"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/lessons"
	"ralph/runner/roles/aios"
	"ralph/runner/rules"
	"ralph/runner/rules/hours"
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
	memoryLimit    = 20 << 20 // bytes; above that, garbage is collected more often
)

// loop takes the lock and runs.
func (a *app) loop(s *preflight.Project, f *runOptions) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit))
	now := time.Now()
	run := cmp.Or(f.resumed, now.Format("20060102-150405")+fmt.Sprintf("-%04x", os.Getpid()&0xffff))
	owner := state.Owner{PID: os.Getpid(), RunID: run, StartedAt: now}
	w, aside, err := state.Acquire(filepath.Join(s.Dir, state.DirName), owner)
	if err != nil {
		return cmdline.OrWatch(err)
	}
	defer w.Release()
	for _, e := range aside {
		a.Warn(e)
	}
	a.tidy(s)
	runplan.Keep(s.Config, s.Dir, s.Plan)
	flags := resume.Words(s.Config, f.once)
	begun := resume.Record(a.Factory, w.Reader, config.KeptRun{Run: run, Flags: flags})
	if err := w.SaveRunFlags(run, flags); err != nil {
		return err
	}
	file, err := logs.OpenFile(w.LogPath(), 10, 4)
	if err != nil {
		return err
	}
	defer file.Close()
	sig := cmdline.HandleSignals(a.In)
	defer sig.Stop()
	con := console.New(a.Factory, s.Dir, console.Options{JSON: f.output == "json", Live: f.live || s.Config.Verbose, Headless: f.headless})
	rows, detected := s.Checks()
	con.Start(s, run, rows)
	defer touchcmd.Start(a.Factory, s.Config, s.Dir, run)()
	log := logs.NewLogger(flushing{file}, s.Config.Verbose)
	if held := s.HeldBack(); held != "" {
		con.Print("ralph: environment: %s", held)
		log.Info("environment", logs.KeyRun, run, "held", held)
	}
	s.Config.TestMode = string(s.Mode(detected || len(rows) == 0))
	result, err := runner.New(runOptionsOf(s), runner.Deps{
		Project: runner.Project{Dir: s.Dir, Prompt: s.Prompt, Plan: s.Plan, PlanEdits: a.Loader(s.Dir, nil).PlanEditsPath()},
		Start: runner.Start{RunID: run, Version: versioncmd.String(), Resumed: f.resumed != "", Unattended: f.unattended,
			Begun: resume.Begun(a.Factory, s.Dir, w, f.resumed)},
		Proof: runner.Proof{Checks: rows, Mode: gate.Mode(s.Config.TestMode),
			Detect: s.Config.DetectChecks && len(rows) == 0, Find: preflight.FindChecks},
		Terminal: runner.Terminal{Show: func(e state.Event) { begun(e); con.Show(e) }, Tick: con.Tick, Size: sig.Size,
			Resize: sig.Resize, Kill: sig.Kill},
		Agents: s.Find, Self: s.Self, Env: a.Env, Filter: s.Config.EnvFilter(), Hooks: s.Config.Hooks(), State: w, Log: log,
		Window: f.window(s.Config.Hours, w.Reader, now),
	}).Run(sig.Ctx)
	con.End(result)
	a.report(con, log, w, run)
	if err != nil && !con.Ended() {
		return err
	}
	if result.Decision.Exit == rules.ExitComplete {
		return nil
	}
	return &cmdline.ExitError{Code: result.Decision.Exit}
}

// window finds the window in which this run works. If a person resumes it, it does not wait
// for START_AT; if a service manager does, it keeps the window in which it began.
func (o *runOptions) window(h hours.Hours, r *state.Reader, now time.Time) hours.Window {
	switch before, err := r.Status(); {
	case o.resumed != "" && !o.unattended:
		h.StartAt = ""
	case o.unattended && err == nil && !before.StartedAt.IsZero():
		now = before.StartedAt.Local()
	}
	return h.After(now)
}

// runOptionsOf are the options that a run reads.
func runOptionsOf(p *preflight.Project) runner.Options {
	c := p.Config
	return runner.Options{Policy: c.Policy, CallOptions: c.CallOptions, CheckOptions: c.CheckOptions, PlanOptions: c.PlanOptions,
		CommitOptions: c.CommitOptions, Contained: p.Contained, Wanted: c.Wanted, LessonOptions: c.LessonOptions, SlotOptions: c.SlotOptions,
		Review: c.Review, JudgeRows: c.JudgeRows(), AIOS: aios.Options(c.AIOSOptions)}
}

// flushing writes each line of ralph's own log immediately: there are few lines, and
// after a crash they are all that is left.
type flushing struct{ *logs.File }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, errors.Join(err, f.Flush())
}

// report saves the report of the run. A failure does not change how the run ended.
func (a *app) report(con *console.Console, log hclog.Logger, w *state.Writer, run string) {
	if err := historycmd.SaveReport(context.Background(), w, run, a.Env); err != nil {
		log.Warn("no report", logs.KeyRun, run, logs.KeyError, err)
		return
	}
	con.Print("ralph: report: ralph report, or %s", w.ReportPath(run, ".html"))
}

// tidy switches to the memory of the branch, if another one was checked out before, and removes
// the oldest kept iterations. Errors are only warnings.
func (a *app) tidy(s *preflight.Project) {
	if s.Config.ArchiveBranch {
		said, err := lessons.OnBranch(s.Dir, s.Branch, s.Plan, time.Now())
		if err != nil {
			a.Warn(err)
		}
		if said != "" {
			a.Note("%s", cmdline.Inert(said))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, ok := git.Root(s.Dir); !ok {
		return
	}
	if _, err := history.Prune(ctx, s.Dir, keptAge, keptCount); err != nil {
		a.Warn(err)
	}
}
