package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/sample"
	"ralph/internal/world"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/question"
)

func TestQuestions_listShowAnswer(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	if out, err := verb(t, dir, "questions"); err != nil || !strings.Contains(out, "no question waits") {
		t.Fatal(out, err)
	}
	if out, err := verb(t, dir, "questions", "--json"); err != nil || out != "[]\n" {
		t.Fatal(out, err)
	}
	s := question.In(cmdline.OpenState(dir))
	for _, q := range []question.Question{
		{Text: "Which database?", Task: "t1", Title: "Store users", Options: []string{"PostgreSQL", "SQLite"}, Context: "Both are there."},
		{Text: "Which region?", Task: "t2"},
	} {
		if _, err := s.Add(q); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		typed []string
		exit  int
		want  string
	}{
		{[]string{"questions"}, 0, "ralph answer q1 --option N"},
		{[]string{"questions", "q1"}, 0, "Both are there."},
		{[]string{"questions", "q7"}, state.ExitUsage, "there is no question q7"},
		{[]string{"questions", "--json"}, 0, `"options":["PostgreSQL","SQLite"]`},
		{[]string{"answer"}, state.ExitUsage, "the id of a question"},
		{[]string{"answer", "q1"}, state.ExitUsage, "the answer to q1 is empty"},
		{[]string{"answer", "q1", "--option", "3"}, state.ExitUsage, "--option 3 is not allowed: question q1 has the options 1 to 2"},
		{[]string{"answer", "q1", "--option", "x"}, state.ExitUsage, `--option "x" is not allowed: the number of an option`},
		{[]string{"answer", "q1", "x", "--option", "1"}, state.ExitUsage, "not both"},
		{[]string{"answer", "q1", "--option", "2"}, 0, "answered q1: SQLite; the next run takes it: ralph resume"},
		{[]string{"answer", "q1", "PostgreSQL"}, state.ExitUsage, "question q1 was answered"},
		{[]string{"answer", "q2", "eu", "please"}, 0, "answered q2: eu please"},
		{[]string{"questions"}, 0, "no question waits"},
		{[]string{"questions", "--all"}, 0, "answered (ralph answer): SQLite"},
	} {
		out, err := verb(t, dir, c.typed...)
		if err != nil {
			out += err.Error()
		}
		if cmdline.ExitCode(err) != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("ralph %q: exit code %d, says %q, want %q", c.typed, cmdline.ExitCode(err), out, c.want)
		}
	}
}

// A run that ended because of a question can go on as soon as the last one is answered.
func TestAnswer_afterTheRun_statusAndReportSayWhatIsNext(t *testing.T) {
	w := newPlanWorld(t, true, true)
	const reason, next = "nothing can be done before a person answers q1: Which?", "see them with ralph questions, then run ralph resume"
	end := state.RunEnd{Decision: state.Decision{Rule: state.RuleQuestion, Reason: reason}, Next: next, Exit: state.ExitReview, Status: state.StatusStopped}
	w.write(".ralph/events.jsonl", w.read(".ralph/events.jsonl")+string(sample.Encode(t, state.NewEvent(state.Origin{Run: pastRun}, time.Now(), end)))+"\n")
	w.ended(state.Status{Status: end.Status, ExitReason: "questions", ExitCode: end.Exit, Rule: end.Rule, Reason: reason, Next: next})
	s := question.In(cmdline.OpenState(w.Dir))
	for range 2 {
		if _, err := s.Add(question.Question{Run: pastRun, Text: "Which?", Task: "T1", Options: []string{"A", "B"}}); err != nil {
			t.Fatal(err)
		}
	}
	w.want(0, "answered q2: no", "answer", "q2", "no")
	w.want(1, next, "status")
	w.want(0, "answered q1: B; the next run takes it: ralph resume", "answer", "q1", "--option", "2")
	for _, verb := range []string{"status", "report"} {
		_, out := w.do(verb)
		if strings.Contains(out, "before a person answers") || strings.Contains(out, "ralph questions") || !strings.Contains(out, "ralph resume") {
			t.Errorf("ralph %s does not know that all is answered:\n%s", verb, out)
		}
	}
	if got := w.status(); got.ExitCode != end.Exit || got.Rule != end.Rule || got.Next != "ralph resume" {
		t.Errorf("%+v", got)
	}
	w.want(0, "is stopped: the questions that it waited for are answered (exit code 9); continue it with: ralph resume", "resume", "--unfinished")
}

