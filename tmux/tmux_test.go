package tmux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

func TestOpen_anyBaseIndexAndSize_bothProgramsRunInPlace(t *testing.T) {
	for _, index := range []string{"0", "1"} {
		for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 50}} {
			for _, server := range []bool{false, true} {
				t.Run(fmt.Sprintf("base %s at %dx%d, server %v", index, size[0], size[1], server), func(t *testing.T) {
					c := newClient(t, "set -g base-index "+index+"\nset -g pane-base-index "+index+"\n")
					if server {
						if _, err := c.ask(t.Context(), "new-session", "-d", "-s", "other", "sleep", "60"); err != nil {
							t.Fatal(err)
						}
					}
					l, out := layout(t, c, "sleep")
					l.Width, l.Height = size[0], size[1]
					s := open(t, c, l)
					read(t, out)
					read(t, filepath.Join(l.Dir, "monitor"))
					where, err := c.ask(t.Context(), "list-panes", "-t", s.ID, "-F", "#{pane_id} #{pane_left} #{pane_top} #{pane_active}")
					if err != nil {
						t.Fatal(err)
					}
					lines := strings.Split(where, "\n")
					first, second := s.Monitor+" 0 0 1", s.Runner+" 0 "
					if size[0] >= minWide {
						first, second = s.Runner+" 0 0 0", s.Monitor
					}
					if len(lines) != 2 || lines[0] != first || !strings.HasPrefix(lines[1], second) {
						t.Errorf("%q, want first %q, then %q", lines, first, second)
					}
				})
			}
		}
	}
}

