package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/turn"
	"ralph/state"
)

// tickFakes are agents that tick more, or other, than they did.
var tickFakes = map[string]func(*fake) int{
	"stubborn-ticker": func(f *fake) int { // works once, then only ticks another task and claims
		if f.call == 1 {
			put("work.txt", "x")
		}
		text := read1("fix_plan.md")
		if i := strings.LastIndex(text, "- [ ]"); i >= 0 {
			put("fix_plan.md", text[:i]+"- [x]"+text[i+5:])
		}
		return f.result("ok"+block(true, ""), nil)
	},
	"helps-aside": func(f *fake) int { // its first task fails twice; the call for the second mends both
		if f.call > 2 {
			put("green", time.Now().String())
			f.tickAll()
			return f.result("ok"+block(true, ""), nil)
		}
		put("work.txt", time.Now().String())
		put(planName, strings.Replace(read1(planName), "- [ ]", "- [x]", 1))
		return f.result("ok"+block(false, ""), nil)
	},
	"ahead-then-confirm": func(f *fake) int { // all at once; then, asked for one, it ticks that one
		if f.call == 1 {
			put("work.txt", "all of it")
			f.tickAll()
			return f.result("ok"+block(true, ""), nil)
		}
		_, own, _ := strings.Cut(f.prompt, "## Your task\n\n")
		own, _, _ = strings.Cut(own, "\n")
		put(planName, strings.Replace(read1(planName), "- [ ] "+own, "- [x] "+own, 1))
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
	"looks-ahead": func(f *fake) int { // ticks what is there already before it works on the rest
		const last = "- [ ] parse_version(text) returns three numbers"
		if text := read1(planName); strings.Contains(text, last) {
			put(planName, strings.Replace(text, last, "- [x]"+last[5:], 1))
			return f.result("It is there."+block(false, ""), nil)
		}
		put("text.py", "def slugify_text(s):\n    return s.lower()\n")
		f.tickAll()
		return f.result("ok"+block(true, ""), nil)
	},
	"both-at-once": func(f *fake) int { // two of the tasks, and ticks all three
		put("text.py", "def slugify_text(s):\n    pass\n\n\ndef trim_text(s):\n    pass\n")
		f.tickAll()
		return f.result("ok"+block(false, ""), nil)
	},
	"all-then-tick": func(f *fake) int {
		if f.call == 1 {
			put("text.py", "def slugify_text(s):\n    return s.lower()\n\n\ndef trim_text(s):\n    return s.strip()\n")
		}
		put(planName, strings.Replace(read1(planName), "- [ ]", "- [x]", 1))
		return f.result("ok"+block(false, ""), nil)
	},
	"prolific": func(f *fake) int { // changes something else
		put("version.py", fmt.Sprintf("VERSION = %d\n", f.call))
		put(planName, strings.Replace(read1(planName), "- [ ]", "- [x]", 1))
		return f.result("ok"+block(false, ""), nil)
	},
	"tests-later": func(f *fake) int { // adds the tests once it is told
		put("mode.py", "def mode_of_values(v):\n    return max(v, key=v.count)\n")
		if strings.Contains(f.prompt, "asks for tests") {
			put("test_mode.py", "from mode import mode_of_values\n")
		}
		return f.tickFirst()
	},
	"tests-never": func(f *fake) int {
		put("mode.py", fmt.Sprintf("def mode_of_values(v):\n    return max(v, key=v.count)\n\nN = %d\n", f.call))
		return f.tickFirst()
	},
	"tests-first": func(f *fake) int {
		if f.call == 1 {
			put("test_mode.py", "from mode import mode_of_values\n")
			return f.result("ok"+block(false, ""), nil)
		}
		put("mode.py", "def mode_of_values(v):\n    return max(v, key=v.count)\n")
		return f.tickFirst()
	},
	"tests-inside-first": func(f *fake) int {
		if f.call == 1 {
			put("lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn mode() {}\n}\n")
			return f.result("ok"+block(false, ""), nil)
		}
		put("mode.rs", "fn mode_of_values() {}\n")
		return f.tickFirst()
	},
	"tests-inside": func(f *fake) int {
		put("mode.rs", "fn mode_of_values() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn mode() {}\n}\n")
		return f.tickFirst()
	},
	"builder": func(f *fake) int { // writes what git ignores
		_ = errors.Join(os.Mkdir("dist", 0o700), os.MkdirAll("src/__pycache__", 0o700))
		put("dist/app", "x")
		put("src/__pycache__/a.pyc", "x")
		return f.tickFirst()
	},
	"first-ticker": func(f *fake) int { // never works
		put(planName, strings.Replace(read1(planName), "- [ ]", "- [x]", 1))
		return f.result("ok"+block(false, ""), nil)
	},
	"half-way": func(f *fake) int {
		put("a_test.go", "package a\n")
		time.Sleep(time.Minute) // sleep: the agent is in the middle of an edit
		return 0
	},
	"prd-ticker": func(f *fake) int { // ticks its story and does nothing
		put("prd.json", strings.Replace(read1("prd.json"), "false", "true", 1))
		return f.result("ok"+block(true, ""), nil)
	},
}

func (f *fake) tickFirst() int {
	put(planName, strings.Replace(read1(planName), "- [ ]", "- [x]", 1))
	return f.result("ok"+block(!open1(planName), ""), nil)
}

// revert is a bench in git whose unearned ticks are taken back.
func revert(t *testing.T, fakeAgent string, boxes ...string) *bench {
	b := newBench(t, fakeAgent, boxes...)
	b.inGit()
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 40
	return b
}

// The turn that closes the first task does not count as a claim; each later one does.
func TestRun_otherTaskTickedAgainAndAgain_ends(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	for _, check := range []string{"", "true"} {
		b := newBench(t, "stubborn-ticker")
		b.write("fix_plan.md", "# Plan\n\n- [ ] one\n- [ ] two\n- [ ] three\n")
		b.d.Plan = filepath.Join(b.dir, "fix_plan.md")
		if check != "" {
			b.check(check)
		}
		b.inGit()
		b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 40
		if r := b.run(t.Context()); b.calls() > 5 || r.Decision.Exit == state.ExitComplete {
			t.Errorf("check %q: %d calls, %s", check, b.calls(), r.Decision.Reason)
		}
	}
}

func TestRun_allTickedWithoutAnyWork_eachTaskIsLookedAtByItself(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := revert(t, "ticker", "[ ] one", "[ ] two", "[ ] three")
	b.check("true")
	if r := b.run(t.Context()); r.Decision.Exit == state.ExitComplete && b.calls() < 6 {
		t.Errorf("complete after %d calls", b.calls())
	}
}

func TestRun_noWorkInAnyCall_endsSoon(t *testing.T) {
	t.Parallel()
	b := revert(t, "first-ticker", "[ ] one", "[ ] two")
	if r := b.run(t.Context()); b.calls() > 6 || r.Decision.Exit == state.ExitComplete {
		t.Errorf("%d calls, %s", b.calls(), r.Decision.Reason)
	}
}

func TestRun_taskPutAsideIsDoneWithTheNext_completes(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := revert(t, "helps-aside", "[ ] one", "[ ] two")
	b.check("test ! -f work.txt || test -f green")
	b.o.MaxRetries = 1
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
}

func TestRun_workDoneAhead_isRememberedByTheNextRun(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := revert(t, "ahead-then-confirm", "[ ] one", "[ ] two", "[ ] three")
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	b.d.RunID = "run-2" // as ralph once does
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	b.o.MaxIterations, b.d.Resumed = 20, true
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete) // each tick that nothing shows was confirmed in a turn
	if b.calls() != 3 {
		t.Errorf("%d calls", b.calls())
	}
}