// A run starts with such a plan and waits, so the plan is not at fault.
// What a run has advised for a task is not advised again once it was typed.
func TestTask_afterTheRun_statusAndReportSayWhatIsNext(t *testing.T) {
	for next, typed := range map[string][]string{
		"ralph task done T1, if the agent is right; else ralph note TEXT, then: ralph resume":             {"task", "done", "T1"},
		"ralph task done T1, if it is; else ralph note TEXT; then: ralph reset --circuit && ralph resume": {"task", "done", "T1"},
		"when it may begin: ralph task reopen T1 T4; then: ralph resume":                                  {"task", "reopen", "T1"},
	} {
		w := newPlanWorld(t, true, true)
		end := state.RunEnd{Decision: state.Decision{Rule: "claimed_incomplete", Reason: "T1 is open"}, Next: next, Exit: state.ExitClaimed, Status: state.StatusStopped}
		w.write(".ralph/events.jsonl", w.read(".ralph/events.jsonl")+string(sample.Encode(t, state.NewEvent(state.Origin{Run: pastRun}, time.Now(), end)))+"\n")
		w.ended(state.Status{Status: end.Status, ExitReason: "claimed_incomplete", ExitCode: end.Exit, Rule: end.Rule, Reason: end.Reason, Next: next})
		w.do("task", typed[1], "two")
		w.want(1, strings.Replace(next, "ralph reset --circuit && ", "", 1), "status") // no breaker is open
		w.do(typed...)
		for _, verb := range []string{"status", "report"} {
			if _, out := w.do(verb); strings.Contains(out, "ralph task") || !strings.Contains(out, "ralph resume") || w.status().Next == "ralph resume" == strings.Contains(next, "circuit") {
				t.Errorf("ralph %s still advises %q:\n%s", verb, next, out)
			}
		}
	}
}

func TestDoctor_planThatWaitsForAnAnswer_namesTheQuestion(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fix_plan.md"), []byte("- [x] one\n- [ ] two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := store.Load(store.File{Path: filepath.Join(dir, "fix_plan.md")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := question.In(cmdline.OpenState(dir)).Add(question.Question{Text: "Which region?", Task: list.Tasks[1].ID}); err != nil {
		t.Fatal(err)
	}
	if out, _ := verb(t, dir, "doctor"); !strings.Contains(out, "waits for an answer to q1: Which region?") || strings.Contains(out, "FAIL  plan") {
		t.Errorf("%s", out)
	}
}

// What ralph-hub could never send is refused where a person still reads it.
func TestInTouch_addressThatCannotWork_isRefused(t *testing.T) {
	world.Long(t, "many runs of verbs")
	otherHome(t)
	t.Setenv("NOTIFY", "nfty://ntfy.sh/secret")
	const want = "NOTIFY: entry 1 names no service; allowed are desktop, and addresses such as ntfy://"
	for _, typed := range [][]string{{"config", "--check"}, {"doctor"}, {"notify", "test"}} {
		out, err := verb(t, t.TempDir(), typed...)
		if err != nil {
			out += err.Error()
		}
		if cmdline.ExitCode(err) != state.ExitUsage || !strings.Contains(out, want) || strings.Contains(out, "secret") {
			t.Errorf("ralph %q: exit code %d, says %q", typed, cmdline.ExitCode(err), out)
		}
	}
}

// Without ralph-hub nothing can be sent: what says that a message was not sent must say why.
func TestInTouch_withoutRalphHub_isNamedByDoctorAndTest(t *testing.T) {
	otherHome(t)
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	if out, _ := verb(t, dir, "doctor"); strings.Contains(out, "ralph-hub") {
		t.Errorf("doctor misses a program that nothing asks for: %s", out)
	}
	t.Setenv("NOTIFY", "ntfy://ntfy.sh/secret")
	for _, c := range []struct {
		typed []string
		want  string
	}{
		{[]string{"doctor"}, "warn  hub       no notifications: ralph-hub is neither beside ralph nor in PATH"},
		{[]string{"notify", "test"}, "nothing was sent: ralph-hub is neither beside ralph nor in PATH"},
	} {
		out, err := verb(t, dir, c.typed...)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) || strings.Contains(out, "secret") {
			t.Errorf("ralph %q says %q, want %q", c.typed, out, c.want)
		}
	}
}

func TestStatus_invalidSettings_showsTheRunAndWhatIsWrong(t *testing.T) {
	otherHome(t)
	dir := world.Project(t, map[string]string{".ralphrc": "MAX_ITERATIONS=abc\n"})
	out, _ := verb(t, dir, "status")
	if want := "config    no run can start: .ralphrc:1: MAX_ITERATIONS"; !strings.Contains(out, want) || !strings.Contains(out, "nothing has run here yet") {
		t.Errorf("want %q:\n%s", want, out)
	}
}
