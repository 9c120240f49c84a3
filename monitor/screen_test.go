package monitor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/gdamore/tcell/v2"
	"go.uber.org/goleak"

	"ralph/internal/sample"
	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
)

// terminal is a monitor on a pseudo-terminal of the test's own.
type terminal struct {
	t      testing.TB
	master *os.File
	cmd    *exec.Cmd
	mu     sync.Mutex
	out    bytes.Buffer
	done   chan error
}

func openTerminalOf(t testing.TB, dir string, env ...string) *terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &terminal{t: t, cmd: exec.Command(exe), done: make(chan error, 1)}
	if slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "MONITOR_TEST_CRASH=") }) {
		p.cmd = exec.Command("sh", "-c", `"$0"; echo "status $?"; read x`, exe) // the terminal outlives the monitor
	}
	p.cmd.Env = append(os.Environ(), append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "MONITOR_TEST_DIR=" + dir}, env...)...)
	if p.master, err = pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := p.master.Read(buf)
			p.mu.Lock()
			p.out.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.master.Close()
	})
	return p
}

func (p *terminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *terminal) prints(text string) {
	p.t.Helper()
	until(p.t, "output "+text, func() bool { return strings.Contains(p.text(), text) })
}

func TestScreen_aRowChanges_onlyThatIsPrinted(t *testing.T) {
	p := openTerminalOf(t, living(t).Dir)
	p.prints("help")
	before := len(p.text())
	_, _ = p.master.WriteString("i")
	p.prints("prompt:")
	if now := p.text()[before:]; strings.Contains(now, "RUNNING") || strings.Contains(now, "log") {
		t.Errorf("it printed %q", now)
	}
}

func (p *terminal) ends() error {
	p.t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(bound):
		p.t.Fatal("the monitor does not end")
		return nil
	}
}

// Only another process can restore the terminal then.
func TestScreen_crash_restoresTheTerminalAndPrintsTheReport(t *testing.T) {
	dir := living(t).Dir
	for in, report := range map[string]string{".Draw(": "provoked", ".pump(": "provoked", ".runScreen(": "provoked", "signal 3": "SIGQUIT",
		"signal 6": "SIGABRT", "signal 9": ""} {
		t.Run("in "+in, func(t *testing.T) {
			p := openTerminalOf(t, dir, "MONITOR_TEST_CRASH="+in)
			p.prints("status ")
			p.prints("\x1b[?1049l")
			until(t, "report after the screen", func() bool {
				_, after, _ := strings.Cut(p.text(), "\x1b[?1049l")
				return strings.Contains(after, report) && (report == "" || strings.Contains(after, "goroutine "))
			})
			until(t, "terminal that echoes", func() bool {
				cmd := exec.Command("stty", "-a")
				cmd.Stdin = p.master
				out, err := cmd.Output()
				return err == nil && !strings.Contains(string(out), "-echo ") && !strings.Contains(string(out), "-icanon")
			})
		})
	}
}

func TestScreen_terminalVanishes_endsQuietly(t *testing.T) {
	p := openTerminalOf(t, living(t).Dir)
	p.prints("RUNNING")
	if err := p.master.Close(); err != nil {
		t.Fatal(err)
	}
	_ = p.ends() // by SIGHUP or by the error of its terminal, but it ends
}

func TestScreen_interrupt_endsAndRestores(t *testing.T) {
	p := openTerminalOf(t, living(t).Dir)
	p.prints("RUNNING")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.ends(); err != nil {
		t.Errorf("%v: %s", err, p.text())
	}
	p.prints("monitor ended")
	if out := p.text(); strings.LastIndex(out, "\x1b[?1049l") > strings.Index(out, "monitor ended") {
		t.Error("the terminal was not restored first")
	}
}

// cells is a screen that loses its cells in the end, as tcell's does.
type cells struct {
	tcell.Screen
	held []int
}

func (c *cells) Size() (int, int)                                     { return 1, 1 }
func (c *cells) SetContent(int, int, rune, []rune, tcell.Style)       { c.held[0]++ }
func (c *cells) GetContent(int, int) (rune, []rune, tcell.Style, int) { return 0, nil, plain, 1 }
func (c *cells) Show()                                                { c.held[0]++ }
func (c *cells) Sync()                                                { c.held[0]++ }
func (c *cells) Fini()                                                { c.held = nil }

func TestGuard_endWhileTheEventLoopDraws_isNoCrash(t *testing.T) {
	for range 100 {
		g := &guard{Screen: &cells{held: make([]int, 1)}}
		var wait sync.WaitGroup
		wait.Go(g.Fini)
		for range 20 {
			g.Clear()
			g.Show()
			g.Sync()
		}
		wait.Wait()
		g.Clear()
		g.Show()
		g.Sync()
	}
}

func TestScreen_uselessTerminal_showsLinesAndSaysSo(t *testing.T) {
	s, events := sample.States(time.Now())["completed"]()
	dir := sample.New(t, s, events).Dir
	for _, term := range []string{"dumb", "", "no-such-terminal"} {
		t.Run("TERM="+term, func(t *testing.T) {
			p := openTerminalOf(t, dir, "TERM="+term)
			if err := p.ends(); err != nil {
				t.Error(err)
			}
			p.prints("showing lines instead")
			p.prints("run ended after 1h 11m · exit code 0")
			p.prints("state      COMPLETED: ")
			if strings.Contains(p.text(), "\x1b") {
				t.Errorf("escape sequences in %q", p.text())
			}
		})
	}
}

