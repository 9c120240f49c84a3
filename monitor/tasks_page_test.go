package monitor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/view"
)

var taskNoon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// tasksOver is a page of tasks over the run of taskModel.
func tasksOver(t testing.TB, all []shownTask) (*ui, *tasksPage, *[]string) {
	u, verbs := recorded(t)
	u.o.Now = func() time.Time { return taskNoon }
	u.model = *taskModel()
	p := &tasksPage{u: u, ready: all != nil} // ready: the first task stays selected
	u.pressed = "t"
	u.open("tasks", p)
	if all != nil {
		p.load(all)
	}
	return u, p, verbs
}

// below is the picture of a page of this size.
func below(t testing.TB, u *ui, size [2]int) string {
	return u.picture(t, [2]int{size[0], size[1] + 2})
}

// rowsOf are tasks as the page gets them.
func rowsOf(rows []act.Task) (all []shownTask) {
	for _, t := range rows {
		one := shownTask{Task: t}
		one.named()
		all = append(all, one)
	}
	return all
}

func plan() []shownTask {
	return rowsOf([]act.Task{
		{ID: "T1", Title: "Set up", State: "done", Attempts: 2},
		{ID: "T2", Title: "Log in", State: "active", Agent: "codex", Model: "gpt-5", AgentFrom: "task", Criteria: []string{"a wrong password is refused"}},
		{ID: "T3", Title: "Log out", State: "open", DependsOn: []string{"T2"}, Depth: 0},
		{ID: "T4", Title: "of this device", State: "open", Depth: 1},
		{ID: "T5", Title: "Reset password", State: "blocked", Why: "waits for the design"},
		{ID: "T6", Title: "Audit log", State: "review"},
		{ID: "0a1b2c3d", Title: "no id of its own", State: "dropped"},
	})
}

func taskModel() *view.Model {
	m := &view.Model{}
	m.Run.ID = "r1"
	m.Run.Iterations = []view.Iteration{
		{Number: 1, TaskID: "T2", StartedAt: taskNoon.Add(-time.Hour), Ended: taskNoon.Add(-50 * time.Minute), Call: view.Call{Outcome: view.CompletedTurn, Seconds: 600, CostUSD: 0.25, Files: 2},
			Verdict: view.Verdict{Action: "retry", Rule: "gate_failed", Reason: "test failed"}, Findings: []string{"a_test.go: 2 tests fewer"}},
		{Number: 2, TaskID: "T2", StartedAt: taskNoon.Add(-time.Minute)},
	}
	return m
}

