package runner

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/git"
	"ralph/runner/hooks"
	"ralph/runner/rules"
	"ralph/state"
)

// trace is a hook for each of the points that writes down when it ran, and what it knew.
func (b *bench) trace(points ...hooks.Row) {
	for _, p := range points {
		b.d.Hooks = append(b.d.Hooks, hooks.Hook{Point: p.Point,
			Command: `echo "$RALPH_POINT $RALPH_ITERATION $TASK_NAME $RALPH_STORY_STATUS $RALPH_EXIT_CODE" | sed 's/  */ /g; s/ $//' >>.ralph/trace; cat >.ralph/stdin.` + string(p.Point)})
	}
}

func (b *bench) traced() []string {
	return strings.Split(strings.TrimSpace(b.read(".ralph/trace")), "\n")
}

// told is what the prompts said about the past.
func (b *bench) told() string {
	var all []string
	for _, f := range payloads[state.Feedback](b) {
		all = append(all, f.Items...)
	}
	return strings.Join(all, "\n")
}

// repository makes the project one.
func (b *bench) repository() {
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "start"}} {
		if out, err := exec.Command("git", append([]string{"-C", b.dir}, args...)...).CombinedOutput(); err != nil {
			b.t.Fatalf("%v: %s", err, out)
		}
	}
}

func TestHooks_points_runInTheOrderOfTheRun(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.trace(hooks.Points()...)
	wantEnd(t, b.run(t.Context()), "complete", 0)
	want := []string{"run_start 0", "pre_task 1 one open", "pre_iteration 1 one open", "on_story_complete 1 one done", "post_task 1 one done",
		"post_iteration 1 one done", "pre_task 2 two open", "pre_iteration 2 two open", "on_story_complete 2 two done", "post_task 2 two done",
		"post_iteration 2 two done", "on_complete 2 two done 0"}
	if got := b.traced(); !slices.Equal(got, want) {
		t.Errorf("ran\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var f hooks.Facts
	if err := json.Unmarshal([]byte(b.read(".ralph/stdin.post_task")), &f); err != nil || f.V != hooks.Version || f.Task.Title != "two" ||
		f.Mode != "standalone" || f.Total != 2 || f.Done != 2 || f.Agent != "claude" || f.Outcome != "completed-turn" || f.Project != b.dir {
		t.Errorf("stdin: %+v, %v", f, err)
	}
	for _, h := range payloads[state.Hook](b) {
		if h.Failed != "" || h.Seconds <= 0 {
			t.Errorf("event: %+v", h)
		}
	}
}

func TestHooks_failuresOfTheRun_haveTheirPoints(t *testing.T) {
	for agent, want := range map[string]struct {
		point, says string
		exit        int
	}{
		"crasher": {"on_error", "on_error 1 one", 3}, "limited-long": {"on_limit", "on_limit 1 one", 7}, "idler": {"on_halt", "on_halt 3 one open 3", 3},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, agent, "[ ] one")
			b.o.OnLimit = "stop"
			p, err := hooks.Find(want.point)
			if err != nil {
				t.Fatal(err)
			}
			b.trace(p)
			if r := b.run(t.Context()); r.Decision.Exit != want.exit {
				t.Fatalf("ended with %+v", r.Decision)
			}
			if got := b.traced()[0]; !strings.HasPrefix(got, want.says) {
				t.Errorf("ran %q, want %q", got, want.says)
			}
			if said := b.read(".ralph/stdin." + want.point); !strings.Contains(said, `"error":"`) {
				t.Errorf("no error in %s", said)
			}
		})
	}
}

// bad are the ways in which a hook can go wrong.
var bad = map[string]string{
	"fails":  "echo broken >&2; exit 3",
	"hangs":  "sleep 600",
	"forks":  "setsid sleep 600 & echo $! >.ralph/forked; exit 3",
	"floods": "yes flooded | head -c 30000000; exit 3",
}

func TestHooks_badHook_costsWhatItsRowSays(t *testing.T) {
	if testing.Short() {
		t.Skip("long: every point with hooks that hang, fork and flood")
	}
	for how, command := range bad {
		for _, answer := range hooks.OnFailures() {
			t.Run(how+"/"+string(answer), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, "worker", "[ ] one")
				b.d.Hooks = []hooks.Hook{{Point: hooks.PreTask, Command: command, OnFailure: answer, Timeout: time.Second}}
				r := b.run(t.Context())
				want := map[hooks.OnFailure]struct{ exit, calls int }{hooks.WarnContinue: {0, 1}, hooks.SkipTask: {8, 0},
					hooks.AbortLoop: {3, 0}, hooks.AskAgent: {0, 1}}[answer]
				if r.Decision.Exit != want.exit || b.calls() != want.calls {
					t.Errorf("%d calls, ended with %+v", b.calls(), r.Decision)
				}
				ran := payloads[state.Hook](b)
				if len(ran) != 1 || ran[0].Failed == "" || len(ran[0].Output) > 10<<10 || ran[0].Seconds > 8 {
					t.Errorf("events: %.300v", ran)
				}
				told := strings.Contains(b.told(), "A hook of the user failed")
				if told != (answer == hooks.AskAgent) {
					t.Errorf("told the agent: %v", told)
				}
				forked, _ := os.ReadFile(filepath.Join(b.dir, ".ralph/forked"))
				if pid, err := strconv.Atoi(strings.TrimSpace(string(forked))); err == nil && syscall.Kill(pid, 0) == nil {
					t.Errorf("process %d of the hook is left", pid)
				}
			})
		}
	}
}