func TestRun_skipWhileChecksRunAndAllIsTicked_isNotComplete(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "claimer", "[x] one")
	b.o.MaxIterations = 3
	b.check("test -f n3 && exit 1; test -f n2 && { touch n3; sleep 600; }; test -f n1 && touch n2; touch n1; exit 1")
	b.sendWhen(state.RequestSkip, "the check", func() bool { return len(glob(b.dir+"/n3")) == 1 })
	if r := b.run(t.Context()); r.Decision.Exit == state.ExitComplete {
		t.Errorf("complete although no check ever passed: %s", r.Decision.Reason)
	}
}

func TestRun_skipInTheMiddleOfAnEdit_isNotJudged(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "half-way", "[ ] one", "[ ] two")
	b.write("a_test.go", expecting(0))
	b.inGit()
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerHalt, 1
	b.sendWhen(state.RequestSkip, "the edit", func() bool { return strings.TrimSpace(read1(b.dir+"/a_test.go")) == "package a" })
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
}

func TestRun_resumedStatusWithoutAStart_countsNoTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.o.MaxIterations = 1
	b.run(t.Context())
	b.restatus(func(s *state.Status) { s.StartedAt = time.Time{} })
	b.o.MaxIterations, b.o.MaxDuration, b.d.Resumed = 0, 2*time.Hour, true
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
}

