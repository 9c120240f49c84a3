package runner

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/runner/gate"
	"ralph/runner/hooks"
	"ralph/runner/pool"
	"ralph/state"
)

func TestReview_judgeIsAnAgentThatDoesNotExist_isSaidBeforeAnybodyWorks(t *testing.T) {
	b := newBench(t, "prd-witness")
	b.write("prd/auth.json", `{"items": [{"id": "A1", "description": "log in", "status": "pending", "judges": [{"name": "Ghost", "agent": "nosuch"}]}]}`)
	b.d.Plan = filepath.Join(b.dir, "prd")
	find := b.d.Agents
	b.d.Agents = func(name string) (pool.Agent, error) {
		if name == "nosuch" {
			return pool.Agent{}, errors.New(`unknown agent "nosuch"`)
		}
		return find(name)
	}
	b.o.MaxIterations = 3
	r := b.run(t.Context())
	wantEnd(t, r, "plan_unusable", 2)
	if !strings.Contains(r.Decision.Reason, `"log in", review by Ghost: unknown agent "nosuch"`) || b.course() != "" {
		t.Errorf("%s, course %s", r.Decision.Reason, b.course())
	}
}

// In worktrees, the next task begins with files in which the failure of this one is not.
func TestHooks_preMergePutsATaskAside_theNextOneHearsNothingOfIt(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside", "a", "b")
	b.o.Parallel, b.o.MaxIterations = 1, 3
	b.o.Isolate = "worktree"
	b.d.Hooks = []hooks.Hook{{Point: hooks.PreMerge, Command: "echo broken; exit 3", OnFailure: hooks.SkipTask}}
	if r := b.run(t.Context()); r.Decision.Exit != 8 {
		t.Errorf("ended with %+v", r.Decision)
	}
	if told := b.told(); told != "" {
		t.Errorf("told %q", told)
	}
}

// Nobody waits for an answer to a task that was put aside.
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

// Without git there is no copy: what a reviewer changes stays, and the run says so.
func TestReviewer_changesFilesOutsideOfGit_isReportedAsWhatItIs(t *testing.T) {
	b := newBench(t, "meddler", "[ ] one")
	b.o.QA = true
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	v := payloads[state.Verdict](b)
	if len(v) != 1 || len(v[0].Changed) > 0 {
		t.Errorf("verdicts that speak of files which are not kept: %+v", v)
	}
	var files []string
	for _, f := range payloads[state.Finding](b) {
		if strings.Contains(f.Text, "no reviewer may change it") {
			files = append(files, f.File)
		}
	}
	if got := strings.Join(files, " "); got != "new.txt work.txt" {
		t.Errorf("reported: %q", got)
	}
}

func TestJudges_fewerTests_canBeJustified(t *testing.T) {
	b := newBench(t, "lenient", "[ ] one")
	b.o.Judges, b.o.MaxIterations = []string{"qa"}, 8
	b.d.Checks = []gate.Check{{Name: "test", Command: `echo "ok 1 - a"; test -f work.txt || echo "ok 2 - b"; test -f work.txt && echo 1..1 || echo 1..2`}}
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
}

// lenient is a judge who sees a reason for each finding.
func lenient(f *fake) int {
	if code, asked := f.verdict(func(_, nonce string) string {
		_, findings, _ := strings.Cut(f.prompt, "## Open findings of the audit\n\n")
		if !strings.Contains(findings, "2 tests ran before") {
			return says(nonce, "fail", 10, "I see no finding")
		}
		return strings.Replace(says(nonce, "pass", 90, ""), `"reasons"`, `"findings": [{"n": 1, "justified": true, "why": "the task asks for it"}], "reasons"`, 1)
	}); asked {
		return code
	}
	return f.developed()
}
