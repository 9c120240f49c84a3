package monitor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/logs/termtext"
	"ralph/state"
)

// pane is a monitor in a pane of a private tmux server.
type pane struct {
	t     testing.TB
	verbs string // file of the verbs that the monitor has run
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", "t", "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// openPane starts this test binary as the monitor of dir.
func openPane(t testing.TB, dir string, size [2]int, env ...string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("RALPH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("tmux is not installed")
	}
	sockets, err := os.MkdirTemp("", "tm") // a socket path is at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", sockets)
	for _, name := range []string{"TMUX", "TMUX_PANE"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	p := &pane{t: t, verbs: filepath.Join(t.TempDir(), "verbs")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-L", "t", "kill-server").Run()
		os.RemoveAll(sockets)
	})
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"new-session", "-d", "-x", strconv.Itoa(size[0]), "-y", strconv.Itoa(size[1]), "env", "TERM=screen-256color", "LANG=C.UTF-8",
		"MONITOR_TEST_DIR=" + dir, "MONITOR_TEST_VERBS=" + p.verbs}
	args = append(append(args, env...), exe)
	p.tmux(append(args, ";", "set-option", "-g", "remain-on-exit", "on", ";", "set-option", "-g", "remain-on-exit-format", "", ";", "set-option", "-g", "status", "off")...)
	return p
}

func (p *pane) keys(keys ...string) { p.tmux(append([]string{"send-keys"}, keys...)...) }

func (p *pane) screen() string { return p.tmux("capture-pane", "-p") }

// shows waits for all texts to be on the screen at once.
func (p *pane) shows(texts ...string) {
	p.t.Helper()
	p.wait(strings.Join(texts, " & "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

func (p *pane) hides(text string) {
	p.t.Helper()
	p.wait("end of "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

func (p *pane) wait(what string, ok func(string) bool) {
	p.t.Helper()
	screen := ""
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if screen = p.screen(); ok(screen) {
			return
		}
	}
	p.t.Fatalf("no %s on the screen:\n%s", what, screen)
}

func (p *pane) called() string {
	data, _ := os.ReadFile(p.verbs)
	return strings.Join(strings.Fields(string(data)), " ")
}

// living is a project with a runner that is alive, and a long log.
func living(t testing.TB) *sample.Project {
	t.Helper()
	now := time.Now()
	s, events := sample.Run(now)
	s.Owner.PID = os.Getpid()
	p := sample.New(t, s, events)
	for i := range 200 {
		text := fmt.Sprintf("line number %d of the log, %s", i, strings.Repeat("and more words ", i%12))
		p.Add(state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: 7}, now.Add(time.Duration(i)*time.Millisecond), state.Text{Text: text}))
	}
	return p
}

func TestKeys_thatMoveInTheLog_moveInIt(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24})
	p.shows("RUNNING", "line number 199")
	p.keys("l")
	p.hides(" usage ")
	p.shows("Live log", "line number 190")
	p.keys("g")
	p.shows("run 20261120-131810 · agent claude", "scrolled back")
	p.keys("G")
	p.shows("following", "line number 199")
	p.keys("k", "Up")
	p.shows("scrolled back")
	p.keys("j", "Down")
	p.shows("following")
	p.keys("PPage", "b", "C-u")
	p.shows("scrolled back")
	p.hides("line number 199")
	p.keys("NPage", "Space", "C-d")
	p.shows("following")
	p.keys("f")
	p.shows("scrolled back")
	p.keys("Home")
	p.hides("line number 199")
	p.keys("f")
	p.shows("following", "line number 199")
	p.keys("w")
	p.shows("unwrapped")
	p.keys("w")
	p.hides("unwrapped")
	p.keys("l")
	p.shows(" usage ", "l Live log")
}