func TestKeys_askForVerbsOfRalph(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"aNew one<enter>", "task add -- New one"},
		{"a<enter>", ""},
		{"anever<esc>", ""},
		{"a-x<enter>", "task add -- -x"},
		{"je", "in the terminal"},
		{"jxn", ""},
		{"jxy", "task done -- T2"},
		{"xy", "task reopen -- T1"},
		{"jjjjxy", "task reopen -- T5"}, // it is blocked
		{"Gxy", "task reopen -- 0a1b2c3d"},
		{"u", "says no question waits for an answer"},
		{"jJ", "task move --after=T3 -- T2"},
		{"jK", "task move --before=T1 -- T2"},
		{"K", "says it cannot go further"},
		{"jjjJ", "says it cannot go further"}, // it is the only one below T3
		{"jjJ", "task move --after=T5 -- T3"}, // with what is nested below it
		{"/out<enter>J", "says a search hides the order; esc ends it"},
		{"/audit<enter>xy", "task done -- T6"},
		{"/audit<enter><esc>", ""},
		{"/audit<esc>gxy", "task reopen -- T1"},
		{"<enter>jj", "details"},
		{"<enter><enter>", ""},
		{"<enter><esc><esc>", "close"},
		{"j<enter>xy", "task done -- T2; details"},
	} {
		t.Run(c.keys, func(t *testing.T) {
			u, p, verbs := tasksOver(t, plan())
			below(t, u, [2]int{80, 24})
			u.types(t, c.keys)
			got := *verbs
			switch {
			case u.front().page == p.detail && p.detail != nil:
				got = append(got, "details")
			case u.front().page != p:
				got = append(got, "close")
			case u.message != "":
				got = append(got, "says "+u.message)
			case len(u.later) > 0:
				got = append(got, "in the terminal")
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestKeys_withoutATask_doNoHarm(t *testing.T) {
	for _, all := range [][]shownTask{nil, {}} {
		u, p, verbs := tasksOver(t, all)
		for _, b := range p.Keys() {
			b.do()
			if u.prompt = nil; len(*verbs)+len(u.later) > 0 {
				t.Errorf("%s runs %q", b.keys, *verbs)
			}
			below(t, u, [2]int{80, 24})
		}
	}
}

func TestLeft_selectsWhatIsLeftToDo(t *testing.T) {
	for id, want := range map[string]string{"T3": "T3", "T1": "T2", "gone": "T2", "": "T2", "0a1b2c3d": "T2"} {
		p := &tasksPage{u: still(t, view.Snapshot{Status: state.Status{Task: state.TaskStatus{ID: id}}}, nil)}
		p.load(plan())
		if got := p.chosen(); got != want {
			t.Errorf("%q: %q is selected, want %q", id, got, want)
		}
	}
	p := &tasksPage{u: still(t, view.Snapshot{}, nil)}
	p.load(plan()[:1])
	if got := p.chosen(); got != "T1" {
		t.Errorf("nothing is left: %q is selected", got)
	}
}

func TestDraw_taskThatCannotBeDone_saysWhyInAnyWidth(t *testing.T) {
	u, p, _ := tasksOver(t, nil)
	u.model = view.Model{}
	p.load(rowsOf([]act.Task{{ID: "T1", Title: "Round as the accountants do, half to even, on each page of the report", State: "open",
		Why: "required check failed: test, after 4 tries"}, {ID: "T2", Title: "Print", State: "open"}}))
	for _, size := range [][2]int{{60, 12}, {80, 21}, {120, 37}, {200, 47}} {
		if screen := below(t, u, size); !strings.Contains(screen, "⊘ T1  Round as the") || !strings.Contains(screen, "required check") ||
			!strings.Contains(screen, "○ T2  Print") {
			t.Errorf("%v:\n%s", size, screen)
		}
	}
}

func TestDraw_taskWithoutFigures_hasTheWholeRow(t *testing.T) {
	u, p, _ := tasksOver(t, nil)
	u.model = view.Model{}
	const long = "Show the device and the place of each session in the list of all"
	p.load(rowsOf([]act.Task{{ID: "T1", Title: "Print", State: "open"}, {ID: "T2", Title: long, State: "open"}}))
	if screen := below(t, u, [2]int{80, 21}); !strings.Contains(screen, long) {
		t.Error(screen)
	}
}

func TestDraw_agentThatWorked_isNamed(t *testing.T) {
	u, p, _ := tasksOver(t, nil)
	u.model.Run.Iterations = []view.Iteration{{Number: 1, TaskID: "T1", Call: view.Call{Agent: "claude"}},
		{Number: 2, TaskID: "T1", Call: view.Call{Agent: "codex gpt-5"}}}
	p.load(rowsOf([]act.Task{{ID: "T1", Title: "Set up", State: "done"}, {ID: "T2", Title: "Log in", State: "open", Agent: "amp"}}))
	screen := below(t, u, [2]int{200, 47})
	if !strings.Contains(screen, "Set up  codex gpt-5 ") || !strings.Contains(screen, "Log in  amp ") {
		t.Error(screen)
	}
}

func TestDraw_showsStateWorkAndWhy(t *testing.T) {
	u, _, _ := tasksOver(t, plan())
	for size, want := range map[[2]int][]string{
		{60, 12}:  {"t Tasks", "1/6 done", "✓ T1  Set up", "2×", "▸ T2  Log in", "11m 00s", "⊘ T5  Reset password", "⏸ T6", "✗ no id of its own"},
		{80, 21}:  {"tries     time     cost", "$0.25", "○ T3  Log out  waits for T2", " ○   T4", "⊘ T5  Reset password  waits for the design"},
		{200, 47}: {"codex gpt-5", "enter Task", "│ ✓ done"},
	} {
		screen := below(t, u, size)
		for _, text := range want {
			if !strings.Contains(screen, text) {
				t.Errorf("%v: no %q in\n%s", size, text, screen)
			}
		}
	}
	u.types(t, "j<enter>")
	screen := below(t, u, [2]int{80, 30})
	for _, text := range []string{"▸ active", "agent     codex gpt-5", "It is done when", "- a wrong password is refused", "History · attempts 2 · 11m 00s · $0.25",
		"1 ", "gate_failed: test failed", "a_test.go: 2 tests fewer", "running"} {
		if !strings.Contains(screen, text) {
			t.Errorf("no %q in\n%s", text, screen)
		}
	}
}

func TestDraw_anySizeAndHostileText_staysInertAndInside(t *testing.T) {
	evil := "\x1b[31m\x1b]0;x\a\u202e漢字\t\r" + strings.Repeat("é", 300)
	data, err := json.Marshal([]act.Task{{ID: evil, Title: evil, State: evil, Why: evil, Description: evil, Criteria: []string{evil}, DependsOn: []string{evil}, Agent: evil, Tags: []string{evil}, Depth: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := readTasks(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range []string{"", "<enter>", "x", "/é漢"} {
		for _, size := range [][2]int{{1, 2}, {5, 3}, {20, 5}, {60, 15}, {130, 40}} {
			u, _, _ := tasksOver(t, all)
			u.types(t, keys)
			if screen := below(t, u, size); strings.ContainsAny(screen, "\x1b\a\t\r\u202e") {
				t.Errorf("%q", screen)
			}
		}
	}
}

func TestLoad_whileAPersonLooks_keepsTheSelectedTask(t *testing.T) {
	u, p, _ := tasksOver(t, plan())
	u.types(t, "jjjj")
	p.load(slices.Concat(rowsOf([]act.Task{{ID: "T0", Title: "new", State: "open"}}), plan()))
	if got := p.chosen(); got != "T5" {
		t.Errorf("%q is selected", got)
	}
	p.load(plan()[:2])
	if got := p.chosen(); got != "T2" {
		t.Errorf("%q is selected", got)
	}
	if screen := below(t, u, [2]int{80, 24}); !strings.Contains(screen, "T2") {
		t.Errorf("it is not shown:\n%s", screen)
	}
}

// many is a plan of 20,000 tasks.
func many() []shownTask {
	var all []shownTask
	for i := range 20_000 {
		all = append(all, shownTask{name: fmt.Sprintf("T%d  Add cursor pagination to the list endpoint number %d", i, i), Task: act.Task{ID: fmt.Sprintf("T%d", i), Title: fmt.Sprintf("Add cursor pagination to the list endpoint number %d", i), State: []string{"done", "open", "blocked"}[i%3], Depth: i % 2}})
	}
	return all
}

// frame is the time in which a key must show.
const frame = 16 * time.Millisecond

// BenchmarkScroll scrolls through 20,000 tasks of a run with 10,000 iterations.
func BenchmarkScroll(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			u, p, _ := tasksOver(b, nil)
			m := &u.model
			for i := range 10_000 {
				m.Run.Iterations = append(m.Run.Iterations, view.Iteration{Number: i + 3, TaskID: fmt.Sprintf("T%d", i), Ended: taskNoon, Call: view.Call{Seconds: 60}})
			}
			p.load(many())
			c := canvas.Canvas{Screen: simulate(b, size[0], size[1]), W: size[0], H: size[1]}
			for b.Loop() {
				p.Scroll(37)
				if p.selected == len(p.shown)-1 {
					p.Scroll(-far)
				}
				p.Draw(c)
			}
			bounded(b)
		})
	}
}

// BenchmarkFind types one letter of a search.
func BenchmarkFind(b *testing.B) {
	_, p, _ := tasksOver(b, many())
	for b.Loop() {
		p.search("pagin19")
	}
	b.ReportMetric(float64(len(p.shown)), "matches")
}

func bounded(b *testing.B) {
	if each := b.Elapsed() / time.Duration(b.N); each > frame {
		b.Errorf("%v, at most %v", each, frame)
	}
}

// BenchmarkLoad shows a plan that was read anew, while a person scrolls.
func BenchmarkLoad(b *testing.B) {
	data := listed(b)
	_, p, _ := tasksOver(b, nil)
	for b.Loop() {
		b.StopTimer()
		all, err := readTasks(data)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		p.load(all)
	}
	bounded(b)
}

// listed is what ralph prints of 20,000 tasks.
func listed(b *testing.B) []byte {
	data, err := json.Marshal(many())
	if err != nil {
		b.Fatal(err)
	}
	return data
}
