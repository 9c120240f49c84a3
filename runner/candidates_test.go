package runner

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"ralph/runner/hooks"
	"ralph/runner/rules"
	"ralph/runner/slots"
	"ralph/state"
)

// candidateFakes fail at first. After that, what they do depends on the name of the agent.
var candidateFakes = map[string]func(*fake) int{
	"best": func(f *fake) int {
		return f.candidate(map[string]string{"claude": "bad\n", "x": "good\ngood\ngood\n", "y": "good\n"})
	},
	"best-red": func(f *fake) int { return f.candidate(nil) },
	"best-cut": func(f *fake) int {
		if os.Getenv(fakeAgentName) == "y" {
			put("code", "good\n")
			return 3 // without an end
		}
		return f.candidate(map[string]string{"claude": "bad\n", "x": "good\ngood\n"})
	},
	"best-slow": func(f *fake) int {
		put("code", os.Getenv(fakeAgentName)+"\n")
		if once("first") {
			return f.candidate(nil)
		}
		time.Sleep(time.Minute) // sleep: the agent hangs
		return 1
	},
}

func (f *fake) candidate(code map[string]string) int {
	text, first := code[os.Getenv(fakeAgentName)], once("first")
	if text == "" || first {
		text = "bad\n"
	}
	put("code", text)
	put(planName, strings.Replace(read1(planName), "- [ ]", "- [x]", 1))
	return f.result("Did it."+block(false, ""), nil)
}

func newCandidates(t *testing.T, agent string) *bench {
	t.Helper()
	b := newBench(t, agent, "[ ] write code")
	b.o.SlotOptions = slots.SlotOptions{Parallel: 1, Isolate: slots.IsolateWorktree, Land: slots.LandCheckout, BestOf: 3}
	b.o.FallbackAgents, b.o.MaxRetries = []string{"x", "y"}, 2
	b.check("! grep bad code")
	b.inGit()
	return b
}

// beaten are the reasons why candidates did not go on.
func (b *bench) beaten() (all []string) {
	for _, end := range payloads[state.IterationEnd](b) {
		if end.Rule == "candidate_lost" {
			all = append(all, end.Reason)
		}
	}
	return all
}

func TestBestOf_afterAFailure_theSmallestGreenCandidateLands(t *testing.T) {
	if testing.Short() {
		t.Skip("long: several candidates")
	}
	t.Parallel()
	b := newCandidates(t, "best")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if got := b.order(); !strings.HasPrefix(got, "+ - + + + ") || strings.Count(got, "landed") != 1 || strings.Count(got, "-") != 4 {
		t.Error(got)
	}
	if got := b.read("code"); got != "good\n" {
		t.Errorf("landed %q", got)
	}
	lost := strings.Join(b.beaten(), "\n")
	for _, want := range []string{
		"candidate 1 of 3: it is not finished, or does not pass the checks; its work stays as refs/ralph-candidates/run-1/2",
		"candidate 2 of 3: another candidate passes with fewer lines (1, this one has 3); its work stays as refs/ralph-candidates/run-1/3",
	} {
		if !strings.Contains(lost, want) {
			t.Errorf("no %q in\n%s", want, lost)
		}
	}
	for _, end := range payloads[state.IterationEnd](b) {
		if end.Rule == "candidate_lost" && end.TaskDone {
			t.Errorf("a candidate that lost counts as done: %+v", end)
		}
	}
	if got := b.git("show", "refs/ralph-candidates/run-1/3:code"); got != "good\ngood\ngood\n" {
		t.Errorf("kept %q", got)
	}
	if got := b.git("for-each-ref", "refs/ralph-work", "refs/heads/ralph"); got != "" {
		t.Errorf("left: %s", got)
	}
	if s := b.status(); s.CallsThisHour != 4 || s.LoopCount != 4 || s.Usage.CostUSD != 1 {
		t.Errorf("%d calls, %d iterations, cost %v", s.CallsThisHour, s.LoopCount, s.Usage.CostUSD)
	}
}

