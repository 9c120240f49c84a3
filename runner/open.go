package runner

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ralph/logs"
	"ralph/runner/crew"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/ledger"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// open reads what earlier runs left and announces the run.
func (r *Run) open() error {
	r.past.started = time.Now()
	w := r.d.State
	old, _ := w.Status() // unusable ones were set aside when the lock was taken
	var errs [3]error
	r.mem.Breaker, errs[0] = w.Breaker()
	r.calls, errs[1] = w.Calls()
	r.session, errs[2] = w.Session()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if err := w.ClearRun(); err != nil {
		return err
	}
	if r.d.Resumed {
		r.mem.Usage, r.mem.Iterations = old.Usage, old.LoopCount
		for _, s := range old.Slots { // a kill may come after an iteration ended and before it was counted
			r.past.numbered = max(r.past.numbered, s.Iteration)
		}
		if ran := old.Timestamp.Sub(old.StartedAt); ran > 0 && !old.StartedAt.IsZero() {
			r.past.started = r.past.started.Add(-ran) // the time between the runs does not count
		}
	}
	r.past.unfinished = old.Unsettled()
	r.tasks.Recall(old.Tasks)
	if r.past.unfinished {
		r.past.continues = old.RunID
		r.notes.NextPrompt = old.NextPrompt
	}
	r.openItems.Recall(old)
	r.openItems.LeftOut = r.d.LeftOut
	r.worker.Recall(r.openItems.Gone())
	if old.Task.ID != "" && old.Ending() == state.EndingKilled && old.Status == state.StatusRunning {
		r.tasks.Of(old.Task.ID).CutOff = true // the killed call may have done the work, and the next one only ticks it
		r.past.unproved = old.Task.ID
	}
	r.pool.Recall(old.LimitedUntil, r.o.Agent, r.d.Resumed && !r.d.Unattended)
	r.pool.Pace.Used = old.WindowUse
	r.worker.Own = git.OwnStore{Path: w.OwnPath(), Run: r.d.RunID, Continues: r.past.unfinished}
	if old.Ending() == state.EndingKilled {
		r.worker.Own.KilledRun, r.worker.Own.KilledAt = old.RunID, old.Timestamp
	}
	if err := r.renewBreaker(); err != nil {
		return err
	}
	var err error
	to := output.Options{State: w, Log: r.d.Log, Show: r.d.Show}
	if r.d.Resumed {
		to.Resumed = r.d.RunID
	}
	if r.out, err = output.Open(to); err != nil {
		return err
	}
	r.notes.Open(w.Reader)
	r.hooks.Logs = w.RunDir(r.d.RunID)
	r.asked = ledger.OpenQuestions(w.Reader, ledger.QuestionHost{Tasks: r.tasks, Origin: r.origin, Emit: r.out.Event})
	r.recallChecks()
	return r.announceStart(old)
}

// renewBreaker begins the counts of a new run at zero. An open breaker stays open until
// it has cooled down, unless AUTO_RESET closes it.
func (r *Run) renewBreaker() error {
	was, closed := r.mem.Breaker, r.mem.Breaker.Closed()
	if !r.o.AutoReset && (r.d.Resumed || was.State == state.BreakerOpen) {
		return nil
	}
	if was.State == state.BreakerClosed {
		r.mem.Breaker = closed
		return nil
	}
	closed.Reason, closed.LastChange = "reset at the start of a run", r.past.started
	return r.moveBreaker(closed)()
}

// recallChecks reads what earlier runs know about the checks of this project.
func (r *Run) recallChecks() {
	baseline, err := gate.ReadBaseline(filepath.Join(r.d.State.Dir(), gate.BaselineFile))
	if err != nil {
		r.d.Log.Warn("set aside", logs.KeyError, err)
	}
	if r.past.unfinished {
		baseline.Adopt(r.d.RunID)
		gate.Recount(baseline, r.d.Checks)
	}
	r.checks = turn.Checks{
		Rows: r.d.Checks, Mode: r.d.Mode, FailFast: r.o.FailFast,
		Detect: r.d.Detect, Baseline: baseline,
	}
}