func TestOpen_oddWords_reachTheProgramUnchanged(t *testing.T) {
	c := newClient(t, "")
	l, out := layout(t, c, "sleep")
	l.Dir = filepath.Join(l.Dir, "my #[fg=red] ;\"' #{pane_id} $HOME ~ ü🙂;")
	if err := os.Mkdir(l.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	words := []string{"", "a b", `it's "so"`, ";", "end;", `end\;`, "#{pane_id}", "#S", "$HOME", "~", "-x", "--", "ü🙂", "two\nlines\ttab", `back\slash`, "{", "}", "%if", "{a}", "\xff\xfe"}
	l.Runner = append(l.Runner, words...)
	open(t, c, l)
	got := read(t, out)
	want := slices.Clone(words)
	want[len(want)-1] = "��" // what JSON makes of the report's two bytes
	if diff := cmp.Diff(want, got.Args); diff != "" {
		t.Error(diff)
	}
	if got.Dir != l.Dir {
		t.Errorf("the program runs in %q, want %q", got.Dir, l.Dir)
	}
}

func TestOpen_callersEnvironment_reachesTheRunnerAndNothingElseDoes(t *testing.T) {
	c := newClient(t, "")
	// A server of long ago, which knows variables that the caller does not have.
	old := &Client{Socket: c.Socket, Env: append(os.Environ(), "STALE_KEY=old", "CHANGED=old")}
	if _, err := old.ask(t.Context(), "new-session", "-d", "-s", "other", "sleep", "60"); err != nil {
		t.Fatal(err)
	}
	l, out := layout(t, c, "sleep")
	given := map[string]string{
		"CHANGED": "new", "EMPTY": "", "LINES_IN": "one\ntwo;\n", "QUOTES": `'"$HOME #{pane_id}\;`, "BASH_FUNC_x%%": "() { :; }",
		"BIG": strings.Repeat("x", 100_000), "BIG2": strings.Repeat("ü", 50_000),
	}
	for name, value := range given {
		l.Env = append(l.Env, name+"="+value)
	}
	l.Env = append(l.Env, "TMUX=/nowhere,1,0", "TMUX_PANE=%99", "TERM=odd")
	s := open(t, c, l)
	got := read(t, out)
	for name, want := range given {
		if v, ok := got.env(name); !ok || v != want {
			t.Errorf("%s reached the runner as %.60q, %v", name, v, ok)
		}
	}
	if v, ok := got.env("STALE_KEY"); ok {
		t.Errorf("STALE_KEY=%q came from the server", v)
	}
	if v, _ := got.env("TMUX_PANE"); v != s.Runner {
		t.Errorf("TMUX_PANE is %q, want %q", v, s.Runner)
	}
	if v, _ := got.env("TERM"); v == "odd" {
		t.Error("the caller's TERM replaced tmux's")
	}
}

func TestOpen_programPathWithSpaces_runsWithoutShell(t *testing.T) {
	c := newClient(t, "")
	l, out := layout(t, c, "sleep")
	odd := filepath.Join(l.Dir, "a = b; $(touch hacked) 'ralph")
	script := "#!/bin/sh\nexec " + l.Runner[0] + " " + out + " sleep\n"
	if err := os.WriteFile(odd, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	l.Runner = []string{odd}
	open(t, c, l)
	read(t, out)
	if _, err := os.Stat(filepath.Join(l.Dir, "hacked")); err == nil {
		t.Error("a shell saw the path")
	}
}

func TestOpen_sameName_isRefusedAndTheFirstGoesOn(t *testing.T) {
	c := newClient(t, "")
	l, out := layout(t, c, "sleep")
	s := open(t, c, l)
	read(t, out)
	if _, err := c.Open(t.Context(), l); !errors.Is(err, ErrDuplicate) {
		t.Fatalf("the second gave %v", err)
	}
	found, err := c.Find(t.Context(), l.Name)
	if err != nil || found == nil || *found != *s {
		t.Fatalf("found %+v, %v, want %+v", found, err, s)
	}
	if p, err := c.Pane(t.Context(), s.Runner); err != nil || p.Dead {
		t.Errorf("the first's runner is %+v, %v", p, err)
	}
}

func TestFind_onlyExactNamesOfOwnSessions(t *testing.T) {
	c := newClient(t, "")
	if s, err := c.Find(t.Context(), "ralph-x"); s != nil || err != nil {
		t.Fatalf("without a server: %v, %v", s, err)
	}
	l, _ := layout(t, c, "sleep")
	open(t, c, l)
	if s, err := c.Find(t.Context(), strings.TrimSuffix(l.Name, l.Name[len(l.Name)-1:])); s != nil || err != nil {
		t.Errorf("a prefix found %v, %v", s, err)
	}
	if _, err := c.ask(t.Context(), "new-session", "-d", "-s", "mine", "sleep", "60"); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Find(t.Context(), "mine"); s != nil || err == nil {
		t.Errorf("a foreign session gave %v, %v", s, err)
	}
}

func TestClose_idTakenByAnotherServer_leavesItAlone(t *testing.T) {
	c := newClient(t, "")
	l, _ := layout(t, c, "sleep")
	s := open(t, c, l)
	if _, err := c.ask(t.Context(), "kill-server"); err != nil {
		t.Fatal(err)
	}
	until(t, "end of the server", func() bool { _, err := c.ask(t.Context(), "list-sessions"); return err != nil })
	until(t, "new server", func() bool {
		_, err := c.ask(t.Context(), "new-session", "-d", "-s", "mine", "sleep", "60")
		return err == nil
	})
	if err := c.Close(t.Context(), s); err != nil {
		t.Error(err)
	}
	if out, err := c.ask(t.Context(), "list-sessions", "-F", "#{session_id} #{session_name}"); err != nil || out != s.ID+" mine" {
		t.Errorf("left are %q, %v", out, err)
	}
}

func TestBeside_splitsTheCallersPaneAndFocusesTheMonitor(t *testing.T) {
	for _, width := range []int{80, 160} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			c := newClient(t, "set -g pane-base-index 1\n")
			mine, err := c.ask(t.Context(), "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", strconv.Itoa(width), "-y", "24", "sleep", "60")
			if err != nil {
				t.Fatal(err)
			}
			l, _ := layout(t, c, "sleep")
			l.Env = append(l.Env, "KEY=a;\n")
			id, err := c.Beside(t.Context(), mine, l)
			if err != nil {
				t.Fatal(err)
			}
			got := read(t, filepath.Join(l.Dir, "monitor"))
			if v, _ := got.env("KEY"); v != "a;\n" {
				t.Errorf("KEY is %q", v)
			}
			want := id + " 1 0 0\n" + mine + " 0 0 "
			if width >= minWide {
				want = mine + " 0 0 0\n" + id + " 1 53 0"
			}
			where, err := c.ask(t.Context(), "list-panes", "-t", mine, "-F", "#{pane_id} #{pane_active} #{pane_left} #{pane_top}")
			if err != nil || !strings.HasPrefix(where, want) {
				t.Errorf("panes %q, want %q, %v", where, want, err)
			}
			if again, err := c.Beside(t.Context(), mine, l); err != nil || again != id {
				t.Errorf("a second monitor of the folder in pane %q, want that of %q; %v", again, id, err)
			}
			other := l
			other.Dir = t.TempDir()
			if again, err := c.Beside(t.Context(), mine, other); err != nil || again == id {
				t.Errorf("the monitor of another folder in pane %q, %v", again, err)
			}
		})
	}
}

