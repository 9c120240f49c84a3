package runner

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/runner/hooks"
	"ralph/runner/roles"
	"ralph/state"
)

// besideReviewFakes work side by side and are reviewed there. They name their task's file.
var besideReviewFakes = map[string]func(*fake) int{
	"beside-strict-once": func(f *fake) int { // refuses the first work on a
		if code, asked := f.verdict(func(_, nonce string) string {
			if strings.Contains(f.prompt, "write a") && once("refused") {
				return says(nonce, "fail", 30, "a is too short")
			}
			if strings.Contains(f.prompt, "write a") && read1("a") == "" || strings.Contains(f.prompt, "write b") && read1("b") == "" {
				return says(nonce, "fail", 0, "the work is not here")
			}
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		return f.beside(0)
	},
	"beside-evidence": func(f *fake) int { // its judge wants to see evidence, and says where
		if code, asked := f.verdict(func(_, nonce string) string {
			if !strings.Contains(f.prompt, "it works, see here") {
				return says(nonce, "fail", 0, "no evidence")
			}
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		if _, after, told := strings.Cut(f.prompt, "leave files that show the result in "); told {
			dir, _, _ := strings.Cut(strings.Fields(after)[0], "\n")
			_ = os.MkdirAll(dir, 0o755)
			put(dir+"/proof.txt", "it works, see here")
			_ = os.Symlink("/etc/passwd", dir+"/link")
		}
		return f.beside(0)
	},
	"beside-both-pass": func(f *fake) int {
		if code, asked := f.verdict(func(_, nonce string) string { return says(nonce, "pass", 90, "") }); asked {
			return code
		}
		return f.beside(0)
	},
	"beside-after-a": func(f *fake) int { // b begins before a has landed, and ends after it
		if code, asked := f.verdict(func(_, nonce string) string { return says(nonce, "pass", 90, "") }); asked {
			return code
		}
		if code := f.beside(0); strings.HasSuffix(f.ownTask(), " a") {
			return code
		}
		for range 600 {
			if exec.Command("git", "grep", "-q", "shared a", "ralph/run-1", "--", "shared").Run() == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		return 0
	},
}

// courses is who worked on each task, in order.
func (b *bench) courses() map[string]string {
	all := map[string]string{}
	for _, e := range b.seen {
		if end, ok := e.Data.(state.IterationEnd); ok {
			all[e.Task] += e.Role + " " + end.Rule + ", "
		}
	}
	return all
}

func TestReview_inSlots_refusedWorkGoesBack_andOnlyWhatPassesLands(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-strict-once", "a", "b")
	b.o.QA = true
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	var got []string
	for _, course := range b.courses() {
		got = append(got, course)
	}
	slices.Sort(got)
	want := []string{"developer continue, qa review_passed, ", "developer continue, qa review_refused, developer continue, qa review_passed, "}
	if !slices.Equal(got, want) {
		t.Errorf("courses %q", got)
	}
	if b.read("a") == "" || b.read("b") == "" || strings.Count(b.order(), "landed") != 2 {
		t.Errorf("not all has landed, or too often: %s", b.order())
	}
	if told := b.told(); !strings.Contains(told, "a is too short") {
		t.Errorf("told the developer: %s", told)
	}
	for _, e := range b.seen {
		if v, ok := e.Data.(state.Verdict); ok && (e.Role != "qa" || v.Verdict == "fail" && e.Attempt != 1 || e.Attempt == 0) {
			t.Errorf("%s of attempt %d by %s", v.Verdict, e.Attempt, e.Role)
		}
	}
	if s := b.status(); s.CallsThisHour != 6 || s.LoopCount != 6 {
		t.Errorf("%d calls, %d iterations", s.CallsThisHour, s.LoopCount)
	}
	if got := b.git("for-each-ref", "refs/ralph-work", "refs/heads/ralph"); got != "" {
		t.Errorf("left: %s", got)
	}
}

func TestReview_inSlots_passedButDoesNotFit_goesBackToItsDeveloper(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-both-pass", "shared a", "shared b")
	b.o.QA = true
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got := b.read("shared"); !strings.Contains(got, "shared a") || !strings.Contains(got, "shared b") || strings.Contains(got, "<<<") {
		t.Errorf("%q", got)
	}
}

func TestReview_inSlots_conflictsBeforeItsReview_isSentBackForAConflict(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-after-a", "shared a", "shared b")
	b.o.QA = true
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	course := "developer continue, qa continue, merger continue, qa review_passed, "
	if got, all := b.sentBack(), slices.Collect(maps.Values(b.courses())); got != state.MergeConflict || !slices.Contains(all, course) {
		t.Errorf("sent back: %q; courses %q", got, all)
	}
}

func TestReview_inSlots_evidenceReachesTheJudge(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-evidence", "a", "b")
	b.o.JudgeRows = []roles.Reviewer{{Name: "Witness", Persona: "You believe what you see.", RequireEvidence: true}}
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	for _, course := range b.courses() {
		if want := "developer continue, judge review_refused, developer continue, judge review_passed, "; course != want {
			t.Errorf("course %s", course)
		}
	}
	if n := len(glob(filepath.Join(b.dir, ".ralph/evidence/*/proof.txt"))); n != 2 {
		t.Errorf("%d files of evidence", n)
	}
	if n := len(glob(filepath.Join(b.dir, ".ralph/evidence/*/link"))); n != 0 {
		t.Error("a link out of the project was copied")
	}
}

func TestReview_oneAtATimeInAWorktree_aiosStoryIsReviewed(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBench(t, "aios")
	story := "docs/stories/1.2.login.story.md"
	b.write(".aios-core/core-config.yaml", "x: 1\n")
	b.write(story, "# Story 1.2: Login\n\n## Status\n\nReady\n\n## Acceptance Criteria\n\n- [ ] it works\n")
	b.d.Plan = filepath.Join(b.dir, "docs/stories")
	b.inGit()
	b.o.Parallel, b.o.Isolate, b.o.Land, b.o.CommitPrefix = 1, "worktree", "checkout", "[ralph]"
	b.o.AIOS = roles.AIOSOptions{Enabled: "auto", QAEnabled: true}
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got, want := b.course(), "developer continue, qa review_refused, developer continue, qa review_passed"; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
	text := b.read(story)
	for _, want := range []string{"## Status\n\nDone\n", "## QA Results\n\nLooked 2 times"} {
		if !strings.Contains(text, want) {
			t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
	if gate := b.read("docs/qa/gates/1.2-login.yml"); !strings.Contains(gate, "PASS") {
		t.Errorf("gate %s", gate)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "main.txt")); err == nil {
		t.Error("the reviewer changed the project")
	}
	if log := b.git("log", "--format=%s"); !strings.Contains(log, "feat: 1.2 - Login") {
		t.Errorf("commits:\n%s", log)
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
