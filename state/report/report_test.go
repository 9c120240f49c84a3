package report

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

var update = flag.Bool("update", false, "write the golden files")

const ranOn = "20261120-220000-abcd"

// night tells events, each some seconds after the one before.
type night struct {
	f         Fold
	at        time.Time
	iteration int
	task      string
	role      string // all but the developer review
}

func newNight() *night { return &night{at: sample.Noon, role: "developer"} }

func (n *night) after(seconds float64, p state.Payload) {
	n.at = n.at.Add(time.Duration(seconds * float64(time.Second)))
	n.f.Add(state.NewEvent(state.Origin{Run: ranOn, Iteration: n.iteration, Task: n.task, Role: n.role,
		Reviews: n.role != "developer"}, n.at, p))
}

// call is one agent call that took 100 seconds, with a check of 20.
func (n *night) call(end state.IterationEnd) {
	n.after(1, state.IterationStart{Title: n.task, Agent: "claude", Model: "opus", Total: 3})
	n.after(1, state.Phase{Name: state.PhaseAgent})
	n.after(100, state.Phase{Name: state.PhaseObserving})
	n.after(2, state.Phase{Name: state.PhaseChecking, Check: "test"})
	n.after(20, state.Check{Name: "test", Passed: !end.Failed, Seconds: 20})
	end.Usage, end.Total = state.Usage{OutputTokens: 1000, CostUSD: 0.5}, 3
	n.after(1, end)
}

// long is a night in which everything happened that takes time.
func long() *night {
	n := newNight()
	waits := func(action state.Action, rule string, d time.Duration) state.Decision {
		return state.Decision{Action: action, Rule: rule, Reason: "because", WakeAt: n.at.Add(d)}
	}
	n.after(0, state.RunStart{Agent: "claude", Model: "opus", Total: 3})
	n.iteration, n.task = 1, "one"
	n.call(state.IterationEnd{Decision: waits("retry", "transient", time.Minute), Outcome: "overloaded", Failed: true, Detail: "529"})
	n.at = n.at.Add(30 * time.Second)
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue", Rule: "continue"}, Outcome: "completed-turn", TaskDone: true, Done: 1})
	n.iteration, n.task = 2, "two"
	n.call(state.IterationEnd{Decision: waits("wait", "usage_limit", time.Hour), Outcome: "usage-limit", Failed: true, Done: 1})
	n.at = n.at.Add(1800 * time.Second)
	n.after(0, state.Paused{})
	n.at = n.at.Add(600 * time.Second)
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue", Rule: "same_error", Reason: "it fails again"}, Outcome: "completed-turn", Done: 1})
	n.after(0, state.TaskChange{ID: "two", Title: "two", State: "put aside", Why: "it fails again and again"})
	n.iteration, n.task = 3, "three"
	n.after(0, state.IterationStart{Title: "three", Agent: "codex", Total: 3, Done: 1})
	n.after(1, state.Phase{Name: state.PhaseAgent})
	n.after(10, state.Usage{OutputTokens: 10, CostUSD: 0.1})
	n.at = n.at.Add(900 * time.Second) // killed
	n.iteration, n.task = 0, ""
	n.after(0, state.RunStart{Agent: "claude", Model: "opus", Total: 3, Done: 1, Resumed: true})
	end := state.Decision{Action: "stop", Rule: "tasks_put_aside", Reason: "every open task was put aside"}
	n.after(1, end)
	n.after(0, state.RunEnd{Decision: end, Exit: 8, Next: "change these tasks", Usage: state.Usage{OutputTokens: 4010, CostUSD: 2.1}})
	return n
}

func (n *night) build() *Report { return n.f.Build(Source{Project: "/p", Now: n.at}) }

func sum(r *Report) (all float64) {
	for part, s := range r.Time {
		if part != total {
			all += s
		}
	}
	return all
}