func TestKeys_thatSearch_findOlderAndNewer(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24})
	p.shows("RUNNING", "line number 199")
	search := func(keys ...string) {
		p.keys("/")
		for _, k := range keys {
			if len(k) > 6 {
				p.keys("-l", k)
			} else {
				p.keys(k)
			}
		}
	}
	p.keys("n")
	p.shows("search first")
	search("number 33 OF")
	p.shows("/number 33 OF")
	p.keys("Enter")
	p.shows("no match")
	search("number 33 of", "Enter")
	p.shows("line number 33 of")
	search("CURSOR ", "BSpace", "C-u", "offset stays", "Enter")
	p.shows("The old offset stays")
	search("line number 5", "Enter")
	p.shows("line number 59")
	p.keys("n")
	p.shows("line number 58")
	for range 4 {
		p.keys("n")
	}
	p.hides("line number 59")
	for range 5 {
		p.keys("N")
	}
	p.shows("line number 59")
	search("left by", "Escape")
	p.hides("/left by")
}

// withPager adds a live log, and a pager for it.
func withPager(t *testing.T, pr *sample.Project) (pager string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(pr.StateDir(), "live.log"), []byte("text for \x1b[2Jthe pager\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pager = filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\ncat \"$1\"; echo 'PAGER ENDS'; read x\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return pager
}

func TestKeys_thatShowOutput_openThePager(t *testing.T) {
	pr := living(t)
	p := openPane(t, pr.Dir, [2]int{80, 24}, "PAGER="+withPager(t, pr))
	p.shows("RUNNING")
	p.keys("o")
	p.shows("text for the pager", "PAGER ENDS")
	p.keys("C-c") // for the pager, not for the monitor
	p.shows(" usage ")
	p.keys("o")
	p.shows("PAGER ENDS")
	p.keys("Enter")
	p.shows("RUNNING", " usage ")
}

func TestKeys_thatChangeTheScreen_changeIt(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24})
	p.shows("RUNNING")
	for key, title := range map[string]string{"t": "t Tasks", "c": "c Checks and findings", "T": "T Timeline", "l": "l Live log"} {
		p.keys(key)
		p.shows(title)
		p.hides(" usage ")
		p.keys(key)
		p.shows(" usage ", "l Live log")
	}
	p.keys("?")
	p.shows("pause after this iteration", "more below", "ralph 1.2.3")
	p.keys("G")
	p.shows("redraw the screen", "quit this screen")
	p.keys("g")
	p.shows("pause after this iteration")
	p.keys("?")
	p.shows(" usage ")
	p.keys("M")
	p.shows("mouse on", "q quit")
	p.keys("-l", "\x1b[<64;10;22M") // the wheel over the log
	p.shows("scrolled back")
	p.keys("-l", "\x1b[<65;10;22M")
	p.shows("following")
	for y, row := range strings.Split(p.screen(), "\n") {
		if strings.HasPrefix(row, " time ") { // a click on the strip
			p.keys("-l", fmt.Sprintf("\x1b[<0;19;%dM\x1b[<0;19;%[1]dm", y+1))
		}
	}
	p.keys("Enter")
	p.shows("› transcript", "Transcript of iteration 6")
	p.keys("Escape") // below, it is in the place of the log
	p.hides("› transcript")
	p.shows("Transcript of iteration 6", " usage ")
	p.keys("Escape")
	p.hides("Transcript of iteration 6")
	p.keys("M")
	p.shows("mouse off")
	p.keys("C-l")
	p.shows(" usage ")
	p.keys("?")
	p.shows("pause after this iteration")
	p.keys("Escape")
	p.shows(" usage ")
	p.keys("C-c")
	p.shows("monitor ended")
}

