package monitor

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/internal/sample"
	"ralph/monitor/canvas"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/follow"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// TestMain lets the test binary be the monitor in a real terminal, and the
// "ralph" that it calls.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	if verbs := os.Getenv("MONITOR_TEST_VERBS"); verbs != "" && len(os.Args) >= 3 && os.Args[1] == "verb" {
		beRalph(verbs)
	}
	if dir := os.Getenv("MONITOR_TEST_DIR"); dir != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		o := Options{Dir: dir, Version: "1.2.3"}
		if os.Getenv("MONITOR_TEST_VERBS") != "" {
			o.Ralph = []string{os.Args[0], "verb"}
		}
		if in := os.Getenv("MONITOR_TEST_CRASH"); in != "" {
			calls, signal := 0, 0
			if _, err := fmt.Sscanf(in, "signal %d", &signal); err == nil {
				in = ".Draw("
			}
			o.Now = func() time.Time {
				if strings.Contains(string(debug.Stack()), in) {
					if calls++; calls > 1 && signal > 0 {
						_ = syscall.Kill(os.Getpid(), syscall.Signal(signal))
					} else if calls > 1 {
						panic("provoked")
					}
				}
				return time.Now()
			}
		}
		if err := Run(ctx, o); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println("monitor ended")
		os.Exit(0)
	}
	// A monitor that ends would sleep for a second under the race detector.
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// beRalph plays the verbs that the monitor calls, and ends the process.
func beRalph(verbs string) {
	if strings.Join(os.Args[2:], " ") == "agent list --json" {
		fmt.Println(`[{"agent":"claude","runs":true,"models":["opus"]},{"agent":"codex","runs":true,"models":["gpt-5"]}]`)
		os.Exit(0)
	}
	if all := os.Getenv("MONITOR_TEST_TASKS"); strings.Join(os.Args[2:], " ") == "task list --json" {
		data, err := os.ReadFile(all)
		if err != nil {
			fmt.Fprintln(os.Stderr, "ralph: there is no plan")
			os.Exit(2)
		}
		fmt.Println(string(data))
		os.Exit(0)
	}
	if patch := os.Getenv("MONITOR_TEST_PATCH"); patch != "" && os.Args[2] == "diff" {
		fmt.Println(patch)
		os.Exit(0)
	}
	if os.Getenv("MONITOR_TEST_FAIL") != "" {
		fmt.Println("no disk space")
		os.Exit(1)
	}
	file, _ := os.OpenFile(verbs, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	fmt.Fprintln(file, strings.Join(os.Args[2:], " "))
	_ = file.Close()
	fmt.Println(os.Args[2] + " will act \x1b[31msoon")
	os.Exit(0)
}

// bound is how long something may take on a busy machine.
const bound = time.Minute

// noon is the time of every model test.
var noon = sample.Noon

// simulate returns a screen that draws what it is given.
func simulate(t testing.TB, w, h int) tcell.SimulationScreen {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	screen.SetSize(w, h)
	t.Cleanup(screen.Fini)
	return screen
}

// still is a ui without events to come or an event loop: it shows one moment.
func still(t testing.TB, s view.Snapshot, events []state.Event) *ui {
	f := follow.New(t.TempDir(), time.Now)
	t.Cleanup(f.Close)
	u := newUI(Options{Dir: s.Dir, Now: func() time.Time { return noon }}, f)
	u.theme = canvas.ThemeOf("terminal", 16)
	u.apply(view.Update{Snapshot: s, Events: events})
	return u
}

func (u *ui) drawOn(screen tcell.SimulationScreen) {
	w, h := screen.Size()
	screen.Clear()
	u.SetRect(0, 0, w, h)
	u.Draw(screen)
	screen.Show()
}

// types presses keys: characters, or names such as <enter>.
func (u *ui) types(t testing.TB, all string) {
	t.Helper()
	for all != "" {
		e := tcell.NewEventKey(tcell.KeyRune, []rune(all)[0], tcell.ModNone)
		rest := string([]rune(all)[1:])
		if name, after, ok := strings.Cut(all[1:], ">"); ok && all[0] == '<' {
			for k, known := range tcell.KeyNames {
				if strings.EqualFold(known, name) {
					e = tcell.NewEventKey(k, 0, tcell.ModNone)
				}
			}
			rest = after
		}
		u.message = ""
		if u.prompt != nil {
			u.answer(e)
		} else {
			u.press(keyName(e))
		}
		all = rest
	}
}

// picture is what a person reads on a screen of this size.
func (u *ui) picture(t testing.TB, size [2]int) string {
	t.Helper()
	screen := simulate(t, size[0], size[1])
	u.drawOn(screen)
	return text(screen)
}

// recorded returns a still ui that only notes the verbs that it would run.
func recorded(t testing.TB) (u *ui, verbs *[]string) {
	t.Helper()
	u, verbs = still(t, view.Snapshot{}, nil), new([]string)
	u.o.Ralph = []string{"false"}
	u.act = func(verb ...string) { *verbs = append(*verbs, strings.Join(verb, " ")) }
	return u, verbs
}

// text is what a person reads of the screen.
func text(screen tcell.SimulationScreen) string {
	cells, w, h := screen.GetContents()
	var b strings.Builder
	for y := range h {
		row := ""
		for x := 0; x < w; x++ {
			c := cells[y*w+x]
			row += string(c.Runes)
			if len(c.Runes) > 0 && canvas.CellWidth(c.Runes[0]) == 2 {
				x++
			}
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("no %s within %v", what, bound)
}