func TestBuild_longNight_eachPartOfTheTimeIsWhatItWas(t *testing.T) {
	n := long()
	r := n.build()
	want := map[Part]float64{Agent: 310, Checks: 60, Judges: 0, Hooks: 0, Limits: 1800, Retries: 124 + 30 + 1, Paused: 600, Idle: 900,
		Own: 0, total: n.at.Sub(sample.Noon).Seconds()}
	got := r.Time[Own]
	delete(want, Own)
	delete(r.Time, Own)
	if diff := cmp.Diff(want, r.Time, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 2.5 })); diff != "" {
		t.Error(diff)
	}
	r.Time[Own] = got
	if math.Abs(sum(r)-r.Time[total]) > 1e-6 {
		t.Errorf("the parts are %v together, the wall clock %v", sum(r), r.Time[total])
	}
}

func TestBuild_recordedAndScriptedRuns_partsAddUpToTheWallClock(t *testing.T) {
	for name, events := range runs(t) {
		var f Fold
		for _, e := range events {
			f.Add(e)
		}
		last := events[len(events)-1].Time
		r := f.Build(Source{Now: last})
		if wall := last.Sub(events[0].Time).Seconds(); math.Abs(sum(r)-wall) > 1e-6 || math.Abs(r.Time[total]-wall) > 1e-6 {
			t.Errorf("%s: the parts are %v together, total %v, the wall clock %v", name, sum(r), r.Time[total], wall)
		}
		for n, shares := range [][]Share{r.Cost.Task, r.Cost.Role, r.Cost.Model} {
			usd := 0.0
			for _, s := range shares {
				usd += s.USD
			}
			if math.Abs(usd-r.USD) > 1e-4 {
				t.Errorf("%s: part %d %v USD, in all %v", name, n, usd, r.USD)
			}
		}
		if end := f.Run.End; end != nil && end.Seconds > 0 && math.Abs(end.Seconds-r.Time[total]) > 1 {
			t.Errorf("%s: the run says %v, the report %v", name, end.Seconds, r.Time[total])
		}
	}
}

// runs are recorded and scripted runs, and one whose clock was set back.
func runs(t *testing.T) map[string][]state.Event {
	t.Helper()
	all := map[string][]state.Event{}
	_, all["sample"] = sample.Run(sample.Noon)
	_, all["checking"] = sample.Checking(sample.Noon)
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded runs", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if e, ok := state.EventFilter(nil).Decode([]byte(line)); ok {
				all[name] = append(all[name], e)
			}
		}
	}
	return all
}

func TestBuild_clockSetBack_addsNothingAndLosesNothing(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{})
	n.after(10, state.Phase{Name: state.PhaseAgent})
	n.after(-3600, state.Phase{Name: state.PhaseObserving})
	n.after(3650, state.RunEnd{})
	r := n.build()
	if r.Time[total] != 60 || sum(r) != 60 {
		t.Error(r.Time)
	}
}

func TestBuild_failedNight_readsAsFailed(t *testing.T) {
	for name, tc := range map[string]struct {
		end  *state.RunEnd
		want string
	}{
		"complete":  {&state.RunEnd{}, "Completed: "},
		"review":    {&state.RunEnd{Exit: 9}, "Not finished, it needs your review: "},
		"questions": {&state.RunEnd{Exit: 9, Status: "stopped", Decision: state.Decision{Rule: "question"}}, "Not finished, it needs your review: "},
		"ceiling":   {&state.RunEnd{Exit: 4}, "Not finished, stopped: "},
		"halted":    {&state.RunEnd{Exit: 3, Next: "look at it, then: ralph reset --circuit && ralph resume"}, "Failed, halted: "},
		"agent":     {&state.RunEnd{Exit: 6}, "Failed: "},
		"own error": {&state.RunEnd{Exit: 1}, "Failed: "},
		"killed":    {nil, "Crashed, the runner died: "},
	} {
		n := newNight()
		n.after(0, state.RunStart{Total: 3})
		if tc.end != nil {
			n.after(1, *tc.end)
		}
		r := n.build()
		if !strings.HasPrefix(r.Result, tc.want) || r.Completed() != (name == "complete") || len(r.Next) != 3 {
			t.Errorf("%s: %q, next %q", name, r.Result, r.Next)
		}
		if name == "halted" && r.Next[2] != "ralph reset --circuit && ralph resume" {
			t.Errorf("%s: next %q", name, r.Next)
		}
		if strings.Contains(string(r.HTML()), `<h1 class="good">`) != (name == "complete") {
			t.Errorf("%s: the page has the wrong color", name)
		}
	}
}

