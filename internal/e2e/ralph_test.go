//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/mockllm"
	"ralph/internal/world"
)

// finished checks the end of a run whose plan is worked off.
func (w *project) finished(exit, tasks int) {
	w.Helper()
	s := w.status()
	if exit != 0 || s.Status != "completed" || s.ExitReason != "plan_complete" || s.Task.Done != tasks || s.Task.Total != tasks {
		w.Errorf("exit %d, status %+v", exit, s)
	}
	if plan := w.Read(".ralph/fix_plan.md"); strings.Count(plan, "[x]") != tasks {
		w.Errorf("plan:\n%s", plan)
	}
	for i, e := range slices.Backward(w.events()) {
		if e.Kind != "run_end" || e.Data.Exit != exit {
			w.Errorf("event %d, the last, is %+v", i, e)
		}
		break
	}
}

// outcomes returns the classes of the agent calls, in order.
func (w *project) outcomes() []string {
	w.Helper()
	var classes []string
	for _, e := range w.events() {
		if e.Kind == "iteration_end" {
			classes = append(classes, e.Data.Outcome)
		}
	}
	return classes
}

func TestRalph_planOfThree_isWorkedOff(t *testing.T) {
	w := newProject(t, claude(), 3, mockllm.Plan(3))
	exit := w.ralph("run").Wait(time.Minute)
	w.finished(exit, 3)
	s := w.status()
	if s.LoopCount != 3 || s.Usage.Input == 0 || s.Usage.Output == 0 || s.Usage.Cost <= 0 {
		t.Errorf("status %+v", s)
	}
	if got := w.outcomes(); !slices.Equal(got, []string{"completed-turn", "completed-turn", "completed-turn"}) {
		t.Errorf("outcomes %q", got)
	}
	// Of ralph's own state git sees the file that hides the rest.
	if got, want := w.Git("status", "--porcelain"), " M .ralph/fix_plan.md\n?? .ralph/.gitignore\n?? task1.txt\n?? task2.txt\n?? task3.txt"; got != want {
		t.Errorf("git status:\n%s", got)
	}
	prompts := w.mock.Prompts(scenario)
	if len(prompts) != 3 {
		t.Fatalf("%d prompts, want 3: %q", len(prompts), prompts)
	}
	for i, p := range prompts {
		if task := []string{"task 1", "task 2", "task 3"}[i]; !strings.Contains(p, "Do the next task of the plan.") || !strings.Contains(p, task) {
			t.Errorf("prompt %d lacks the user's words or %q:\n%s", i+1, task, p)
		}
	}
}

func TestRalph_usageLimit_waitsForTheResetAndGoesOn(t *testing.T) {
	t.Parallel()
	limit := mockllm.Step{Limit: &mockllm.Limit{Window: "five_hour", For: 4 * time.Second}}
	w := newProject(t, claude(), 1, mockllm.After(mockllm.Plan(1), limit))
	w.Env = subscription(w.Env)
	exit := w.ralph("run").Wait(3 * time.Minute)
	w.finished(exit, 1)
	var answers []string
	for _, r := range w.mock.Turns(scenario) {
		answers = append(answers, r.Answer)
	}
	if want := []string{"limit", "tools", "tools", "text"}; !slices.Equal(answers, want) {
		t.Errorf("the API answered %q, want %q: one call into the limit, then the work", answers, want)
	}
	waited, seen := false, false
	for _, e := range w.events() {
		waited = waited || e.Kind == "iteration_end" && e.Data.Rule == "usage_limit" && e.Data.Action == "wait"
		seen = seen || e.Kind == "limit" && e.Data.Rejected && !e.Data.ResetsAt.IsZero()
	}
	if !waited || !seen {
		t.Errorf("rule usage_limit: %t, rejected limit with its reset: %t", waited, seen)
	}
	if s := w.status(); s.LoopCount != 1 {
		t.Errorf("%d iterations, want 1: the limit cost one", s.LoopCount)
	}
}