func (r *Run) announceStart(old state.Status) error {
	plan := r.plan.Read()
	r.plan.Counts = plan
	r.out.Status(func(s *state.Status) {
		*s = state.Status{
			RunID: r.d.RunID, PID: os.Getpid(), StartedAt: r.past.started, LoopCount: r.mem.Iterations,
			MaxIterations: r.o.MaxIterations, MaxCallsPerHour: r.o.CallsPerHour, MaxTokensPerHour: r.o.TokensPerHour,
			Status: state.StatusRunning, Phase: "starting",
			Agent: r.o.Agent, Model: r.o.Model, Usage: r.mem.Usage, Accepted: r.openItems.Accepted(),
			Review:       slices.Clone(r.openItems.Items),
			Breaker:      state.BreakerStatus{State: r.mem.Breaker.State, Reason: r.mem.Breaker.Reason},
			LimitedUntil: maps.Clone(r.pool.Limits), WindowUse: r.pool.Pace.Kept(), Tasks: r.tasks.Kept(),
			NextPrompt: r.notes.NextPrompt,
			Task:       state.TaskStatus{ID: old.Task.ID, Title: old.Task.Title, Done: plan.Done, Total: plan.Total},
		}
	})
	if r.past.unfinished { // shown until this run meets another error
		r.out.Status(func(s *state.Status) { s.LastError = old.LastError })
	}
	r.out.Status(r.showCalls)
	start := state.RunStart{Agent: r.o.Agent, Model: r.o.Model, Plan: r.plan.File.Name, Prompt: r.plan.Rel(r.d.Prompt),
		Version: r.d.Version, Resumed: r.d.Resumed, Done: plan.Done, Total: plan.Total}
	if r.o.Parallel > 1 {
		start.Parallel = r.o.Parallel
		if list := r.plan.Read().List; !r.o.ParallelAny && crew.Silent(list) {
			r.d.Log.Warn("one task at a time: the plan does not say which may run side by side",
				"parallel", r.o.Parallel,
				"hint", "mark tasks with [P], give them dependencies, or set PARALLEL_ANY=true")
		}
	}
	if old.Ending() == state.EndingKilled {
		start.Killed, start.KilledIteration, start.LastError = old.RunID, old.LoopCount+1, old.LastError
	}
	r.d.Log.Info("run started", logs.KeyRun, r.d.RunID, logs.KeyAgent, r.o.Agent)
	r.out.Event(state.NewEvent(state.Origin{Run: r.d.RunID, Host: r.host}, time.Now(), start))
	return r.out.Save()
}

// close writes how the run ended, and closes its files.
func (r *Run) close(d rules.Decision) error {
	if r.out == nil {
		return nil
	}
	plan, saved := r.plan.Read(), r.saved.Wait()
	r.out.Status(func(s *state.Status) {
		s.Status, s.ExitReason, s.ExitCode, s.Rule, s.Reason, s.Next = d.Status, d.ExitReason, d.Exit, d.Rule,
			d.Reason, d.Next
		s.Phase, s.WakeAt, s.Pending = "ended", d.Until, ""
		if d.Exit == state.ExitTerminated {
			s.Pending = r.inbox.Asked() // a run that resumes by itself after a reboot must still answer it
		}
		s.Task.Done, s.Task.Total = r.plan.Counts.Done, r.plan.Counts.Total
		s.LimitedUntil = maps.Clone(r.pool.Limits)
		s.Proven, s.Unproven = d.Exit == state.ExitComplete && d.Unproven == "", d.Unproven
		s.Review = d.Review
		if s.Review == nil && d.Exit != state.ExitComplete {
			s.Review = r.openItems.Items
		}
		if next, open := r.tasks.Peek(plan.List); open && d.ExitReason != "interrupted" && d.ExitReason != "aborted" {
			s.Task.ID, s.Task.Title = next.ID, next.Title // an interrupted run continues with the same task
		}
	})
	if d.Exit == state.ExitComplete { // idle iterations of this plan say nothing about the next one
		r.out.Lost(r.d.State.SaveBreaker(r.mem.Breaker.Closed()))
	}
	end := state.RunEnd{Decision: decisionOf(d), Exit: d.Exit, Seconds: time.Since(r.past.started).Seconds(),
		Usage: r.mem.Usage, Next: d.Next, Proven: d.Exit == state.ExitComplete && d.Unproven == "", Unproven: d.Unproven,
		Status: d.Status, Done: r.plan.Counts.Done, Total: r.plan.Counts.Total, Iterations: r.mem.Iterations,
		NotBegun: r.tasks.NotBegun(plan.List), Ticked: r.tasks.Ticked(plan.List)}
	r.out.Event(state.NewEvent(state.Origin{Run: r.d.RunID, Host: r.host}, time.Now(), turn.Redacted(end)))
	r.d.Log.Info("run ended", logs.KeyRun, r.d.RunID, logs.KeyRule, d.Rule, logs.KeyReason, d.Reason, "exit", d.Exit)
	r.out.Lost(logs.Prune(r.d.State.LogsDir(), logsKept))
	return errors.Join(saved, r.d.State.SaveSession(r.session), r.analysis.Make(), r.out.Save(), r.out.Close())
}
