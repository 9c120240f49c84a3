package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/state"
)

var topNoon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// topLiving begins a run in a project of its own.
func topLiving(t *testing.T, name string, s state.Status) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.RunID = fmt.Sprint("run-", s.Task.Total)
	w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid(), RunID: s.RunID, StartedAt: s.StartedAt})
	if err == nil {
		err = w.SaveStatus(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Release() })
	return dir
}

func projects(t *testing.T) []string {
	dead := t.TempDir()
	return []string{
		dead, filepath.Join(dead, "gone"),
		topLiving(t, "shop", state.Status{Status: state.StatusRunning, Timestamp: topNoon, StartedAt: topNoon.Add(-90 * time.Minute), Agent: "claude", Model: "opus",
			LoopCount: 4, Task: state.TaskStatus{Title: "Add a basket [red]that[-] keeps its items\x1b[31m", Done: 3, Total: 12}, Usage: state.Usage{CostUSD: 1.25}}),
		topLiving(t, "a-project-with-a-very-long-name", state.Status{Status: state.StatusWaiting, Timestamp: topNoon, StartedAt: topNoon.Add(-10 * time.Minute), Agent: "codex",
			Rule: "usage_limit", Reason: "the limit five_hour rejected the work", WakeAt: topNoon.Add(2 * time.Hour), Task: state.TaskStatus{Title: "x", Total: 2}}),
		topLiving(t, "beside", state.Status{Status: state.StatusRunning, Timestamp: topNoon, StartedAt: topNoon.Add(-time.Minute), Task: state.TaskStatus{Title: "last", Total: 9},
			Slots: []state.SlotStatus{{Slot: 1, Title: "one", Worker: "build1"}, {Slot: 2, Title: "two", Phase: "landing"}},
			Fleet: &state.FleetStatus{Workers: 4, Slots: 8, Busy: 3}}),
		topLiving(t, "日本語", state.Status{Status: state.StatusPaused, Timestamp: topNoon, StartedAt: topNoon.Add(-time.Minute)}),
	}
}

func TestLiving_deadAndMissingProjects_areLeftOut(t *testing.T) {
	rows := Living(projects(t), topNoon)
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %s %d/%d %s", r.Run, r.Status, r.Done, r.Total, r.Agent))
	}
	want := "[run-0 paused 0/0  run-2 waiting 0/2 codex run-12 running 3/12 claude run-9 running 0/9 ]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	if rows[1].WakeAt.IsZero() || rows[1].Reason == "" {
		t.Errorf("%+v", rows[1])
	}
}

func TestTopCells_anyWidth_haveAllRowsAndAreInert(t *testing.T) {
	rows := Living(projects(t), topNoon)
	for _, width := range []int{0, 20, 60, 80, 200} {
		cells := TopCells(rows, width, topNoon)
		if text := fmt.Sprint(cells); !strings.Contains(text, "one | two") {
			t.Errorf("%d: turns side by side are not told:\n%s", width, text)
		}
		if len(cells) != 5 {
			t.Fatalf("%d rows", len(cells))
		}
		for _, row := range cells {
			project, last := row[0], len(row)-1
			if width > 0 && termtext.Width(project) > 20 || strings.ContainsRune(strings.Join(row, ""), 0x1b) || last != len(cells[0])-1 {
				t.Errorf("%d: %q", width, row)
			}
		}
	}
}

// ready is a screen that keeps its size, although tview initializes it a second time, and a
// picture of what it shows.
type ready struct {
	tcell.SimulationScreen
	mu      sync.Mutex
	picture string
}

func (r *ready) Init() error { return nil }

func (r *ready) Show() {
	r.SimulationScreen.Show()
	cells, w, h := r.GetContents()
	var b strings.Builder
	for y := range h {
		for x := range w {
			if c := cells[y*w+x].Runes; len(c) > 0 {
				b.WriteString(string(c))
			}
		}
		b.WriteByte('\n')
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.picture = b.String()
}

func (r *ready) shown() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.picture
}

func topUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within 10 s: %s", what)
}

// show runs the screen, presses keys one after the other, and returns what it showed before each.
func show(t *testing.T, size [2]int, s TopScreen, keys ...*tcell.EventKey) (chosen string, seen []string) {
	t.Helper()
	screen := &ready{SimulationScreen: tcell.NewSimulationScreen("UTF-8")}
	if err := screen.SimulationScreen.Init(); err != nil {
		t.Fatal(err)
	}
	screen.SetSize(size[0], size[1])
	done := make(chan error, 1)
	go func() {
		var err error
		s.Now, s.Screen = func() time.Time { return topNoon }, screen
		chosen, err = s.Run(t.Context())
		done <- err
	}()
	for _, key := range keys {
		topUntil(t, "the keys on the screen", func() bool { return strings.Contains(screen.shown(), "q quit") })
		seen = append(seen, screen.shown())
		if err := screen.PostEvent(key); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the screen does not end")
	}
	return chosen, seen
}

func key(k tcell.Key, r rune) *tcell.EventKey { return tcell.NewEventKey(k, r, tcell.ModNone) }

func TestScreen_enter_opensTheChosenRun(t *testing.T) {
	all := projects(t)
	rows := func() []TopRow { return Living(all, topNoon) }
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		chosen, seen := show(t, size, TopScreen{Rows: rows}, key(tcell.KeyDown, 0), key(tcell.KeyRune, 'j'), key(tcell.KeyEnter, 0))
		if filepath.Base(chosen) != "shop" {
			t.Errorf("%v: opened %q", size, chosen)
		}
		for _, want := range []string{"4 active runs", "shop", "WAITING", "q quit", "until 14:00", "3/12", "日"} {
			if !strings.Contains(seen[0], want) {
				t.Errorf("%v: no %q in\n%s", size, want, seen[0])
			}
		}
		t.Log("\n" + seen[0])
	}
	if chosen, _ := show(t, [2]int{80, 24}, TopScreen{Rows: rows, On: all[2]}, key(tcell.KeyEnter, 0)); chosen != all[2] {
		t.Errorf("opened %q", chosen)
	}
}

func TestScreen_noRun_saysSoAndQuits(t *testing.T) {
	none := func() []TopRow { return nil }
	chosen, seen := show(t, [2]int{60, 15}, TopScreen{Rows: none}, key(tcell.KeyEnter, 0), key(tcell.KeyRune, 'q'))
	if chosen != "" || !strings.Contains(seen[0], "No run is alive") {
		t.Errorf("opened %q\n%s", chosen, seen[0])
	}
}