func TestRun_fromNothingToTheEnd_isFollowedOnTheScreen(t *testing.T) {
	pr := sample.Empty(t)
	p := openPane(t, pr.Dir, [2]int{100, 30})
	p.shows("NO RUN", "nothing has run here yet")

	now := time.Now()
	s, events := sample.Run(now)
	s.Owner.PID = os.Getpid()
	pr.Lock(s.Owner)
	p.shows("STARTING", "a run is starting")
	pr.JSON("status.json", s.Status)
	pr.Add(events...)
	p.shows("RUNNING", "6/10 done", "iteration 7 of 50", "Edit src/api/pagination.go")

	s.Status.Status, s.Status.Rule, s.Status.WakeAt = state.StatusWaiting, "usage_limit", now.Add(3*time.Minute)
	s.Status.Limit = &state.Limit{Name: "five_hour", Rejected: true, ResetsAt: now.Add(2 * time.Minute)}
	pr.JSON("status.json", s.Status)
	p.shows("WAITING", "5-hour usage limit", "left, until")
	before := p.screen()
	p.wait("countdown", func(s string) bool { return strings.Contains(s, "left, until") && s != before })

	s.Status.Status = state.StatusPaused
	pr.JSON("status.json", s.Status)
	p.shows("PAUSED", "p resume")
	p.keys("p")
	p.shows("resume will act soon")

	if err := os.WriteFile(filepath.Join(pr.StateDir(), "status.json"), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.shows("status.json is unusable", "PAUSED")

	s.Status.Status, s.Status.ExitReason, s.Status.Rule, s.Status.Reason = state.StatusCompleted, "plan_complete", "complete", "all tasks are done"
	s.Status.Task.Done = 10
	pr.JSON("status.json", s.Status)
	end := state.RunEnd{Decision: state.Decision{Rule: "complete", Reason: "all tasks are done"}}
	pr.Add(state.NewEvent(state.Origin{Run: s.Status.RunID}, now, end))
	pr.Release()
	p.shows("COMPLETED", "10/10 done", "run ended · exit code 0")
	p.wait("no runner is alive here", func(s string) bool { // the end shows before the lock is seen to be free
		p.keys("p")
		return strings.Contains(s, "no runner is alive here")
	})
	p.keys("q")
	p.shows("monitor ended")
}

func TestScreen_hostileOutputInARealTerminal_changesNothingOutsideItsCells(t *testing.T) {
	pr := living(t)
	p := openPane(t, pr.Dir, [2]int{120, 40})
	p.tmux("set-option", "-g", "set-clipboard", "on")
	p.tmux("set-option", "-g", "allow-passthrough", "on")
	p.tmux("set-option", "-g", "monitor-bell", "on")
	p.shows("RUNNING")
	title := p.tmux("display-message", "-p", "#{pane_title}")
	for _, evil := range []string{
		"\x1b]0;owned\x07", "\x1b]2;owned\x1b\\", "\x1bkowned\x1b\\", "\x1b]52;c;b3duZWQ=\x07", "\x1bPtmux;\x1b\x1b]0;owned\x07\x1b\\", "\a\a\a",
		"\x1b[2J\x1b[H", "\x1b[?1049l", "\x1b[10;10Howned", "\x1b[8;5;5t", "\x1bc", "\u009b2J", "\x1b(0", "\x0e", "\r\r\r", "\b\b\b\b\b\b",
		"[red:blue:b]", `["region"]`, "漢字\u200d🙂\ufe0f\u202eabc", "e" + strings.Repeat("\u0301", 50), "🇩🇪👩\u200d👩\u200d👧👍🏽",
	} {
		pr.Add(sample.Say("before " + evil + " behind"))
	}
	pr.Add(sample.Say("the end of the corpus"))
	p.shows("the end of the corpus", "[red:blue:b] behind", "RUNNING", "│")
	if got := p.tmux("display-message", "-p", "#{pane_title} #{window_bell_flag}"); got != strings.TrimSuffix(title, "\n")+" 0\n" {
		t.Errorf("title and bell are %q, the title was %q", got, title)
	}
	if out, err := exec.Command("tmux", "-L", "t", "show-buffer").CombinedOutput(); err == nil {
		t.Errorf("the clipboard holds %q", out)
	}
	column := -1
	for i, row := range strings.Split(p.screen(), "\n")[3:39] {
		at := strings.IndexAny(row, "┬│┤")
		if at < 0 {
			t.Fatalf("row %d has no divider: %q", i+3, row)
		}
		if cells := termtext.Width(row[:at]); column >= 0 && cells != column {
			t.Errorf("row %d has the divider at %d, not at %d: %q", i+3, cells, column, row)
		} else {
			column = cells
		}
	}
}
