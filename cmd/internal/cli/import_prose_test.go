package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/world"
	"ralph/state"
)

const writer = `#!/bin/sh
nonce=$(sed -n 's/.*{"nonce": "\([^"]*\)".*/\1/p')
echo "{\"nonce\": \"$nonce\", \"userStories\": [{\"title\": \"Log in\", \"acceptanceCriteria\": [\"a wrong password is refused\"]}]}"
`

func TestImport_ai_showsTheStoriesAndAsks(t *testing.T) {
	for typed, want := range map[string]string{"y\n": "- [ ] Log in", "n\n": ""} {
		p := newProject(t, map[string]string{"notes.txt": "People want to log in.\n", "writer": writer})
		program := filepath.Join(p.dir, "writer")
		if err := os.Chmod(program, 0o755); err != nil {
			t.Fatal(err)
		}
		var both bytes.Buffer
		f := &cmdline.Factory{In: world.Typed(t, typed), Out: &both, Err: &both, Env: append(p.env, "AGENT=text", "AGENT_CMD="+program), Dir: p.dir}
		cmd := newImportCmd(f)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{filepath.Join(p.dir, "notes.txt"), "--ai"})
		err := cmd.ExecuteContext(t.Context())
		if !strings.Contains(both.String(), "+- [ ] Log in") || !strings.Contains(both.String(), "a wrong password is refused") || (err == nil) != (want != "") {
			t.Errorf("%q: %v\n%s", typed, err, both.String())
		}
		text, err := os.ReadFile(filepath.Join(p.dir, ".ralph/fix_plan.md"))
		if want == "" && !errors.Is(err, fs.ErrNotExist) || !strings.Contains(string(text), want) {
			t.Errorf("%q: wrote %q, %v", typed, text, err)
		}
	}
}

func TestImport_aiWithoutTerminal_callsNobody(t *testing.T) {
	p := newProject(t, map[string]string{"notes.txt": "People want to log in.\n"})
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var both bytes.Buffer
	cmd := newImportCmd(&cmdline.Factory{In: null, Out: &both, Err: &both, Env: p.env, Dir: p.dir})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{filepath.Join(p.dir, "notes.txt"), "--ai"})
	if err := cmd.ExecuteContext(t.Context()); cmdline.ExitCode(err) != state.ExitUsage || !strings.Contains(err.Error(), "nobody can be asked here") {
		t.Error(err)
	}
}