func TestRun_planOfAProjectInASubfolder_isNoCode(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "prd-ticker")
	b.write("prd.json", `{"userStories":[{"id":"US-1","title":"one","passes":false}]}`)
	b.d.Plan = b.dir + "/prd.json"
	dir := b.dir
	b.dir = filepath.Dir(b.dir)
	b.write(".gitignore", "/00[2-9]/\n") // the test's other folders
	b.inGit()
	b.dir = dir
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 3
	if b.run(t.Context()); !strings.Contains(strings.Join(b.found(state.FoundByAudit), "\n"), "this run has changed no file") {
		t.Error("the tick of the plan counted as work")
	}
}

func TestRun_workThatGitIgnores_countsWhereTheTaskNamesIt(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]int{"build dist/ for the stick": state.ExitComplete, "count the words": state.ExitReview,
		"validate the input in src/": state.ExitReview} {
		b := newBench(t, "builder", "[ ] "+title)
		b.write(".gitignore", "/dist/\n__pycache__/\n")
		b.check("true")
		b.inGit()
		b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 5
		if r := b.run(t.Context()); r.Decision.Exit != want {
			t.Errorf("%s: %d, %s", title, r.Decision.Exit, r.Decision.Reason)
		}
	}
}

// The second task's work is in the first one's change: its test names it.
func TestRun_bothTasksInOneTurn_bothTicksStandAndSayWhoseWorkTheyAre(t *testing.T) {
	t.Parallel()
	b := revert(t, "both-at-once", "[ ] add slugify_text", "[ ] add trim_text", "[ ] write the docs")
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if text := b.read(planName); strings.Count(text, "[x]") != 2 || !strings.Contains(text, "[ ] write the docs") {
		t.Errorf("ticks that stand:\n%s\n%s", text, b.said())
	}
	s, err := b.d.State.Status()
	if err != nil {
		t.Fatal(err)
	}
	done, linked := 0, 0
	for _, m := range s.Tasks {
		if got := m.Iterations("run-1"); m.Done && len(got) == 1 && got[0] == 1 {
			done++
		}
		for _, w := range m.Work {
			if w.By == "names" && w.What == "trim_text" {
				linked++
			}
		}
	}
	if done != 2 || linked != 1 {
		t.Errorf("%+v", s.Tasks)
	}
	told := false
	for _, c := range payloads[state.TaskChange](b) {
		told = told || c.Title == "add trim_text" && c.State == state.TaskDone && strings.Contains(c.Why, "iteration 1")
	}
	if !told {
		t.Error("nobody says that the second task is done")
	}
}