func TestBestOf_noneIsGreen_nothingLandsAndItCountsAsOneTry(t *testing.T) {
	if testing.Short() {
		t.Skip("long: three worktrees")
	}
	t.Parallel()
	b := newCandidates(t, "best-red")
	if r := b.run(t.Context()); r.Decision.Exit == 0 {
		t.Errorf("%+v", r.Decision)
	}
	if got := b.order(); strings.Contains(got, "landed") || strings.Count(got, "+") != 7 { // 1, and two retries of 3
		t.Errorf("%s (%s)", got, b.rules())
	}
	if _, err := os.Stat(b.dir + "/code"); err == nil {
		t.Error("red work reached the files of the user")
	}
	if got := b.git("for-each-ref", "--format=%(refname)", "refs/ralph-candidates"); strings.Count(got, "\n") != 4 {
		t.Errorf("kept: %s", got)
	}
}

func TestBestOf_oneIsCutOff_theOthersDecide(t *testing.T) {
	if testing.Short() {
		t.Skip("long: three worktrees")
	}
	t.Parallel()
	b := newCandidates(t, "best-cut")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if got := b.read("code"); got != "good\ngood\n" {
		t.Errorf("landed %q", got)
	}
	if lost := strings.Join(b.beaten(), "\n"); !strings.Contains(lost, "candidate 3 of 3: it was cut off") {
		t.Error(lost)
	}
}

func TestBestOf_abort_keepsTheWorkOfAll(t *testing.T) {
	if testing.Short() {
		t.Skip("long: three worktrees")
	}
	t.Parallel()
	b := newCandidates(t, "best-slow")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	show, begun := b.d.Show, 0
	b.d.Show = func(e state.Event) {
		show(e)
		if _, ok := e.Data.(state.SessionStart); ok {
			if begun++; begun == 4 {
				time.AfterFunc(300*time.Millisecond, func() { b.ask(state.RequestAbort) })
			}
		}
	}
	if r := b.run(ctx); r.Decision.ExitReason != "aborted" {
		t.Errorf("%+v", r.Decision)
	}
	if got := b.git("for-each-ref", "--format=%(refname)", "refs/ralph-candidates", "refs/ralph-work"); strings.Count(got, "\n") != 3 {
		t.Errorf("kept: %s", got)
	}
}

func TestBestOf_boundOfIterations_isKept(t *testing.T) {
	if testing.Short() {
		t.Skip("long: three worktrees")
	}
	t.Parallel()
	b := newCandidates(t, "best")
	b.o.MaxIterations = 3
	b.run(t.Context())
	if got := strings.Count(b.order(), "+"); got != 3 {
		t.Errorf("%d iterations", got)
	}
}

func TestBestOf_withoutWorktrees_endsWithOneLine(t *testing.T) {
	t.Parallel()
	b := newCandidates(t, "best")
	b.o.Isolate = slots.IsolateNone
	if r := b.run(t.Context()); r.Decision.Exit != rules.ExitUsage || !strings.Contains(r.Decision.Reason, "BEST_OF needs worktrees") || b.calls() > 0 {
		t.Errorf("%+v", r.Decision)
	}
}

func TestHooks_inSlots_haveTheNumberOfTheirIteration(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside", "a", "b", "c")
	seen := t.TempDir() + "/seen"
	b.d.Hooks = []hooks.Hook{{Point: hooks.PreIteration, Command: "echo $RALPH_ITERATION >> " + seen, Timeout: 10 * time.Second}}
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got, _ := os.ReadFile(seen); string(got) != "1\n2\n3\n" {
		t.Errorf("%q", got)
	}
}

func TestBestOf_winnerBeganAfresh_isKeptWithoutWhatWasBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("long: three worktrees")
	}
	t.Parallel()
	b := newCandidates(t, "best")
	b.run(t.Context())
	for ref, want := range map[string]bool{"1": false, "2": false, "4": true} {
		if got := strings.Contains(b.git("log", "-1", "--format=%B", "refs/ralph/run-1/"+ref), `"afresh":true`); got != want {
			t.Errorf("iteration %s: afresh %t", ref, got)
		}
	}
}
