package turn

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ralph/ptyexec"
	"ralph/runner/sandbox"
	"ralph/runner/turn/edits"
	"ralph/state"
)

// In every sandbox, what an editor writes while the agent is alone is a person's, and nothing else is.
func TestOf_whoChangedTheFile(t *testing.T) {
	const wait = "read -t 4 <&3; "
	for _, mode := range sandbox.Names() {
		s := sandbox.Settings{Sandbox: mode}
		if s.InContainer() {
			continue // ralph cannot tell its processes from others
		}
		t.Run(mode, func(t *testing.T) {
			if _, err := s.Resolve(); err != nil {
				t.Skip(err)
			}
			for script, want := range map[string]int{
				wait:                                   1, // bash itself waits
				"sleep 30 & " + wait:                   0,
				"(sleep 1; echo x >plan.md) & " + wait: 0,
				"setsid sh -c 'sleep 1; echo x >plan.md' & disown; " + wait: 0,
			} {
				t.Run(script, func(t *testing.T) {
					t.Parallel()
					if got := attributed(t, s, script); len(got) != want {
						t.Errorf("a person made %q, want %d", got, want)
					}
				})
			}
		})
	}
}

// attributed runs an agent, a shell script in a sandbox. A person writes after a second, unless it does itself.
func attributed(t *testing.T, s sandbox.Settings, script string) []edits.Edit[string] {
	t.Helper()
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.md")
	if err := os.WriteFile(plan, []byte("start"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := s.At(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	box := c.Box(dir, plan)
	cmd, err := box.Wrap(ptyexec.Command{Args: []string{"/bin/bash", "-c", "mkfifo wait; exec 3<>wait; echo now; " + script}, Dir: dir, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	w := edits.Follow([]string{plan}, edits.Place{Below: box.Below(), Hidden: box.InContainer()}, func() string { data, _ := os.ReadFile(plan); return string(data) })
	cmd.Started = w.Started
	_, err = ptyexec.Run(t.Context(), cmd, func(p []byte) bool {
		if bytes.Contains(p, []byte("now")) {
			w.See(state.Tool{ID: "1"})
			w.See(state.ToolResult{Tool: state.Tool{ID: "1"}})
			if !bytes.Contains([]byte(script), []byte("plan")) {
				time.AfterFunc(1500*time.Millisecond, func() { _ = os.WriteFile(plan, []byte("a person's"), 0o600) })
			}
		}
		return false
	})
	if err != nil {
		t.Error(err)
	}
	return w.Stop()
}
