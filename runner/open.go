package runner

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"ralph/logs"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

// open reads what earlier runs left and announces the run.
func (l *Loop) open() error {
	l.started = time.Now()
	w := l.d.State
	old, _ := w.Status() // unusable ones were set aside when the lock was taken
	var err error
	if l.mem.Breaker, err = w.Breaker(); err != nil {
		return err
	}
	if l.calls, err = w.Calls(); err != nil {
		return err
	}
	if l.session, err = w.Session(); err != nil {
		return err
	}
	if err := w.ClearRun(); err != nil {
		return err
	}
	if l.d.Resumed {
		l.mem.Usage, l.mem.Iterations = old.Usage, old.LoopCount
		if ran := old.Timestamp.Sub(old.StartedAt); ran > 0 && !old.StartedAt.IsZero() {
			l.started = l.started.Add(-ran) // the time between the runs does not count
		}
	}
	killed := old.Status == state.StatusWaiting || old.Status == state.StatusPaused || old.Status == state.StatusRunning || old.ExitReason == "interrupted" || old.ExitReason == "aborted"
	l.unfinished = old.RunID != "" && old.Status != state.StatusCompleted
	l.tasks.recall(old.Tasks)
	if old.Task.ID != "" && killed {
		l.tasks.of(old.Task.ID).worked = true // a killed call may have done the work that the next one only ticks
		l.unproved = old.Task.ID
	}
	l.recallLimits(old)
	if l.o.AutoReset && l.mem.Breaker.State != state.BreakerClosed {
		if err := l.moveBreaker(state.Breaker{State: state.BreakerClosed, Reason: "reset at the start of a run", LastChange: l.started}); err != nil {
			return err
		}
	}
	if l.events, err = logs.OpenFile(w.EventsPath(), 20, 5); err != nil {
		return err
	}
	if l.live, err = logs.OpenFile(w.LiveLogPath(), 10, 3); err != nil {
		return err
	}
	if info, err := os.Stat(w.EventsPath()); err == nil && info.Size() > 0 && !l.d.Resumed {
		if err := l.events.Rotate(); err != nil {
			return err
		}
	}
	l.openSuite()
	return l.announce(old)
}

// recallLimits takes over the usage limits that an earlier run met. A person
// who resumes a run that waits for all of its agents wants it to try.
func (l *Loop) recallLimits(old state.Status) {
	maps.Copy(l.limits, old.LimitedUntil)
	_, free := l.free(l.candidates(task.Choice{Agent: l.o.Agent}), l.started)
	if l.d.Resumed && !l.d.Unattended && !free {
		clear(l.limits)
	}
}

func (l *Loop) announce(old state.Status) error {
	_, plan := l.loadPlan()
	l.it.After = plan
	l.board = newBoard(l.d.State, state.Status{
		RunID: l.d.RunID, PID: os.Getpid(), StartedAt: l.started, LoopCount: l.mem.Iterations,
		MaxIterations: l.o.MaxIterations, MaxCallsPerHour: l.o.CallsPerHour, MaxTokensPerHour: l.o.TokensPerHour,
		Status: state.StatusRunning, LastAction: "run started", Phase: "starting",
		Agent: l.o.Agent, Model: l.o.Model, Usage: l.mem.Usage,
		Breaker: state.BreakerStatus{State: l.mem.Breaker.State, Reason: l.mem.Breaker.Reason}, LimitedUntil: maps.Clone(l.limits), Tasks: l.tasks.kept(),
		Task: state.TaskStatus{ID: old.Task.ID, Title: old.Task.Title, Done: plan.Done, Total: plan.Total},
	})
	l.board.update(func(s *state.Status) { l.showCalls(s) })
	text := fmt.Sprintf("run %s: agent %s", l.d.RunID, l.o.Agent)
	if old.Status == state.StatusRunning || old.Status == state.StatusWaiting || old.Status == state.StatusPaused {
		text += fmt.Sprintf("; run %s before it was killed in iteration %d", old.RunID, old.LoopCount+1)
	}
	l.d.Log.Info("run started", logs.KeyRun, l.d.RunID, logs.KeyAgent, l.o.Agent)
	l.emit(state.Event{Kind: state.KindRunStart, Text: text, Model: l.o.Model})
	return l.board.save()
}

// close writes the last word of the run.
func (l *Loop) close(d rules.Decision) error {
	if l.board == nil {
		return nil
	}
	list, _ := l.loadPlan()
	l.board.update(func(s *state.Status) {
		s.Status, s.ExitReason, s.ExitCode, s.Rule, s.Reason, s.Next = d.Status, d.ExitReason, d.Exit, d.Rule, d.Reason, d.Next
		s.LastAction, s.Phase, s.WakeAt, s.Pending = "run ended", "ended", d.Until, ""
		if d.Exit == rules.ExitTerminated {
			s.Pending = l.asked() // it was not answered: who goes on by itself after a reboot must know
		}
		s.Task.Done, s.Task.Total = l.it.After.Done, l.it.After.Total
		s.LimitedUntil = maps.Clone(l.limits)
		if next, open := list.Next(); open && d.ExitReason != "interrupted" && d.ExitReason != "aborted" {
			s.Task.ID, s.Task.Title = next.ID, next.Title // who was interrupted goes on with the same
		}
	})
	l.keptTrail()
	if d.Exit == rules.ExitComplete { // what was idle on the way says nothing about the next plan
		b := l.mem.Breaker
		l.lost(l.d.State.SaveBreaker(state.Breaker{State: state.BreakerClosed, LastChange: b.LastChange, LastProgressLoop: b.LastProgressLoop, TotalOpens: b.TotalOpens}))
	}
	l.emit(state.Event{Kind: state.KindRunEnd, Text: d.Reason, Error: d.Exit != rules.ExitComplete, Usage: &l.mem.Usage,
		End: &state.End{Action: string(d.Action), Rule: d.Rule, Reason: d.Reason, Exit: d.Exit, Duration: time.Since(l.started), WakeAt: d.Until}})
	l.d.Log.Info("run ended", logs.KeyRun, l.d.RunID, logs.KeyRule, d.Rule, logs.KeyReason, d.Reason, "exit", d.Exit)
	l.lost(logs.Prune(l.d.State.LogsDir(), logsKept))
	return errors.Join(l.d.State.SaveSession(l.session), l.board.save(), l.events.Close(), l.live.Close())
}