func TestRalph_usageLimitAndOnLimitStop_endsWith7(t *testing.T) {
	limit := mockllm.Step{Limit: &mockllm.Limit{Window: "seven_day", For: time.Hour}}
	w := newProject(t, claude(), 1, mockllm.After(mockllm.Plan(1), limit))
	w.Env = subscription(w.Env)
	exit := w.ralph("run", "--on-limit", "stop").Wait(time.Minute)
	if s := w.status(); exit != 7 || s.ExitReason != "usage_limit" || s.Outcome != "usage-limit" {
		t.Errorf("exit %d, status %+v", exit, s)
	}
}

// forbid allows the agent no shell, and ends the run at the second denial.
func (w *project) forbid() {
	w.Set("ALLOWED_TOOLS", "Write,Read")
	w.Set("CB_PERMISSION_DENIAL_THRESHOLD", "2")
}

func TestRalph_deniedCommand_haltsAndNamesIt(t *testing.T) {
	w := newProject(t, claude(), 1, mockllm.Builtin()["denied"])
	w.forbid()
	exit := w.ralph("run").Wait(time.Minute)
	s := w.status()
	if exit != 3 || s.Status != "halted" || s.ExitReason != "permission_denied" || s.LoopCount != 2 {
		t.Errorf("exit %d, status %+v", exit, s)
	}
	if !strings.Contains(s.Reason, "curl -s http://127.0.0.1:9/") || !strings.Contains(s.Reason, "Bash(curl") {
		t.Errorf("the reason names neither command nor entry: %q", s.Reason)
	}
}

func TestRalph_transientFailures_areRetriedWithoutCostingAnIteration(t *testing.T) {
	for _, name := range []string{"429", "529", "drop", "stream-error"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newProject(t, claude(), 1, mockllm.Builtin()[name])
			exit := w.ralph("run").Wait(3 * time.Minute)
			w.finished(exit, 1)
			if s := w.status(); s.LoopCount != 1 {
				t.Errorf("%d iterations, want 1", s.LoopCount)
			}
		})
	}
}

func TestRalph_badKey_endsWith6(t *testing.T) {
	w := newProject(t, claude(), 1, mockllm.Builtin()["401"])
	exit := w.ralph("run").Wait(time.Minute)
	if s := w.status(); exit != 6 || s.ExitReason != "agent_unusable" || s.Outcome != "auth" {
		t.Errorf("exit %d, status %+v", exit, s)
	}
	if n := len(w.mock.Turns(scenario)); n != 1 {
		t.Errorf("%d calls with a bad key, want 1", n)
	}
}

func TestRalph_agentFallsSilentAfterItsWork_keepsTheWorkAndGoesOn(t *testing.T) {
	first := mockllm.Work(1, false)
	silent := mockllm.Step{Text: "I think about what to say.", Cut: &mockllm.Cut{After: 4, Hang: true}}
	run := slices.Concat(first[:2], []mockllm.Step{silent}, mockllm.Work(2, true))
	w := newProject(t, claude(), 2, mockllm.Scenario{Runs: [][]mockllm.Step{run}})
	exit := w.ralph("run", "--idle-timeout", "3s").Wait(time.Minute)
	w.finished(exit, 2)
	if w.Read("task1.txt") != "task 1\n" || w.Read("task2.txt") != "task 2\n" {
		t.Error("work is missing")
	}
	if got := w.outcomes(); len(got) != 2 || !strings.HasPrefix(got[0], "timeout-") || got[1] != "completed-turn" {
		t.Errorf("outcomes %q", got)
	}
}

// sleeps is how many parts of the command of the scenario "long-tool" are alive.
func (w *project) sleeps() (n int) {
	for _, cmd := range w.Living() {
		if cmd == "sleep 600" {
			n++
		}
	}
	return n
}

// commandRuns says that ralph, the CLI and both parts of its command are alive.
func (w *project) commandRuns() bool {
	ralph, agent := 0, 0
	for _, cmd := range w.Living() {
		switch {
		case strings.HasSuffix(cmd, "ralph run"):
			ralph++
		case strings.Contains(cmd, "--output-format"):
			agent++
		}
	}
	return ralph > 0 && agent > 0 && w.sleeps() == 2
}