func TestScreen_outputIsNoTerminal_saysHowTheRunStandsAndEnds(t *testing.T) {
	exe, _ := os.Executable()
	for state, want := range map[string]string{"halted": "the same error in 5", "running": "iteration 7 of 50"} {
		dir := living(t).Dir
		if state != "running" {
			s, events := sample.States(time.Now())[state]()
			dir = sample.New(t, s, events).Dir
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it must not follow the run
		defer cancel()
		cmd := exec.CommandContext(ctx, exe)
		cmd.Env = append(os.Environ(), "TERM=xterm", "MONITOR_TEST_DIR="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "\x1b") || !strings.Contains(string(out), "ralph monitor --plain") {
			t.Errorf("%s: %v: %s", state, err, out)
		}
	}
}

func TestScreen_resizeStorm_fitsTheLastSize(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24})
	p.shows("RUNNING")
	for i := range 60 {
		p.tmux("resize-window", "-x", strconv.Itoa(1+i*37%200), "-y", strconv.Itoa(1+i*13%60))
	}
	p.tmux("resize-window", "-x", "132", "-y", "43")
	p.shows("RUNNING", " plan ", "│", "q quit")
	p.wait("full width", func(s string) bool {
		lines := strings.Split(s, "\n")
		return len(lines) >= 43 && strings.Contains(lines[42], "q quit") && termtext.Width(lines[4]) > 120
	})
}

func TestScreen_quitDuringAnEndlessFlood_ends(t *testing.T) {
	pr := living(t)
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			pr.Add(sample.Say(strings.Repeat("x", 2000)), sample.Say("y"), sample.Say(fmt.Sprintf("flood %d", i)))
		}
	})
	defer wait.Wait()
	defer stop()
	p := openPane(t, pr.Dir, [2]int{80, 24})
	p.shows("flood")
	p.keys("?")
	p.shows("pause after this iteration")
	p.keys("j", "j", "j", "k", "k", "k", "q")
	p.shows("monitor ended")
}

func TestScreen_everySizeAndState_neverPanicsOrLeavesItsPlace(t *testing.T) {
	for _, name := range []string{"running", "waiting", "halted", "none"} {
		s, events := sample.States(noon)[name]()
		u := still(t, s, events)
		screen := simulate(t, 210, 60)
		for _, h := range []int{0, 1, 2, 3, 5, 9, 15, 22, 30, 52} {
			for _, w := range []int{0, 1, 2, 7, 20, 41, 60, 119, 120, 200} {
				for _, alone := range []bool{false, true} {
					u.run.alone = alone
					screen.Clear()
					u.SetRect(0, 0, w, h)
					u.Draw(screen)
					screen.Show()
					for y, row := range strings.Split(text(screen), "\n") {
						if termtext.Width(row) > w || y >= h && row != "" {
							t.Fatalf("%s at %dx%d: row %d is %q", name, w, h, y, row)
						}
					}
				}
			}
		}
	}
}

func TestHelp_smallScreen_showsEveryWord(t *testing.T) {
	s, events := sample.Run(noon)
	u := still(t, s, events)
	u.openHelp()
	screen := simulate(t, 60, 15)
	seen := ""
	for range 150 {
		u.drawOn(screen)
		for row := range strings.Lines(text(screen)) {
			if !strings.HasSuffix(seen, row) {
				seen += row
			}
		}
		u.front().page.Scroll(1)
	}
	words := strings.Join(strings.Fields(seen), " ")
	for _, b := range u.run.Keys() {
		for word := range strings.FieldsSeq(b.help) {
			if !strings.Contains(words, word) {
				t.Errorf("%q of %q is not shown", word, b.help)
			}
		}
	}
	if strings.Contains(seen, "…") {
		t.Errorf("cut:\n%s", seen)
	}
}

func TestScreen_withoutColours_usesNone(t *testing.T) {
	s, events := sample.States(noon)["halted"]()
	u := still(t, s, events)
	screen := simulate(t, 120, 40)
	colours := func() (n int) {
		u.drawOn(screen)
		cells, _, _ := screen.GetContents()
		for _, c := range cells {
			if fg, bg, _ := c.Style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				n++
			}
		}
		return n
	}
	if colours() == 0 {
		t.Error("with colours there are none")
	}
	u.theme = canvas.Theme{}
	if n := colours(); n > 0 {
		t.Errorf("without colours %d cells have some", n)
	}
}

func TestRun_endsWithItsContextAndLeavesNoGoroutine(t *testing.T) {
	pr := living(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, delay := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), delay)
		screen := tcell.NewSimulationScreen("UTF-8")
		done := make(chan error, 1)
		go func() { done <- Run(ctx, Options{Dir: pr.Dir, Screen: screen}) }()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(bound):
			t.Fatal("it does not end")
		}
		cancel()
	}
}

func TestScreen_beforeTheFirstRun_showsThePlan(t *testing.T) {
	for _, width := range []int{80, 160} {
		u := still(t, view.Snapshot{State: view.StateNone}, nil)
		all, err := readTasks([]byte(`[{"id":"T1","title":"first","state":"done"},{"id":"T2","title":"second\u001b[2J","state":"open"}]`))
		if err != nil {
			t.Fatal(err)
		}
		u.run.tasks.load(all)
		screen := simulate(t, width, 24)
		u.drawOn(screen)
		for _, want := range []string{"NO RUN", "t Tasks", "1/2 done", "✓ T1  first", "○ T2  second"} {
			if strings.Count(text(screen), want) != 1 {
				t.Errorf("%d columns: not once %q:\n%s", width, want, text(screen))
			}
		}
	}
}
