package runner

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// inGit makes the project a repository with one commit.
func (b *bench) inGit() {
	b.git("init", "-q")
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "first")
}

func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@localhost"}, args...)...)
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestRun_ticksWithoutWork_areTakenBackAndTold(t *testing.T) {
	t.Parallel()
	b := newBench(t, "ticker", "[ ] one", "[ ] two")
	b.inGit()
	b.o.AntiCheat = turn.AnswerRevert
	r := b.run(t.Context())
	wantEnd(t, r, "claimed_incomplete", state.ExitClaimed)
	if plan := b.read(planName); strings.Contains(plan, "[x]") {
		t.Errorf("a tick stands:\n%s", plan)
	}
	if p := b.prompt(); !strings.Contains(p, "ralph found this in your work") {
		t.Errorf("the agent was not told:\n%s", p)
	}
}

func TestRun_antiCheatWarn_leavesTheTicks(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "ticker", "[ ] one", "[ ] two")
	b.inGit()
	b.o.AntiCheat = "warn"
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
}

func TestRun_antiCheatHalt_endsTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, "ticker", "[ ] one", "[ ] two")
	b.inGit()
	b.o.AntiCheat = turn.AnswerHalt
	wantEnd(t, b.run(t.Context()), "integrity", state.ExitHalted)
}

// expecting is a test of A.
func expecting(n int) string {
	return fmt.Sprintf("package a\n\nfunc TestA(t *testing.T) {\n\tif got := A(); got != %d {\n\t\tt.Fatal(got)\n\t}\n}\n", n)
}

func TestRun_autoCommit_takesWhatTheAgentLeftAndNothingOfTheUsers(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "leaver", "[ ] one")
	b.write("mine.txt", "the user's")
	b.write("staged.txt", "old")
	b.inGit()
	b.write("mine.txt", "the user's, dirty")
	b.write("staged.txt", "new")
	b.git("add", "staged.txt")
	b.o.AutoCommit, b.o.CommitPrefix = true, "[ralph]"
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if log := b.git("log", "-1", "--format=%s%n%b", "--name-only"); !strings.Contains(log, "[ralph] one") || !strings.Contains(log, "work.txt") ||
		!strings.Contains(log, "Ralph-Iteration: 1") || strings.Contains(log, "mine.txt") || strings.Contains(log, "staged.txt") {
		t.Errorf("commit:\n%s", log)
	}
	if status := b.git("status", "--porcelain"); !strings.Contains(status, " M mine.txt") || !strings.Contains(status, "M  staged.txt") || strings.Contains(status, "work.txt") {
		t.Errorf("status:\n%s", status)
	}
}

// A person ticks a task between two runs, as ralph advises: the next commit has that tick, too.
func TestRun_autoCommit_planChangedBetweenTheRuns_isCommitted(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.write("mine.txt", "the user's")
	b.inGit()
	b.o.AutoCommit, b.o.MaxIterations = true, 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	b.write(planName, strings.Replace(b.read(planName), "[ ] two", "[x] two", 1))
	b.write("mine.txt", "the user's, later")
	b.o.MaxIterations, b.d.Resumed = 5, true
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if status := b.git("status", "--porcelain"); status != " M mine.txt\n" {
		t.Errorf("status:\n%s%s", status, b.said())
	}
}

func TestRun_autoCommit_whatIsLeftOut_isToldOnce(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "leaver", "[ ] one", "[ ] two")
	b.write("mine.txt", "the user's")
	b.inGit()
	b.write("mine.txt", "the user's, dirty")
	b.o.AutoCommit = true
	wantEnd(t, b.run(t.Context()), "complete", 0)
	commits := payloads[state.Commit](b)
	refused := state.Refusal{File: "mine.txt", Why: "it was changed before the run"}
	if s, err := b.w.Status(); err != nil || !slices.Equal(s.Uncommitted, []state.Refusal{refused}) {
		t.Errorf("status: %+v, %v", s.Uncommitted, err)
	}
	if len(commits) != 2 || !slices.Equal(slices.Concat(commits[0].Refused, commits[1].Refused), []state.Refusal{refused}) {
		t.Errorf("commits: %+v", commits)
	}
}

func TestRun_autoCommit_anotherGitHoldsTheBranch_theEndSaysSo(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.inGit()
	lock := ".git/" + strings.TrimSpace(b.git("symbolic-ref", "HEAD")) + ".lock"
	b.write(lock, "")
	b.o.AutoCommit = true
	b.run(t.Context())
	s, err := b.w.Status()
	if err != nil || len(s.Uncommitted) != 1 || s.Uncommitted[0].File != output.AllWork || !strings.Contains(s.Uncommitted[0].Why, lock) {
		t.Errorf("status: %+v, %v", s.Uncommitted, err)
	}
	if left := output.Committed(s.Uncommitted); len(left) != 0 {
		t.Errorf("after a commit: %+v", left)
	}
}

