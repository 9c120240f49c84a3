package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/state"
	"ralph/state/question"
)

const asks = "\n---RALPH_STATUS---\nSTATUS: BLOCKED\nQUESTION: Which database?\nOPTIONS: PostgreSQL | SQLite\n---END_RALPH_STATUS---\n"

// asker asks at the task "one" until it has an answer.
func asker(f *fake) int {
	put(fmt.Sprintf("prompt-%d", f.call), f.prompt)
	if strings.Contains(f.prompt, "## Your task\n\none") && !strings.Contains(f.prompt, "SQLite is enough") {
		return f.result("I found two databases in use."+asks, nil)
	}
	data, _ := os.ReadFile(planName)
	_, after, _ := strings.Cut(f.prompt, "## Your task\n\n")
	title, _, _ := strings.Cut(after, "\n")
	put("work-"+title+".txt", fmt.Sprint(f.call))
	put(planName, strings.Replace(string(data), "- [ ] "+title, "- [x] "+title, 1))
	return f.result("Did it."+block(!open1(planName), ""), nil)
}

var askFakes = map[string]func(*fake) int{
	"asker": asker,
	// Asks with Claude Code's tool, which is refused, and then leaves.
	"tool-asker": func(f *fake) int {
		f.print(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": map[string]any{"questions": []any{
				map[string]any{"question": "Which region?", "header": "Region", "options": []any{
					map[string]any{"label": "eu", "description": "Frankfurt"}, map[string]any{"label": "us"}}},
				map[string]any{"question": "Which size?"}}}}}}})
		return f.result("I have asked."+block(false, ""), map[string]any{"permission_denials": []any{map[string]any{
			"tool_name": "AskUserQuestion", "tool_use_id": "q", "tool_input": map[string]any{"questions": []any{}}}}})
	},
	// Does nothing but ask, about the first task.
	"asks-for-one": func(f *fake) int {
		if strings.Contains(f.prompt, "## Your task\n\none") {
			return f.result("Hm."+asks, nil)
		}
		put(os.Getenv(fakeCount)+".prompt", f.prompt)
		return asker(f)
	},
	// Asks in each turn, whatever it is told.
	"nagger": func(f *fake) int {
		put(fmt.Sprintf("prompt-%d", f.call), f.prompt)
		put("work.txt", fmt.Sprint(f.call))
		return f.result("Hm."+asks, nil)
	},
}

func (b *bench) store() question.Store {
	return question.In(state.Open(filepath.Join(b.dir, ".ralph")))
}

func (b *bench) questions() []question.Question {
	b.t.Helper()
	all, err := b.store().List()
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

// answerWhen answers the question as soon as it is there.
func (b *bench) answerWhen(id, text string) {
	go func() {
		for range 2000 {
			if _, err := b.store().Answered(id, text, "test"); err == nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
}

func TestRun_questionOfATask_parksItAndTheAnswerComesOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, "asker", "[ ] one", "[ ] two", "[ ] three")
	b.o.QuestionWait = time.Minute
	b.d.Show = func(e state.Event) {
		b.seen = append(b.seen, e)
		if d, ok := e.Data.(state.Decision); ok && d.Rule == state.RuleQuestion {
			b.answerWhen("q1", "SQLite is enough")
		}
	}
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if n := b.calls(); n != 4 {
		t.Errorf("%d calls, want 4: ask, two, three, one", n)
	}
	q := b.questions()
	if len(q) != 1 || q[0].Title != "one" || q[0].Text != "Which database?" || !slices.Equal(q[0].Options, []string{"PostgreSQL", "SQLite"}) ||
		q[0].Context != "I found two databases in use." || q[0].Told != 4 || q[0].AnsweredBy != "test" {
		t.Errorf("%+v", q)
	}
	for n := 1; n <= 4; n++ {
		has := strings.Contains(b.read(fmt.Sprintf("prompt-%d", n)), "SQLite is enough")
		if has != (n == 4) {
			t.Errorf("prompt %d has the answer: %v", n, has)
		}
	}
	if asked := payloads[state.Question](b); len(asked) != 1 || asked[0].ID != "q1" {
		t.Errorf("events %+v", asked)
	}
	if answers := payloads[state.Answer](b); len(answers) != 1 || answers[0].Text != "SQLite is enough" {
		t.Errorf("events %+v", answers)
	}
	if want := `A person's answer to "Which database?": SQLite is enough`; b.told() != want {
		t.Errorf("told %q, want %q", b.told(), want)
	}
}

func TestRun_unansweredQuestion_endsWithReviewAndGoesOnAfterTheAnswer(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "asker", "[ ] one", "[ ] two")
	b.o.QuestionWait = 0
	r := b.run(t.Context())
	wantEnd(t, r, state.RuleQuestion, state.ExitReview)
	if b.calls() != 2 || !strings.Contains(r.Decision.Reason, `q1: Which database? (task "one")`) || r.Decision.Status != state.StatusStopped {
		t.Errorf("%d calls, %+v", b.calls(), r.Decision)
	}
	if _, err := b.store().Answered("q1", "SQLite is enough", "test"); err != nil {
		t.Fatal(err)
	}
	b.d.RunID = "run-2"
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if b.calls() != 3 {
		t.Errorf("%d calls", b.calls())
	}
}