func TestHooks_answers(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		point         hooks.Point
		exit, calls   int
		told          string
	}{
		{"a block before a task puts it aside", `echo '{"block": true, "reason": "not today"}'`, hooks.PreTask, 8, 0, ""},
		{"a block of the run ends it", `echo '{"block": true, "reason": "not today"}'`, hooks.RunStart, 3, 0, ""},
		{"a block after a task reaches the agent", `echo '{"block": true, "reason": "no docs"}'`, hooks.OnStoryComplete, 0, 2, "no docs"},
		{"a note reaches the agent", `echo working; echo '{"note": "mind the tests"}'`, hooks.PreIteration, 0, 2, "mind the tests"},
		{"a note after the turn reaches the next", `echo '{"note": "mind the tests"}'`, hooks.PostIteration, 0, 2, "mind the tests"},
		{"other JSON is not an answer", `echo '{"blocked": true}'`, hooks.PreTask, 0, 2, ""},
		{"an answer in the middle is none", `echo '{"block": true}'; echo done`, hooks.PreTask, 0, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "worker", "[ ] one", "[ ] two")
			b.d.Hooks = []hooks.Hook{{Point: tt.point, Command: tt.command}}
			if r := b.run(t.Context()); r.Decision.Exit != tt.exit || b.calls() != tt.calls {
				t.Errorf("%d calls, ended with %+v", b.calls(), r.Decision)
			}
			if said := b.told(); tt.told != "" && !strings.Contains(said, tt.told) {
				t.Errorf("the agent was not told %q:\n%s", tt.told, said)
			}
		})
	}
}

func TestHooks_filesThatAHookChanges_areNotTheAgents(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	b := newBench(t, "idler", "[ ] one", "[ ] two")
	b.repository()
	b.d.Hooks = []hooks.Hook{{Point: hooks.PreIteration, Command: "date +%s%N >>made"}, {Point: hooks.PostIteration, Command: "date +%s%N >>made-after"}}
	wantEnd(t, b.run(t.Context()), "stagnation", 3)
	for _, end := range payloads[state.IterationEnd](b) {
		if end.Files != 0 {
			t.Errorf("the agent changed %d files", end.Files)
		}
	}
	for _, h := range payloads[state.Hook](b) {
		if len(h.Files) != 1 || !strings.HasPrefix(h.Files[0], "made") {
			t.Errorf("%s changed %v", h.Point, h.Files)
		}
	}
}

func TestHooks_preCommit_canRefuseTheCommit(t *testing.T) {
	for command, want := range map[string]int{"true": 1, `echo '{"block": true, "reason": "no"}'`: 0} {
		b := newBench(t, "leaver", "[ ] one")
		b.repository()
		b.o.CommitOptions = git.CommitOptions{AutoCommit: true, CommitPrefix: "[ralph]"}
		b.d.Hooks = []hooks.Hook{{Point: hooks.PreCommit, Command: command}}
		end := b.run(t.Context())
		wantEnd(t, end, "complete", 0)
		if got := b.committed(); got != want || (len(end.Uncommitted) > 0) != (want == 0) {
			t.Errorf("%s: %d commits, want %d; uncommitted: %v", command, got, want, end.Uncommitted)
		}
	}
}

// What blocks a commit that nobody makes keeps nothing back.
func TestHooks_preCommit_nothingToCommit_doesNotRun(t *testing.T) {
	b := newBench(t, "idler", "[ ] one")
	b.repository()
	b.o.CommitOptions = git.CommitOptions{AutoCommit: true, CommitPrefix: "[ralph]"}
	b.d.Hooks = []hooks.Hook{{Point: hooks.PreCommit, Command: `echo '{"block": true, "reason": "no"}'`}}
	end := b.run(t.Context())
	if ran := payloads[state.Hook](b); len(ran) > 0 || len(end.Uncommitted) > 0 {
		t.Errorf("ran %+v; uncommitted: %v", ran, end.Uncommitted)
	}
}

// committed counts the commits that were made.
func (b *bench) committed() (n int) {
	for _, c := range payloads[state.Commit](b) {
		if c.OID != "" {
			n++
		}
	}
	return n
}