// The work of the second task was done in the turn of the first, which ticked only its own.
func TestRun_workDoneAheadAndTickedLater_needsNoChangeAndNoReview(t *testing.T) {
	t.Parallel()
	b := revert(t, "all-then-tick", "[ ] add slugify_text", "[ ] add trim_text")
	b.check("true")
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if b.calls() != 2 {
		t.Errorf("%d calls, want one for each task", b.calls())
	}
}

func TestRun_taskThatAsksForNoChange_isDoneWithoutOne(t *testing.T) {
	t.Parallel()
	b := revert(t, "first-ticker", "[ ] Verify that all tests pass", "[ ] Double-check that no file handle stays open")
	b.check("true")
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if b.calls() != 2 {
		t.Errorf("%d calls, want one for each task", b.calls())
	}
}

func TestRun_codeWasThereBeforeTheRun_isDoneWithASecondTick(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]int{"parse_version(text) returns three numbers": state.ExitComplete, "make parse_version(text) faster": state.ExitReview} {
		b := revert(t, "first-ticker", "[ ] "+title)
		b.write("version.py", "def parse_version(text):\n    return text.split('.')\n")
		b.git("add", "-A")
		b.git("commit", "-qm", "Add version.py")
		b.check("true")
		if r := b.run(t.Context()); r.Decision.Exit != want || b.calls() != 2 {
			t.Errorf("%s: %d calls, %s", title, b.calls(), r.Decision.Reason)
		}
	}
}

func TestRun_codeWasThereBeforeTheRunAndIsTickedFirst_itsOwnTurnComesNext(t *testing.T) {
	t.Parallel()
	b := revert(t, "looks-ahead", "[ ] slugify_text(s) lowers s", "[ ] parse_version(text) returns three numbers")
	b.write("version.py", "def parse_version(text):\n    return text.split('.')\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "Add version.py")
	b.check("true")
	if r := b.run(t.Context()); r.Decision.Exit != state.ExitComplete || b.calls() != 3 {
		t.Errorf("%d calls, %s", b.calls(), r.Decision.Reason)
	}
}

func TestRun_codeThatTheTaskNamesIsNowhere_isToldAndThenReviewed(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"add mode_of_values, with tests":                              "mode_of_values is nowhere in the project",
		"limit: at most 10 mails a minute, raise `RateLimited` above": "RateLimited is nowhere in the project",
		"Write tools/bench.py, which times load on 1000 rows":         "bench.py is nowhere in the project",
	} {
		b := revert(t, "prolific", "[ ] "+title)
		b.check("true")
		wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
		if found := strings.Join(b.found(state.FoundByAudit), "\n"); !strings.Contains(found, want) {
			t.Errorf("%s: %s", title, found)
		}
	}
}

func TestRun_taskAsksForTests_isDoneOnlyWithSome(t *testing.T) {
	world.Long(t, "whole runs")
	t.Parallel()
	const title = "[ ] Add mode_of_values(values), with tests"
	for name, c := range map[string]struct {
		agent string
		more  string // a test file of the project
		calls int
		exit  int
	}{
		"never":             {"tests-never", "", 3, state.ExitReview},
		"once told":         {"tests-later", "", 2, state.ExitComplete},
		"in the file":       {"tests-inside", "", 1, state.ExitComplete},
		"in a file before":  {"tests-inside-first", "", 2, state.ExitComplete},
		"before the code":   {"tests-first", "", 2, state.ExitComplete},
		"are there":         {"tests-never", "from mode import mode_of_values\n", 1, state.ExitComplete},
		"of something else": {"tests-never", "from other import sort\n", 3, state.ExitReview},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := revert(t, c.agent, title)
			if c.more != "" {
				b.write("test_mode.py", c.more)
				b.git("add", "-A")
				b.git("commit", "-qm", "Add a test")
			}
			b.check("true")
			r := b.run(t.Context())
			if r.Decision.Exit != c.exit || b.calls() != c.calls {
				t.Errorf("%d calls, exit %d: %s\n%s", b.calls(), r.Decision.Exit, r.Decision.Reason, strings.Join(b.found(state.FoundByAudit), "\n"))
			}
		})
	}
}
