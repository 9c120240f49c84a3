package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/turn"
	"ralph/state"
)

const (
	kiroPlan = ".kiro/specs/a/tasks.md"
	backlog  = "backlog/tasks/task-1.md"
)

// planFakes work with plans that are not a plain list.
var planFakes = map[string]func(*fake) int{
	"task-claimer": func(f *fake) int { // says which task is done, and leaves the plan alone
		put("plan-"+f.id(), read1(kiroPlan))
		put("work-"+f.id(), "x")
		return f.result("ok"+block(false, "TASK: "+f.id()+"\n"), nil)
	},
	"noted": func(f *fake) int { // keeps its prompt
		put("prompt-"+f.id(), f.prompt)
		return f.result("ok"+block(false, "TASK: "+f.id()+"\n"), nil)
	},
	"lazy-claimer": func(f *fake) int { // says so without any work
		return f.result("ok"+block(false, "TASK: "+f.id()+"\n"), nil)
	},
	"begins": func(f *fake) int { // marks its task in its own way, and does it the next time
		mark := "~"
		if f.call > 1 {
			mark = "x"
		}
		put(fmt.Sprintf("work-%d", f.call), "x")
		put(planName, strings.Replace(read1(planName), "- [ ] ", "- ["+mark+"] ", 1))
		return f.result("ok"+block(false, ""), nil)
	},
	"reviewer": func(f *fake) int { // ends its work with the word for a review
		put("work-"+f.id(), "x")
		put(backlog, strings.Replace(read1(backlog), "In Progress", "In Review", 1))
		return f.result("ok"+block(false, ""), nil)
	},
}

// id is the id of the task in the prompt.
func (f *fake) id() string {
	_, after, _ := strings.Cut(f.prompt, "TASK: ")
	id, _, _ := strings.Cut(after, "`")
	if id == "" {
		_, after, _ = strings.Cut(f.prompt, "## Your task\n\n")
		id, _, _ = strings.Cut(after, " ")
	}
	return strings.TrimSuffix(id, ".")
}

// planOf replaces the bench's plan.
func (b *bench) planOf(path, text string) {
	b.t.Helper()
	full := filepath.Join(b.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		b.t.Fatal(err)
	}
	put(full, text)
	b.d.Plan = full
}

func TestRun_claimInTheFinalMessage_isWrittenIntoThePlanAfterProof(t *testing.T) {
	b := newBench(t, "task-claimer")
	b.planOf(kiroPlan, "- [ ] 1. first\n  - step\n- [~] 2. second\n- [ ]* 3. optional\n")
	b.inGit()
	wantEnd(t, b.run(t.Context()), "plan_complete", state.ExitComplete)
	if got := b.read(kiroPlan); got != "- [x] 1. first\n  - step\n- [x] 2. second\n- [ ]* 3. optional\n" {
		t.Errorf("%q", got)
	}
	if got := b.read("plan-1"); !strings.Contains(got, "- [-] 1. first") {
		t.Errorf("the task was not marked as begun: %q", got)
	}
}

func TestRun_claimWithoutWork_isNotWritten(t *testing.T) {
	b := newBench(t, "lazy-claimer")
	b.planOf(kiroPlan, "- [ ] 1. first\n- [ ] 2. second\n")
	b.inGit()
	b.o.MaxIterations, b.o.AntiCheat = 1, turn.AnswerRevert
	b.run(t.Context())
	if got := b.read(kiroPlan); got != "- [-] 1. first\n- [ ] 2. second\n" {
		t.Errorf("%q", got)
	}
}

func TestRun_agentHandsItsTaskToReview_countsAsDoneAfterProof(t *testing.T) {
	b := newBench(t, "reviewer")
	b.planOf(backlog, "---\nid: t\ntitle: x\nstatus: To Do\n---\n")
	put(filepath.Join(b.dir, "backlog/config.yml"), "statuses: [To Do, In Progress, In Review, Done]\n")
	b.d.Plan = filepath.Join(b.dir, "backlog")
	b.inGit()
	b.run(t.Context())
	if got := b.read(backlog); !strings.Contains(got, "status: Done") {
		t.Errorf("%q: %s", got, b.said())
	}
}

func TestRun_taskPutAside_isMarkedBlocked_untilAPersonOpensIt(t *testing.T) {
	const words = "statuses: [To Do, In Progress, Blocked, Done]\n"
	b := newBench(t, "idler")
	b.planOf(backlog, "---\nid: t\ntitle: x\nstatus: To Do\n---\n")
	put(filepath.Join(b.dir, "backlog/config.yml"), words)
	b.d.Plan = filepath.Join(b.dir, "backlog")
	b.inGit()
	b.o.MaxPerTask = 1
	wantEnd(t, b.run(t.Context()), "tasks_put_aside", state.ExitClaimed)
	if got := b.read(backlog); !strings.Contains(got, "status: Blocked") {
		t.Fatalf("%q", got)
	}
	put(filepath.Join(b.dir, backlog), strings.Replace(b.read(backlog), "Blocked", "To Do", 1))
	b.run(t.Context())
	if starts := payloads[state.IterationStart](b); len(starts) < 2 {
		t.Errorf("%d iterations: %s", len(starts), b.said())
	}
}

func TestRun_agentWritesAMarkThatNobodyKnows_getsTheTaskAgain(t *testing.T) {
	b := newBench(t, "begins", "[ ] one", "[ ] two")
	b.inGit()
	wantEnd(t, b.run(t.Context()), "plan_complete", state.ExitComplete)
	if got := b.read(planName); strings.Contains(got, "~") || strings.Count(got, "[x]") != 2 || b.calls() != 3 {
		t.Errorf("%d calls, %q", b.calls(), got)
	}
}
