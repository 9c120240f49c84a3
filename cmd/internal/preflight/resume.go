package preflight

// This file records how a run was started, and decides whether and how the last
// run can be resumed.

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/logs/termtext"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/state"
)

// SetEnv adds the settings to env whose options it does not set under any name: what a
// person exports now takes precedence over what the run was started with.
func SetEnv(env, settings []string) []string {
	env = slices.Clone(env)
	rows := config.Index()
	for _, s := range settings {
		key, _, _ := strings.Cut(s, "=")
		set := func(kv string) bool {
			name, value, _ := strings.Cut(kv, "=")
			return value != "" && rows[name].Key == key
		}
		if !slices.ContainsFunc(env, set) {
			env = append(env, s)
		}
	}
	return env
}

// Finished says in one line why a run whose runner is gone must not resume by
// itself. It is empty if only the machine ended the run: the runner was killed, or got
// SIGTERM or SIGHUP, and nobody had asked it to pause or stop.
func Finished(s state.Status) string {
	ending, asked := s.Ending(), s.Pending
	if s.Status == state.StatusPaused {
		asked = state.RequestPause
	}
	why := ""
	switch {
	case ending == state.EndingNone:
		why = "no run was started here"
	case ending == state.EndingComplete:
		why = fmt.Sprintf("run %s is complete: %s", s.RunID, s.Reason)
	case asked != "":
		why = fmt.Sprintf("run %s was asked to %s; continue it with: ralph resume", s.RunID, asked)
	case ending == state.EndingKilled, ending == state.EndingTerminated:
		return ""
	default:
		why = fmt.Sprintf("run %s is %s: %s (exit code %d); continue it with: ralph resume",
			s.RunID, s.Status, s.Reason, s.ExitCode)
	}
	return termtext.Line(why)
}

// FindRun returns how this user started a run. What the project itself records does not count: its agents can write
// there.
func FindRun(loader config.Loader, run string) (kept config.KeptRun, err error) {
	known, err := loader.KeptRuns()
	if err != nil {
		return kept, err
	}
	i := slices.IndexFunc(known, func(k config.KeptRun) bool { return k.Run == run })
	switch {
	case len(known) == 0:
		return kept, cmdline.UsageError("run %s cannot be resumed: you started it in another folder, "+
			"or too long ago; start a new one with: ralph", run)
	case i < 0:
		return kept, cmdline.UsageError("run %s, which .ralph/status.json names, is not the last one that you "+
			"started here, which is %s; start a new one with: ralph", run, known[0].Run)
	}
	return known[i], nil
}

// RecordStart keeps what a run is started with. The run that status.json names stays
// resumable until it names this one, which happens before the first event after
// the start: pass every event to the returned func. before is the run that was started before it.
func RecordStart(f *cmdline.Factory, r *state.Reader, run config.KeptRun) (show func(state.Event), before config.KeptRun) {
	loader := f.Loader(filepath.Dir(r.Dir()), nil)
	record := func(runs ...config.KeptRun) {
		if err := loader.KeepRuns(runs...); err != nil {
			f.Warn(fmt.Errorf("this run cannot be resumed: %w", err))
		}
	}
	runs := []config.KeptRun{run}
	known, _ := loader.KeptRuns() // an unreadable record resumes nothing
	last, _ := r.Status()
	for _, k := range known {
		if k.Run == last.RunID && k.Run != run.Run {
			runs = append(runs, k)
		}
	}
	if len(known) > 0 {
		before = known[0]
	}
	record(runs...)
	named := sync.OnceFunc(func() { record(run) })
	return func(e state.Event) {
		if e.Kind != state.KindRunStart {
			named()
		}
	}, before
}

// BegunState returns the state before the iteration that a resumed run repeats.
func BegunState(f *cmdline.Factory, dir string, w *state.Writer, resumed string) git.State {
	s, err := w.Status()
	if _, repo := git.Root(dir); !repo || resumed == "" || err != nil || s.RunID != resumed {
		return git.State{}
	}
	cut := history.Cut{Run: resumed, Iteration: s.LoopCount + 1}
	if s.Ending() == state.EndingKilled {
		cut.Killed = s.Timestamp
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	begun, err := history.Begun(ctx, dir, cut)
	if err != nil {
		f.Warn(fmt.Sprintf("ralph undo will not cover what was done before the resume: %v", err))
	}
	return begun
}
