package runner

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"ralph/logs"
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
	l, w := r.ledger, r.d.State
	old, err := l.Recall(r.d.Resumed, r.d.Resumed && !r.d.Unattended, r.o.Agent)
	if err != nil {
		return err
	}
	l.Items.LeftOut = r.d.LeftOut
	r.worker.Recall(l.Items.Gone())
	r.worker.UserChanges = git.OwnStore{Path: w.OwnPath(), Run: l.RunID, Continues: l.Unfinished}
	if old.Ending() == state.EndingKilled {
		r.worker.UserChanges.KilledRun, r.worker.UserChanges.KilledAt = old.RunID, old.Timestamp
	}
	resumed := ""
	if r.d.Resumed {
		resumed = l.RunID
	}
	out := &output.Output{State: w, Log: r.d.Log, Show: r.d.Show}
	if err := out.Open(resumed); err != nil {
		return err
	}
	r.out, l.Out = out, out
	r.hooks.Logs = w.RunDir(l.RunID)
	baseline, err := gate.ReadBaseline(filepath.Join(w.Dir(), gate.BaselineFile))
	if err != nil {
		r.d.Log.Warn("set aside", logs.KeyError, err)
	}
	if l.Unfinished {
		baseline.Adopt(l.RunID)
	}
	gate.Recount(baseline, r.d.Checks)
	l.Checks = turn.Checks{
		Rows: r.d.Checks, Mode: r.d.Mode, FailFast: r.o.FailFast, Scope: r.o.BaselineScope,
		Detect: r.d.Detect, Baseline: baseline,
	}
	return r.announceStart(old)
}

func (r *Run) announceStart(old state.Status) error {
	l := r.ledger
	plan := l.Plan.Read()
	l.Plan.Counts = plan
	r.out.Status(func(s *state.Status) {
		*s = state.Status{
			RunID: r.d.RunID, PID: os.Getpid(), StartedAt: l.Started,
			MaxIterations: r.o.MaxIterations, MaxCallsPerHour: r.o.CallsPerHour, MaxTokensPerHour: r.o.TokensPerHour,
			Status: state.StatusRunning, Phase: "starting",
			Agent: r.o.Agent, Model: r.o.Model, Accepted: l.Items.Accepted(),
			Task: state.TaskStatus{ID: old.Task.ID, Title: old.Task.Title, Done: plan.Done, Total: plan.Total},
		}
		l.Show(s)
		if l.Unfinished { // shown until this run meets another error
			s.LastError = old.LastError
		}
	})
	start := state.RunStart{Agent: r.o.Agent, Model: r.o.Model, Plan: l.Plan.File.Name, Prompt: l.Plan.Rel(r.d.Prompt),
		Version: r.d.Version, Resumed: r.d.Resumed, Done: plan.Done, Total: plan.Total}
	if r.o.Parallel > 1 {
		start.Parallel = r.o.Parallel
	}
	if old.Ending() == state.EndingKilled {
		start.Killed, start.KilledIteration, start.LastError = old.RunID, old.LoopCount+1, old.LastError
	}
	r.d.Log.Info("run started", logs.KeyRun, r.d.RunID, logs.KeyAgent, r.o.Agent)
	r.out.Event(state.NewEvent(state.Origin{Run: r.d.RunID, Host: l.Host}, time.Now(), start))
	return r.out.Save()
}

// close writes how the run ended, and closes its files.
func (r *Run) close(d rules.Decision) error {
	if r.out == nil {
		return nil
	}
	l := r.ledger
	plan, saved := l.Plan.Read(), l.Close(d.Exit == state.ExitComplete)
	r.out.Status(func(s *state.Status) {
		s.Status, s.ExitReason, s.ExitCode, s.Rule, s.Reason, s.Next = d.Status, d.ExitReason, d.Exit, d.Rule,
			d.Reason, d.Next
		s.Phase, s.WakeAt, s.Pending = "ended", d.Until, ""
		if d.Exit == state.ExitTerminated {
			s.Pending = r.inbox.Asked() // a run that resumes by itself after a reboot must still answer it
		}
		s.Task.Done, s.Task.Total = l.Plan.Counts.Done, l.Plan.Counts.Total
		s.LimitedUntil = maps.Clone(l.Pool.Limits)
		s.Proven, s.Unproven = d.Exit == state.ExitComplete && d.Unproven == "", d.Unproven
		s.Review = d.Review
		if s.Review == nil && d.Exit != state.ExitComplete {
			s.Review = l.Items.Items
		}
		if next, open := l.Tasks.Peek(plan.List); open && d.ExitReason != "interrupted" && d.ExitReason != "aborted" {
			s.Task.ID, s.Task.Title = next.ID, next.Title // an interrupted run continues with the same task
		}
	})
	end := state.RunEnd{Decision: ledger.DecisionOf(d), Exit: d.Exit, Seconds: time.Since(l.Started).Seconds(),
		Usage: l.Memory.Usage, Next: d.Next, Proven: d.Exit == state.ExitComplete && d.Unproven == "", Unproven: d.Unproven,
		Status: d.Status, Done: l.Plan.Counts.Done, Total: l.Plan.Counts.Total, Iterations: l.Memory.Iterations,
		NotBegun: l.Tasks.NotBegun(plan.List), Ticked: l.Tasks.Ticked(plan.List)}
	l.Tell(state.Origin{Run: r.d.RunID, Host: l.Host}, end)
	r.d.Log.Info("run ended", logs.KeyRun, r.d.RunID, logs.KeyRule, d.Rule, logs.KeyReason, d.Reason, "exit", d.Exit)
	return errors.Join(saved, r.out.Save(), r.out.Close())
}