// signalled sends ralph a signal and checks the end of the run.
func (w *project) signalled(p *world.Process, sig syscall.Signal, exit int) {
	w.Helper()
	p.Process.Signal(sig)
	began := time.Now()
	if got := p.Wait(20 * time.Second); got != exit {
		w.Errorf("exit %d, want %d", got, exit)
	}
	w.Logf("ended after %v", time.Since(began).Round(time.Millisecond))
	w.NoneLeft(0)
	if s := w.status(); s.ExitReason != "interrupted" || s.Status != "stopped" {
		w.Errorf("status %+v", s)
	}
}

func TestRalph_signalWhileACommandRuns_endsAndLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		sig  syscall.Signal
		exit int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 143}} {
		t.Run(c.sig.String(), func(t *testing.T) {
			w := newProject(t, claude(), 1, mockllm.Builtin()["long-tool"])
			p := w.ralph("run")
			w.Until("the agent's command runs", w.commandRuns)
			w.signalled(p, c.sig, c.exit)
		})
	}
}

func TestRalph_killed_leavesNoAgentAndTheNextRunCompletes(t *testing.T) {
	sc := mockllm.Builtin()["long-tool"]
	sc.Runs = append(sc.Runs, mockllm.Work(1, true))
	w := newProject(t, claude(), 1, sc)
	p := w.ralph("run")
	w.Until("the agent's command runs", w.commandRuns)
	p.Process.Kill()
	<-p.Exited
	w.NoneLeft(5 * time.Second)
	if status := w.ralph("status"); status.Wait(10*time.Second) != 1 || !strings.Contains(status.Said(), "crashed") {
		t.Errorf("ralph status of a killed runner: exit %d\n%s", status.ProcessState.ExitCode(), status.Said())
	}
	w.finished(w.ralph("run").Wait(time.Minute), 1)
}

func TestRalph_commandLeavesAProcessBehind_isEndedWithTheTurn(t *testing.T) {
	work := mockllm.Work(1, true)
	leave := mockllm.Step{Tools: []mockllm.Tool{{Name: "bash", Command: "setsid nohup sleep 601 >/dev/null 2>&1 & touch left-behind"}}}
	w := newProject(t, claude(), 1, mockllm.Scenario{Runs: [][]mockllm.Step{slices.Insert(work, 0, leave)}})
	w.finished(w.ralph("run").Wait(time.Minute), 1)
	if _, err := os.Stat(filepath.Join(w.Dir, "left-behind")); err != nil {
		t.Error("the command did not run")
	}
	w.NoneLeft(0)
}

func TestRalph_continue_resumesItsOwnSession(t *testing.T) {
	w := newProject(t, claude(), 2, mockllm.Plan(2))
	w.finished(w.ralph("run", "--continue").Wait(time.Minute), 2)
	fresh := slices.DeleteFunc(w.mock.Turns(scenario), func(r mockllm.Request) bool { return !r.Fresh })
	if len(fresh) != 2 || fresh[1].Messages < fresh[0].Messages+6 {
		t.Errorf("the second prompt does not follow the first in its conversation: %+v", fresh)
	}
}

// The demo needs no agent CLI, but the same binary, git and a shell.
func TestRalph_demo_completesAndShowsItsRules(t *testing.T) {
	w := newProject(t, claude(), 1, mockllm.Plan(1))
	w.Set("TMPDIR", t.TempDir())
	w.Set("HOME", "/nonexistent")
	began := time.Now()
	p := w.ralph("demo")
	if exit := p.Wait(time.Minute); exit != 0 {
		t.Errorf("exit %d", exit)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	for _, rule := range []string{"gate_failed", "claimed_incomplete", "complete"} {
		if !strings.Contains(p.Said(), "rule "+rule) {
			t.Errorf("rule %s is not shown", rule)
		}
	}
}

func TestRalph_ctrlCTypedInATerminal_endsWith130(t *testing.T) {
	w := newProject(t, claude(), 1, mockllm.Builtin()["long-tool"])
	p, terminal := w.OnTerminal("ralph", "run")
	w.Until("the agent's command runs", w.commandRuns)
	if _, err := terminal.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if exit := p.Wait(20 * time.Second); exit != 130 {
		t.Errorf("exit %d, want 130", exit)
	}
	w.NoneLeft(0)
}