func TestHooks_secrets_areNeitherGivenNorShown(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.d.Env = append(b.d.Env, "MY_TOKEN=tok-0123456789abcdef")
	b.d.Hooks = []hooks.Hook{{Point: hooks.RunStart, Command: "echo [$MY_TOKEN]; cat ../secret"}}
	if err := os.WriteFile(filepath.Join(b.dir, "..", "secret"), []byte("tok-0123456789abcdef sk-ant-api03-"+strings.Repeat("a", 80)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(t.Context())
	out := payloads[state.Hook](b)[0].Output
	if !strings.HasPrefix(out, "[]") || strings.Contains(out, "0123456789") || strings.Contains(out, strings.Repeat("a", 40)) {
		t.Errorf("output: %s", out)
	}
}

func TestHooks_personEndsTheRun_endsTheHook(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.d.Hooks = []hooks.Hook{{Point: hooks.PreIteration, Command: "echo $$ >.ralph/hook; sleep 600", Timeout: time.Hour}, {Point: hooks.OnHalt, Command: "touch .ralph/halted"}}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		waitFor(t, filepath.Join(b.dir, ".ralph/hook"))
		cancel(&rules.Interrupt{Exit: state.ExitInterrupted, ExitReason: "interrupted", Why: "Ctrl-C"})
	}()
	if r := b.run(ctx); r.Decision.Exit != state.ExitInterrupted || b.calls() != 0 {
		t.Errorf("%d calls, ended with %+v", b.calls(), r.Decision)
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".ralph/halted")); err != nil {
		t.Errorf("no hook at the end: %v", err)
	}
}

func TestHooks_none_promptIsTheSameToTheByte(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	prompts := map[bool]string{}
	for _, with := range []bool{false, true} {
		b := newBench(t, "memory", "[ ] one", "[ ] two")
		if with {
			b.d.Hooks = []hooks.Hook{{Point: hooks.PreIteration, Command: "true"}, {Point: hooks.PostIteration, Command: "true"}}
		}
		b.run(t.Context())
		prompts[with] = strings.ReplaceAll(b.read("prompt-1")+b.read("prompt-2"), b.dir, "")
	}
	if prompts[true] != prompts[false] || prompts[true] == "" {
		t.Errorf("with hooks that say nothing:\n%s\nwithout:\n%s", prompts[true], prompts[false])
	}
}

func TestHooks_agent_isAskedAndAnswers(t *testing.T) {
	for fake, want := range map[string]struct {
		calls, exit int
		told        string
	}{"judge": {4, 0, "mind the tests"}, "judge-against": {2, 8, ""}} {
		t.Run(fake, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, fake, "[ ] one", "[ ] two")
			b.d.Hooks = []hooks.Hook{{Point: hooks.PreIteration, Type: hooks.Agent, Prompt: "Is this a good day?"}}
			if r := b.run(t.Context()); r.Decision.Exit != want.exit || b.calls() != want.calls || r.Usage.CostUSD < 0.1*float64(want.calls) {
				t.Errorf("%d calls for $%.2f, ended with %+v", b.calls(), r.Usage.CostUSD, r.Decision)
			}
			if !strings.Contains(b.told(), want.told) {
				t.Errorf("told %q", b.told())
			}
			if c, err := b.w.Calls(); err != nil || want.exit == 0 && c.Calls != want.calls {
				t.Errorf("counted %d calls, %v", c.Calls, err)
			}
		})
	}
}

func TestHooks_agentAtTheEnd_isCountedOnDisk(t *testing.T) {
	b := newBench(t, "judge", "[ ] one")
	b.d.Hooks = []hooks.Hook{{Point: hooks.OnComplete, Type: hooks.Agent, Prompt: "Is this a good day?"}}
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if c, err := b.w.Calls(); err != nil || c.Calls != 2 || b.calls() != 2 {
		t.Errorf("counted %d of %d calls, %v", c.Calls, b.calls(), err)
	}
}

func TestHooks_events_nameTheirIteration(t *testing.T) {
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.trace(hooks.Points()...)
	b.run(t.Context())
	for _, e := range b.seen {
		h, ok := e.Data.(state.Hook)
		if ok && e.Iteration > 2 {
			t.Errorf("%s: iteration %d", h.Point, e.Iteration)
		}
	}
}

func TestHooks_statusOfAStory_isInTheWordsOfThePlan(t *testing.T) {
	b := newBench(t, "aios")
	b.write("docs/stories/1.2.login.story.md", "# Story 1.2: Login\n\n## Status\n\nReady\n")
	b.d.Plan = filepath.Join(b.dir, "docs/stories")
	b.o.MaxIterations = 1
	b.d.Hooks = []hooks.Hook{{Point: hooks.PreTask, Command: `echo "$RALPH_MODE $RALPH_STORY_STATUS" >.ralph/before`}}
	b.run(t.Context())
	if got := b.read(".ralph/before"); got != "aios Ready\n" {
		t.Errorf("%q", got)
	}
}

func TestHooks_questionPutsItsTaskAside_theRunWaitsForNoAnswer(t *testing.T) {
	b, _ := atPoint(t, hooks.OnQuestion)
	b.o.QuestionWait = time.Minute
	b.d.Hooks = []hooks.Hook{{Point: hooks.OnQuestion, Command: "exit 3", OnFailure: hooks.SkipTask}}
	ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	if r := b.run(ctx); r.Decision.Exit != 8 || r.Decision.Rule != "tasks_put_aside" {
		t.Errorf("ended with %+v", r.Decision)
	}
}