// A git that cannot commit is said once, when it happens, and a person has to look before the run counts as complete.
func TestRun_autoCommit_gitCannotCommit_isSaidOnceAndNeedsAReview(t *testing.T) {
	for name, hinder := range map[string]func(b *bench) string{
		"the index is locked": func(b *bench) string { b.write(".git/index.lock", ""); return "index.lock" },
		"the branch is locked": func(b *bench) string {
			lock := ".git/" + strings.TrimSpace(b.git("symbolic-ref", "HEAD")) + ".lock"
			b.write(lock, "")
			return lock
		},
	} {
		t.Run(name, func(t *testing.T) {
			world.Long(t, "a whole run with several calls")
			t.Parallel()
			b := newBench(t, "worker", "[ ] one", "[ ] two")
			b.inGit()
			b.o.AutoCommit = true
			why := hinder(b)
			r := b.run(t.Context())
			wantEnd(t, r, "review", state.ExitReview)
			if items := r.Decision.Review; len(items) != 1 || !strings.Contains(items[0].Text, why) || items[0].Show != "git status" {
				t.Errorf("to look at: %+v", items)
			}
			if said := payloads[state.Commit](b); len(said) != 1 || !strings.Contains(said[0].Why, why) {
				t.Errorf("said: %+v", said)
			}
			if s, err := b.w.Status(); err != nil || len(s.Uncommitted) != 1 {
				t.Errorf("status: %+v, %v", s.Uncommitted, err)
			}
		})
	}
}

// What a person changes while the run is paused is not work of the agent.
func TestRun_fileEditedWhilePaused_isNotCommitted(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.write("mine.txt", "the user's")
	b.write("work.txt", "old")
	b.inGit()
	b.o.AutoCommit = true
	b.d.Show = func(e state.Event) {
		b.seen = append(b.seen, e)
		if e.Kind == state.KindIterationStart && e.Iteration == 1 {
			b.ask(state.RequestPause)
		}
	}
	b.d.Tick = func(time.Duration, rules.Decision) {
		b.write("mine.txt", "the user's, edited")
		b.write("new.txt", "the user's")
		b.write(planName, strings.Replace(b.read(planName), "three", "three, but better", 1))
		b.ask(state.RequestResume)
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if log := b.git("log", "--name-only", "--format=%s"); strings.Contains(log, "new.txt") || strings.Count(log, "mine.txt") != 1 || strings.Count(log, "work.txt") != 4 {
		t.Errorf("commits:\n%s", log)
	}
	if status := b.git("status", "--porcelain"); status != " M mine.txt\n?? new.txt\n" {
		t.Errorf("status:\n%s", status)
	}
	for _, f := range payloads[state.Finding](b) {
		t.Errorf("finding %+v", f)
	}
}

// A stub that a person writes during a pause is not the agent's, also where all turns are taken together.
func TestRun_stubWrittenByAPersonWhilePaused_isNoFinding(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two", "[ ] three")
	b.inGit()
	b.d.Show = func(e state.Event) {
		b.seen = append(b.seen, e)
		if e.Kind == state.KindIterationStart && e.Iteration == 1 {
			b.ask(state.RequestPause)
		}
	}
	b.d.Tick = func(time.Duration, rules.Decision) {
		b.write("export.py", "def export():\n    raise NotImplementedError\n")
		b.ask(state.RequestResume)
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
}

// A call that met a limit may have worked before; undo takes that back too.
func TestRun_iterationTriedAgain_beginsWhereItsFirstTryBegan(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits after a failure")
	}
	t.Parallel()
	b := newBench(t, "limited", "[ ] one")
	b.inGit()
	wantEnd(t, b.run(t.Context()), "complete", 0)
	start := strings.TrimSpace(b.git("rev-parse", "refs/ralph/run-1/1-start"))
	if kept := b.git("log", "-1", "--format=%B", "refs/ralph/run-1/1"); !strings.Contains(kept, `"base":"`+start+`"`) {
		t.Errorf("start %s, kept:\n%s", start, kept)
	}
}

func TestRun_everyIteration_canBeGoneBackTo(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.inGit()
	wantEnd(t, b.run(t.Context()), "complete", 0)
	refs := b.git("for-each-ref", "--format=%(refname)", "refs/ralph")
	for _, n := range []string{"run-1/1", "run-1/2"} {
		if !strings.Contains(refs, n) {
			t.Errorf("no ref %s in:\n%s", n, refs)
		}
	}
	if got := b.git("show", "refs/ralph/run-1/1:work.txt"); got != "call 1" {
		t.Errorf("the first iteration left %q", got)
	}
}

func TestRun_iterationThatIsCutOff_stateIsKept(t *testing.T) {
	for _, how := range []state.Request{state.RequestAbort, state.RequestSkip, ""} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "sleeper", "[ ] one", "[ ] two")
			b.inGit()
			b.o.MaxIterations = 1
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				waitFor(t, filepath.Join(b.dir, "grandchild"))
				if how != "" {
					b.ask(how)
				} else {
					cancel(&rules.Interrupt{Exit: state.ExitInterrupted, ExitReason: "interrupted", Why: "SIGINT"})
				}
			}()
			b.run(ctx)
			if got := b.git("diff", "--name-only", "refs/ralph/run-1/1-start", "refs/ralph/run-1/1"); !strings.Contains(got, "work.txt") {
				t.Errorf("it changed %q", got)
			}
		})
	}
}
