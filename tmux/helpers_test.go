package tmux

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the program in a pane: it writes what it
// was given to the file in its first argument, then does what the second says.
// It can also be a client that attaches to a session.
func TestMain(m *testing.M) {
	if id := os.Getenv("ATTACH_TO"); id != "" {
		if err := (&Client{Socket: "t"}).Attach(context.Background(), &Session{ID: id}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv("TMUX_TEST_PANE") == "" {
		os.Exit(m.Run())
	}
	if len(os.Args) < 3 {
		os.Exit(97)
	}
	dir, _ := os.Getwd()
	data, _ := json.Marshal(seen{os.Args[3:], os.Environ(), dir})
	_ = os.WriteFile(os.Args[1]+".tmp", data, 0o600)
	_ = os.Rename(os.Args[1]+".tmp", os.Args[1])
	if code, err := strconv.Atoi(os.Args[2]); err == nil {
		fmt.Println("the last words")
		os.Exit(code)
	}
	time.Sleep(time.Minute) // sleep: a program that stays
}

// seen is what a program in a pane was given.
type seen struct {
	Args []string
	Env  []string
	Dir  string
}

func (s seen) env(name string) (string, bool) {
	for _, pair := range s.Env {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// newClient returns a client of a server that lives in the test's own folder.
func newClient(t *testing.T, conf string) *Client {
	t.Helper()
	c := &Client{Socket: "t"}
	if _, err := c.command(t.Context(), ""); err != nil {
		if os.Getenv("RALPH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "tm") // a socket path is at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", dir)
	t.Setenv("HOME", dir)
	for _, name := range []string{"TMUX", "TMUX_PANE", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	if err := os.WriteFile(filepath.Join(dir, ".tmux.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	t.TempDir() // registers its removal before, and so after, the end of the server
	t.Cleanup(func() {
		_, _ = c.ask(context.Background(), "kill-server")
		until(t, "end of the server", func() bool {
			_, err := c.ask(context.Background(), "list-sessions")
			return err != nil
		})
		os.RemoveAll(dir)
	})
	return c
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// layout puts two programs that report into out.
func layout(t *testing.T, c *Client, runnerDoes string) (l Layout, out string) {
	t.Helper()
	dir := t.TempDir()
	out = filepath.Join(dir, "runner")
	return Layout{
		Name:    Name(dir),
		Dir:     dir,
		Env:     append(os.Environ(), "TMUX_TEST_PANE=1"),
		Runner:  []string{self(t), out, runnerDoes},
		Monitor: []string{self(t), filepath.Join(dir, "monitor"), "sleep"},
		Width:   120, Height: 30,
	}, out
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("no %s within a minute", what)
}

func read(t *testing.T, path string) (s seen) {
	t.Helper()
	until(t, "report of "+path, func() bool {
		data, err := os.ReadFile(path)
		return err == nil && json.Unmarshal(data, &s) == nil
	})
	return s
}

func open(t *testing.T, c *Client, l Layout) *Session {
	t.Helper()
	s, err := c.Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
