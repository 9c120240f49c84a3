package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/view"
)

// pages opens each page over the sample run.
var pages = map[string]func(*ui){
	"help": (*ui).openHelp,
	"changes": func(u *ui) {
		p := newChanges(u, "6", "iteration 6")
		p.load(onePatch)
		u.open("changes", p)
	},
	"transcript": func(u *ui) {
		s, events := spoken()
		p := newTranscript(u, s.Status.RunID, 7)
		p.about = s.Status.Task.Title
		p.load(events)
		u.open("transcript", p)
	},
	"tasks": func(u *ui) { u.open("tasks", planned(u)) },
	"panel-tasks": func(u *ui) {
		u.run.tasks = planned(u)
		u.run.tasks.quiet = true
	},
	"timeline": (*ui).openTimeline,
	"checks":   (*ui).openChecks,
}

// planned are the tasks of the sample run.
func planned(u *ui) *tasksPage {
	p := &tasksPage{u: u}
	var all []shownTask
	for i := range 10 {
		t := shownTask{Task: act.Task{ID: fmt.Sprintf("#%d", i+1), Title: fmt.Sprintf("task %d of the plan", i+1), State: "open"}}
		switch {
		case i < 6:
			t.State, t.Attempts = "done", 1+i%2
		case i == 6:
			t.Title, t.State, t.Agent = "Add cursor pagination to the list endpoint", "active", "codex"
		case i == 8:
			t.State, t.Why = "blocked", "the schema is not decided"
		}
		t.named()
		all = append(all, t)
	}
	p.load(all)
	return p
}

// spoken is a run whose agent works with a sub-agent, with tools that answer in another order,
// and with edits.
func spoken() (view.Snapshot, []state.Event) {
	s, all := sample.Run(noon)
	o := state.Origin{Run: s.Status.RunID, Iteration: 7, Task: "#7"}
	first := state.Tool{ID: "11", Name: "Read", Arg: "src/api/list.go", File: true, Parent: "2"}
	second := state.Tool{ID: "12", Name: "Read", Arg: "src/api/cursor.go", File: true, Parent: "2"}
	edit := state.Tool{ID: "13", Name: "Edit", Arg: "src/api/list.go", File: true, Hunk: "-\toffset := q.Get(\"offset\")\n+\tcursor := decode(q.Get(\"cursor\"))"}
	for i, p := range []state.Payload{first, second, state.ToolResult{Tool: second, Text: "package api\n// cursor"},
		state.ToolResult{Tool: first, Text: "package api\n// list"}, edit, state.ToolResult{Tool: edit, Text: "changed"},
		state.Text{Text: "The cursor is in place. Next, the tests."}} {
		e := state.NewEvent(o, noon.Add(time.Duration(i-60)*time.Second), p)
		e.Seq = all[len(all)-1].Seq + 1
		all = append(all, e)
	}
	return s, all
}

// repeated is a run that fails alike until its sixteenth iteration ends well, with a finding.
func repeated() (view.Snapshot, []state.Event) {
	s, all := sample.Run(noon)
	for i := 8; i <= 16; i++ {
		o := state.Origin{Run: s.Status.RunID, Iteration: i, Task: "#7"}
		end := state.IterationEnd{Decision: state.Decision{Action: "retry", Rule: "gate_failed",
			Reason: "required check failed: test"}, Title: "#7 Add cursor pagination to the list endpoint",
			Outcome: view.CompletedTurn, Files: 1, Seconds: 5}
		about := []state.Payload{state.IterationStart{Title: end.Title},
			state.Check{Name: "build", Passed: true}, state.Check{Name: "test", Passed: i == 16}}
		if i == 16 {
			end.Decision = state.Decision{Action: "continue", Rule: "continue"}
			end.TaskDone = true
			about = append(about, state.Finding{Source: state.FoundByAudit, Text: "2 tests fewer than before"})
		}
		for _, p := range append(about, end) {
			all = append(all, state.NewEvent(o, noon.Add(time.Duration(i-300)*time.Millisecond), p))
		}
	}
	return s, all
}

func TestPages_atEverySize_lookAsAgreed(t *testing.T) {
	s, events := repeated()
	for name, open := range pages {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s at %dx%d", name, size[0], size[1]), func(t *testing.T) {
				u := still(t, s, events)
				open(u)
				screen := simulate(t, size[0], size[1])
				u.drawOn(screen)
				golden(t, fmt.Sprintf("page-%s-%dx%d.txt", name, size[0], size[1]), text(screen))
			})
		}
	}
}

func TestMouse_clicksSelectOpenAndPressKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for double clicks")
	}
	_, setting := withTasks(t)
	p := openPane(t, living(t).Dir, [2]int{120, 40}, setting)
	click := func(x, y int) { p.keys("-l", fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x, y, x, y)) }
	find := func(text string) (x, y int) {
		p.shows(text)
		for y, row := range strings.Split(p.screen(), "\n") {
			if before, _, ok := strings.Cut(row, text); ok {
				return termtext.Width(before) + 1, y + 1
			}
		}
		return 0, 0
	}
	p.shows("RUNNING", "T3  Log out")
	p.keys("M")
	p.shows("mouse on")
	p.keys("?") // takes the message away with its own row
	p.shows("? Keys")
	p.keys("Escape")
	p.hides("? Keys")
	_, y := find("2 !   3m 24s")
	click(10, y)
	p.shows("Transcript of iteration 2") // in the place of the log
	p.keys("Enter")
	p.shows("› transcript", "Transcript of iteration 2")
	x, last := find("esc back")
	click(x, last)
	p.hides("› transcript")
	_, y = find("5 ·   1m 35s")
	click(10, y)
	click(10, y)
	p.shows("› transcript", "Transcript of iteration 5")
	p.keys("Escape")
	p.hides("› transcript")
	p.shows("Transcript of iteration 5")
	p.keys("Escape")
	p.hides("Transcript of iteration 5")
	p.keys("t")
	p.shows("› tasks", "T3  Log out")
	_, y = find("T1  Set up")
	click(10, y)
	click(10, y)
	p.shows("enter Task ", "1 of 3")
}
