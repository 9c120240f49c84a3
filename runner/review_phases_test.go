package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/pool"
	"ralph/runner/roles"
	"ralph/state"
)

var nonceIn = regexp.MustCompile(`BEGIN-(\S+)`)

// verdict answers a reviewer's prompt; false: it is one for a developer.
func (f *fake) verdict(answer func(who, nonce string) string) (int, bool) {
	nonce := nonceIn.FindStringSubmatch(f.prompt)
	if nonce == nil {
		return 0, false
	}
	who := "qa"
	if _, rest, judge := strings.Cut(f.prompt, `You are the judge "`); judge {
		who, _, _ = strings.Cut(rest, `"`)
	}
	return f.result(answer(who, nonce[1]), nil), true
}

func says(nonce, verdict string, score int, reason string) string {
	reasons := "[]"
	if reason != "" {
		reasons = fmt.Sprintf(`[{"text": %q, "file": "work.txt", "line": 1}]`, reason)
	}
	return fmt.Sprintf("I looked.\n\n{\"nonce\": %q, \"verdict\": %q, \"score\": %d, \"reasons\": %s}", nonce, verdict, score, reasons)
}

// developed does its own task, and keeps its prompt.
func (f *fake) developed() int {
	put(os.Getenv(fakeCount)+fmt.Sprintf(".dev-%d", f.call), f.prompt)
	put("work.txt", fmt.Sprintf("call %d", f.call))
	_, after, _ := strings.Cut(f.prompt, "## Your task\n\n")
	title, _, _ := strings.Cut(after, "\n")
	put(planName, strings.Replace(read1(planName), "- [ ] "+title, "- [x] "+title, 1))
	return f.result("Did it."+block(!open1(planName), ""), nil)
}