func TestErrors_nameTheCause(t *testing.T) {
	c := newClient(t, "")
	if _, err := c.Pane(t.Context(), "%1"); !errors.Is(err, ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
	l, _ := layout(t, c, "sleep")
	missing := &Client{Path: filepath.Join(l.Dir, "none")}
	if _, err := missing.Open(t.Context(), l); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("without tmux: %v", err)
	}
	open(t, c, l)
	if _, err := c.Pane(t.Context(), "%99"); !errors.Is(err, ErrGone) {
		t.Errorf("unknown pane: %v", err)
	}
	if _, err := c.ask(t.Context(), "new-window", "-Q"); err == nil || !strings.Contains(err.Error(), "unknown flag -Q") {
		t.Errorf("tmux's own words are missing: %v", err)
	}
}

// An older tmux has no -e, no script on standard input, no pane options and
// no sizes in percent.
func TestAttach_sessionKilled_returnsAndTerminalTooPoorSaysSo(t *testing.T) {
	c := newClient(t, "")
	l, out := layout(t, c, "sleep")
	s := open(t, c, l)
	read(t, out)
	tty, end := terminal(t)
	attach := func(term string) chan error {
		cmd := exec.Command(self(t))
		cmd.Env = append(os.Environ(), "ATTACH_TO="+s.ID, "TERM="+term)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, os.Stderr
		done := make(chan error, 1)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { done <- cmd.Wait() }()
		return done
	}
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := tty.Read(buf); err != nil {
				return
			}
		}
	}()
	if err := <-attach("no-such-terminal"); err == nil {
		t.Error("an unusable terminal was attached")
	}
	done := attach("xterm")
	until(t, "client", func() bool {
		n, err := c.ask(t.Context(), "list-clients", "-F", "#{client_name}")
		return err == nil && n != ""
	})
	if err := c.Close(t.Context(), s); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("attach ended with %v", err)
	}
}

func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave
}

func TestName_isSafeForTmuxAndDistinctForEachFolder(t *testing.T) {
	for dir, want := range map[string]string{
		"/home/a/shop":      "ralph-shop-",
		"/home/a/my.app:v2": "ralph-my_app_v2-",
		"/x/a b#{pane}'\"":  "ralph-a_b__pane___-",
		"/x/bücher":         "ralph-bücher-",
		"/x/\xff\n":         "ralph-__-",
		"/":                 "ralph-_-",
	} {
		if got := Name(dir); !strings.HasPrefix(got, want) || len(got) != len(want)+4 {
			t.Errorf("%q is named %q, want %q and four digits", dir, got, want)
		}
	}
	if Name("/a/shop") == Name("/b/shop") {
		t.Error("two folders share a name")
	}
	if Name("/a/shop") != Name("/a/shop/") {
		t.Error("a slash at the end changes the name")
	}
	if n := len([]rune(Name("/a/" + strings.Repeat("x", 300)))); n > 60 {
		t.Errorf("a long folder gives %d characters", n)
	}
}