func TestBuild_tasks_haveTheirProof(t *testing.T) {
	n := long()
	r := n.f.Build(Source{Project: "/p", Now: n.at, Changes: map[int]Change{1: {Commit: "0123456789abcdef", Diff: "+x"}}})
	var got []string
	for _, task := range r.Tasks {
		got = append(got, view.Join(" | ", task.Title, task.State, task.Verdict, task.Proof()))
	}
	want := []string{
		"one | done | 1 check passed | iteration 1 · commit 0123456789 · 6m 43s · $1.00",
		"two | aside | it fails again and again | iteration 2 · 46m 13s · $1.00",
		"three | open | cut off | iteration 3 · 0.0s · $0.10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// hostile is what an agent may say.
const hostile = "<script>alert(1)</script>\x1b[31mred\x1b]0;title\a \u202egnp.exe\u2066 [x](javascript:alert(1)) <img src=x onerror=alert(1)> `a` *b*\n# head"

func TestHTMLAndMarkdown_hostileText_isInert(t *testing.T) {
	n := newNight()
	n.iteration, n.task = 1, hostile
	n.after(0, state.RunStart{Agent: hostile, Model: hostile})
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue", Rule: hostile, Reason: hostile}, Outcome: hostile})
	n.after(0, state.Finding{Source: state.FoundByAudit, Text: hostile})
	n.after(0, state.TaskChange{ID: hostile, State: "put aside", Why: hostile})
	n.after(0, state.RunEnd{Decision: state.Decision{Rule: hostile, Reason: hostile}, Exit: 3, Next: hostile})
	r := n.f.Build(Source{Project: hostile, Now: n.at, Changes: map[int]Change{1: {Diff: "+" + hostile + "\n+" + strings.Repeat("x", 1<<20)}}})
	page := r.HTML()
	record, _ := json.Marshal(r)
	again, err := Decode([]byte(strings.ReplaceAll(string(record), "gnp.exe", `\u202e\u001b[31mgnp.exe`)))
	if err != nil {
		t.Fatal(err)
	}
	second := again.HTML()
	for name, text := range map[string]string{"html": string(page), "html of a record": string(second), "markdown": r.Markdown(), "text": r.Text(),
		"text of a record": again.Text()} {
		for _, bad := range []string{"\x1b", "\a", "\u202e", "\u2066"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
		if strings.HasPrefix(name, "html") && (strings.Contains(text, "<script") || strings.Contains(text, "<img") || strings.Contains(text, `href="javascript`)) {
			t.Errorf("%s has markup of the agent", name)
		}
		if strings.HasPrefix(name, "html") && !strings.Contains(text, `content="default-src &#39;none&#39;;`) {
			t.Errorf("%s has no policy: %.600s", name, text)
		}
	}
	escaped := strings.NewReplacer(`\]`, "")
	var prose strings.Builder
	for line := range strings.Lines(r.Markdown()) {
		if !strings.HasPrefix(line, "    ") { // no command to type
			prose.WriteString(line)
		}
	}
	for _, bad := range []string{"<", "](java", "\n# head"} { // some viewers take \< for the start of HTML
		if strings.Contains(escaped.Replace(prose.String()), bad) {
			t.Errorf("markdown has %q", bad)
		}
	}
	if len(page) > 100_000 {
		t.Errorf("%d bytes", len(page))
	}
}

func TestHTML_everyLink_leadsIntoThePage(t *testing.T) {
	n := long()
	r := n.f.Build(Source{Now: n.at, Changes: map[int]Change{1: {Diff: "+one"}, 2: {Diff: "+two"}, 3: {}}})
	page := r.HTML()
	text, links := string(page), 0
	for _, part := range strings.Split(text, `href="`)[1:] {
		target, _, _ := strings.Cut(part, `"`)
		if links++; !strings.HasPrefix(target, "#") || !strings.Contains(text, `id="`+target[1:]+`"`) {
			t.Errorf("%q leads nowhere", target)
		}
	}
	if links != 2 {
		t.Errorf("%d links", links)
	}
}

func TestJSON_hasTheFieldsThatProgramsRead(t *testing.T) {
	data, err := json.Marshal(long().build())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Result string             `json:"result"`
		Exit   int                `json:"exit_code"`
		Time   map[string]float64 `json:"time"`
		Tasks  []any              `json:"tasks"`
		Found  []any              `json:"findings"`
		Asked  []any              `json:"questions"`
		Next   []string           `json:"next"`
	}
	if err := json.Unmarshal(data, &got); err != nil || got.Exit != 8 || got.Result == "" || got.Found == nil || got.Asked == nil || len(got.Tasks) != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, key := range []string{"agent", "checks", "judges", "hooks", "limits", "retries", "paused", "ralph", "total"} {
		if _, ok := got.Time[key]; !ok {
			t.Errorf("time has no %q", key)
		}
	}
}

func TestText_longNight_isThePageOfTheGoldenFile(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	got := long().build().Text()
	name := filepath.Join("testdata", "long.txt")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if diff := cmp.Diff(string(want), got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestBuild_hook_hasItsTimeAndThenTheWaitGoesOn(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{Agent: "claude", Total: 1})
	n.iteration, n.task = 1, "one"
	n.call(state.IterationEnd{Decision: state.Decision{Action: "wait", Rule: "usage_limit", WakeAt: n.at.Add(time.Hour)}, Outcome: "usage-limit"})
	n.after(0, state.Phase{Name: state.PhaseHook, Check: "on_limit"})
	n.after(30, state.Hook{Point: "on_limit", Seconds: 30})
	n.after(600, state.IterationStart{Title: "one", Agent: "claude", Total: 1})
	sums := n.f.clock.sums()
	if sums[Hooks] != 30 || sums[Limits] != 600 || sums[Agent] != 100 {
		t.Errorf("%v", sums)
	}
}

func TestBuild_reviewedTask_hasTheChecksOfItsDeveloperAndTheVerdicts(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{Agent: "claude", Total: 1})
	n.iteration, n.task = 1, "one"
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue"}, Outcome: "completed-turn"})
	n.iteration, n.role = 2, "tester"
	n.after(0, state.IterationStart{Title: "one", Agent: "codex", Total: 1})
	n.after(0, state.Phase{Name: state.PhaseAgent})
	n.after(40, state.Verdict{Name: "Security Auditor", Agent: "codex", Verdict: state.VerdictPass, Score: 90, Threshold: 70})
	n.after(0, state.IterationEnd{Decision: state.Decision{Action: "continue"}, Outcome: "completed-turn", TaskDone: true, Done: 1, Total: 1})
	r := n.build()
	if got := r.Tasks[0]; got.State != TaskDone || got.Verdict != "1 check passed · Security Auditor: pass" || !got.Checks["test"] {
		t.Errorf("%+v", got)
	}
	if r.Time[Agent] != 100 || r.Time[Judges] != 40 {
		t.Errorf("%v", r.Time)
	}
}

// ralph resume alone would end in the same way at once.
func TestNext_tasksPutAside_areTakenUpAgain(t *testing.T) {
	for exit, want := range map[int]string{8: "ralph reset --tasks && ralph resume", 4: "ralph resume"} {
		r := &Report{Status: state.StatusStopped, Exit: exit, Tasks: []Task{{State: TaskAside, Iterations: []int{1}}}}
		if all := r.next(); all[len(all)-1] != want {
			t.Errorf("exit code %d: %q", exit, all)
		}
	}
}

func TestNext_taskDoneInTheIterationOfAnother_hasNone(t *testing.T) {
	r := &Report{Status: state.StatusCompleted, Tasks: []Task{{State: TaskDone, Iterations: []int{2}}, {State: TaskDone}}}
	if all := r.next(); all[0] != "ralph diff 0..2 --stat" {
		t.Errorf("%q", all)
	}
}