var reviewFakes = map[string]func(*fake) int{
	"strict-once": func(f *fake) int { // refuses the work of the first call
		if code, asked := f.verdict(func(_, nonce string) string {
			if read1("work.txt") == "call 1" {
				return says(nonce, "fail", 30, "it says call 1")
			}
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		return f.developed()
	},
	"strict-teacher": func(f *fake) int { // each work teaches something of its own
		if code, asked := f.verdict(func(_, nonce string) string {
			if read1("work.txt") == "call 1" {
				return says(nonce, "fail", 30, "it says call 1")
			}
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		f.developed()
		lesson := map[bool]string{true: "Dates are stored as strings in local time", false: "Invoices live below billing/ledger"}[f.call == 1]
		return f.result("Did it.\n<learning>"+lesson+"</learning>\n"+block(!open1(planName), ""), nil)
	},
	"prd-witness": func(f *fake) int { // its evidence is there from the second call on
		if code, asked := f.verdict(func(_, nonce string) string {
			if !strings.Contains(f.prompt, "I saw it work") {
				return says(nonce, "fail", 10, "not seen")
			}
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		put("work.txt", fmt.Sprint(f.call))
		if f.call > 1 {
			put("proof.txt", "I saw it work")
		}
		put("prd/auth.json", strings.NewReplacer(`"pending"`, `"completed"`, `"in_progress"`, `"completed"`).Replace(read1("prd/auth.json")))
		return f.result("Did it."+block(false, ""), nil)
	},
	"lenient": lenient,
	"strict": func(f *fake) int {
		if code, asked := f.verdict(func(_, nonce string) string { return says(nonce, "concerns", 60, "not good enough") }); asked {
			return code
		}
		return f.developed()
	},
	"mumbler": func(f *fake) int {
		if code, asked := f.verdict(func(_, _ string) string { return "Looks good to me: PASS" }); asked {
			return code
		}
		return f.developed()
	},
	"court": func(f *fake) int { // the security auditor refuses the first work, the others let it pass
		if code, asked := f.verdict(func(who, nonce string) string {
			if who == "Security Auditor" && read1("work.txt") == "call 1" {
				return says(nonce, "fail", 10, "an open door")
			}
			return says(nonce, "pass", 80, "")
		}); asked {
			return code
		}
		return f.developed()
	},
	"shown": func(f *fake) int { // leaves evidence when it is told to
		if code, asked := f.verdict(func(_, nonce string) string {
			if !strings.Contains(f.prompt, "a picture of it") {
				return says(nonce, "fail", 10, "no evidence in the question")
			}
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		if _, after, told := strings.Cut(f.prompt, "leave files that show the result in "); told {
			folder := strings.Fields(after)[0]
			_ = os.MkdirAll(folder, 0o755)
			put(filepath.Join(folder, "a.txt"), "a picture of it")
		}
		return f.developed()
	},
	"aios": func(f *fake) int { // its gate file says more than its answer
		const story = "docs/stories/1.2.login.story.md"
		nonce := nonceIn.FindStringSubmatch(f.prompt)
		if nonce == nil {
			if !strings.HasPrefix(f.prompt, "@dev\n*develop 1.2 yolo\n") {
				return f.result("who am I?", nil)
			}
			put("work.txt", fmt.Sprintf("call %d", f.call))
			put(story, regexp.MustCompile(`## Status\n\n.*`).ReplaceAllString(read1(story), "## Status\n\nReady for Review"))
			return f.result("Did it.\n\n- **Decision:** plain text\n"+block(false, ""), nil)
		}
		if !strings.HasPrefix(f.prompt, "@qa\n*review 1.2\n") {
			return f.result("who am I?", nil)
		}
		_ = os.MkdirAll("docs/qa/gates", 0o755)
		gate := "gate: CONCERNS\nstatus_reason: nearly\ntop_issues:\n  - finding: no test\n    suggested_action: add one\n"
		if f.call > 2 {
			gate = "gate: PASS\n"
		}
		put("docs/qa/gates/1.2-login.yml", gate)
		put("main.txt", "not mine")
		put(story, read1(story)+fmt.Sprintf("\n## QA Results\n\nLooked %d times\n", f.call/2))
		return f.result(says(nonce[1], "pass", 90, ""), nil)
	},
	"meddler": func(f *fake) int {
		if code, asked := f.verdict(func(_, nonce string) string {
			put("work.txt", "changed by the reviewer")
			put("new.txt", "")
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		return f.developed()
	},
}

func (b *bench) status() state.Status {
	s, err := b.w.Status()
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// course is who worked in each iteration, and what followed.
func (b *bench) course() string {
	var all []string
	for _, e := range b.seen {
		if end, ok := e.Data.(state.IterationEnd); ok {
			all = append(all, e.Role+" "+end.Rule)
		}
	}
	return strings.Join(all, ", ")
}

func TestQA_refusal_goesBackToTheDeveloperWithItsReasons(t *testing.T) {
	b := newBench(t, "strict-once", "[ ] one")
	b.repository()
	b.o.QA = true
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got, want := b.course(), "developer continue, qa review_refused, developer continue, qa review_passed"; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
	if told := b.told(); !strings.Contains(told, "work.txt:1: it says call 1") {
		t.Errorf("told the developer: %s", told)
	}
	verdicts := payloads[state.Verdict](b)
	if len(verdicts) != 2 || verdicts[0].Verdict != "fail" || verdicts[1].Verdict != "pass" || verdicts[1].Usage.CostUSD != 0.25 {
		t.Errorf("verdicts %+v", verdicts)
	}
	s := b.status()
	if s.LoopCount != 4 || s.CallsThisHour != 4 || s.Usage.CostUSD != 1 || len(s.Verdicts) != 1 {
		t.Errorf("%d iterations, %d calls, %v USD, verdicts %+v", s.LoopCount, s.CallsThisHour, s.Usage.CostUSD, s.Verdicts)
	}
}

func TestQA_refusals_putTheTaskAside_andTheRunMovesOn(t *testing.T) {
	b := newBench(t, "strict", "[ ] one", "[ ] two")
	b.repository()
	b.o.QA, b.o.MaxRetries, b.o.MaxIterations = true, 2, 12
	r := b.run(t.Context())
	wantEnd(t, r, "tasks_put_aside", state.ExitClaimed)
	want := strings.Repeat("developer continue, qa review_refused, developer continue, qa review_blocked, ", 2)
	if got := b.course() + ", "; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
	if !strings.Contains(r.Decision.Reason, "not good enough") {
		t.Errorf("the end says %q", r.Decision.Reason)
	}
}

func TestQA_answerWithoutVerdict_isAskedOnceMore_thenAPersonHasToLook(t *testing.T) {
	b := newBench(t, "mumbler", "[ ] one")
	b.repository()
	b.o.QA = true
	r := b.run(t.Context())
	wantEnd(t, r, "review", state.ExitReview)
	if s := b.status(); s.CallsThisHour != 3 || len(s.Review) != 1 || !strings.Contains(s.Review[0].Text, "gave no verdict") {
		t.Errorf("%d calls, review %+v", s.CallsThisHour, s.Review)
	}
	if plan := b.read(planName); !strings.Contains(plan, "[x] one") {
		t.Errorf("plan %s", plan)
	}
}

func TestJudges_oneRefuses_allLookAgain(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	b := newBench(t, "court", "[ ] one", "[ ] two")
	b.repository()
	b.o.Judges, b.o.QA = []string{"security", "UX Designer"}, true
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	round := "developer continue, qa review_passed, judge review_"
	if got, want := b.course(), round+"refused, "+round+"passed, "+round+"passed"; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
	calls := 3 + 3 + 6
	if made, said := b.status().CallsThisHour, len(payloads[state.FinalMessage](b)); made != calls || said != calls {
		t.Errorf("%d calls with %d final messages, want %d of each", made, said, calls)
	}
}

func TestJudge_withoutEvidence_isNotAsked(t *testing.T) {
	b := newBench(t, "shown", "[ ] one")
	b.repository()
	b.o.JudgeRows = []roles.Reviewer{{Name: "Librarian", Persona: "You look at pictures.", Weight: 1, Threshold: 70, RequireEvidence: true}}
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got, want := b.course(), "developer continue, judge review_refused, developer continue, judge review_passed"; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
	if v := payloads[state.Verdict](b); len(v) != 2 || v[0].Usage.CostUSD != 0 {
		t.Errorf("verdicts %+v", v)
	}
}

func TestReviewer_changesFiles_whichAreNotKept(t *testing.T) {
	b := newBench(t, "meddler", "[ ] one")
	b.repository()
	b.o.QA = true
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got := b.read("work.txt"); got != "call 1" {
		t.Errorf("work.txt is %q", got)
	}
	v := payloads[state.Verdict](b)
	if len(v) != 1 || !slices.Equal(v[0].Changed, []string{"new.txt", "work.txt"}) {
		t.Errorf("verdicts %+v", v)
	}
}

func TestReview_refusal_takesWhatTheTurnTaughtWithIt(t *testing.T) {
	b := newBench(t, "strict-teacher", "[ ] one")
	b.repository()
	b.o.QA, b.o.LessonOptions.Learn = true, true
	learned := map[int]string{}
	show := b.d.Show
	b.d.Show = func(e state.Event) {
		if show(e); e.Kind == state.KindIterationStart {
			data, _ := os.ReadFile(filepath.Join(b.dir, ".ralph/learnings.jsonl"))
			learned[e.Iteration] = string(data)
		}
	}
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if !strings.Contains(learned[2], "local time") || strings.Contains(learned[3], "local time") {
		t.Errorf("before the review %q, after its refusal %q", learned[2], learned[3])
	}
	if at := b.read(".ralph/learnings.jsonl"); strings.Contains(at, "local time") || !strings.Contains(at, "billing/ledger") {
		t.Errorf("at the end %q", at)
	}
}

func TestReview_killedBetweenDeveloperAndReviewer_goesOnWithTheReviewer(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	b := newBench(t, "strict-once", "[ ] one")
	b.repository()
	b.o.QA, b.o.MaxIterations = true, 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if plan := b.read(planName); !strings.Contains(plan, "[ ] one") {
		t.Errorf("the task counts as done before anybody has looked: %s", plan)
	}
	_ = b.w.Release()
	b.d.RunID, b.o.MaxIterations, b.seen = "run-2", 0, nil
	b.lock()
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got, want := b.course(), "qa review_refused, developer continue, qa review_passed"; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
}

func TestReview_notAskedFor_changesNothing(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	prompt := func(o roles.Review) string {
		b := newBench(t, "strict-once", "[ ] one")
		b.repository()
		b.o.Review = o
		b.run(t.Context())
		data, err := os.ReadFile(b.counter() + ".dev-1")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if without, with := prompt(roles.Review{}), prompt(roles.Review{QA: true}); without != with {
		t.Errorf("the developer's prompt differs:\n%s\n---\n%s", without, with)
	}
}

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
// Nobody waits for an answer to a task that was put aside.
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