func TestRun_questionTool_storesEachQuestionWithItsOptions(t *testing.T) {
	t.Parallel()
	b := newBench(t, "tool-asker", "[ ] one")
	b.o.QuestionWait = 0
	wantEnd(t, b.run(t.Context()), state.RuleQuestion, state.ExitReview)
	q := b.questions()
	if len(q) != 2 || q[0].Text != "Which region?" || !slices.Equal(q[0].Options, []string{"eu: Frankfurt", "us"}) || q[1].Text != "Which size?" {
		t.Errorf("%+v", q)
	}
}

func TestRun_agentThatAlwaysAsks_isBoundedAndTold(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "nagger", "[ ] one")
	b.o.QuestionWait, b.o.MaxIterations = time.Minute, 4
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.d.Show = func(e state.Event) {
		b.seen = append(b.seen, e)
		if d, ok := e.Data.(state.Question); ok {
			b.answerWhen(d.ID, "Decide")
		}
	}
	wantEnd(t, b.run(ctx), "ceilings", state.ExitCeiling)
	if q := b.questions(); len(q) != 3 {
		t.Errorf("%d questions, want 3", len(q))
	}
	last := payloads[state.IterationEnd](b)
	if len(last) != 4 || last[3].Rule == state.RuleQuestion {
		t.Errorf("%+v", last)
	}
	st, err := state.Open(filepath.Join(b.dir, ".ralph")).Status()
	if err != nil || !strings.Contains(strings.Join(st.NextPrompt.Feedback, "\n"), "You have asked often enough") {
		t.Errorf("%v, next prompt: %q", err, st.NextPrompt.Feedback)
	}
}

// A task whose agent asks on and on holds up no other.
func TestRun_agentThatAlwaysAsks_isPutAsideForTheOthers(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "asks-for-one", "[ ] one", "[ ] two")
	b.o.QuestionWait = time.Minute
	b.d.Show = func(e state.Event) {
		b.seen = append(b.seen, e)
		if d, ok := e.Data.(state.Question); ok {
			b.answerWhen(d.ID, "Decide")
		}
	}
	r := b.run(t.Context())
	wantEnd(t, r, "tasks_put_aside", state.ExitClaimed)
	if !strings.Contains(b.read(planName), "- [x] two") || b.calls() != 6 {
		t.Errorf("%d calls, want 6: three questions, told, aside, two\n%s", b.calls(), b.read(planName))
	}
	if got := b.prompt(); strings.Contains(got, "asked often enough") {
		t.Errorf("the other task is told what the first one was:\n%s", got)
	}
}

func TestRun_withoutPlan_waitsForTheAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, "nagger")
	b.o.QuestionWait = 0
	wantEnd(t, b.run(t.Context()), state.RuleQuestion, state.ExitReview)
	if q := b.questions(); len(q) != 1 || q[0].Task != "" {
		t.Errorf("%+v", q)
	}
}
