package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
)

// sandboxBuild runs the verb in an empty project with an engine that prints its
// arguments and its input.
func sandboxBuild(t *testing.T, args ...string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "podman"), []byte("#!/bin/sh\necho \"podman $*\"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	var out bytes.Buffer
	f := &cmdline.Factory{Out: &out, Err: &out, Env: append(os.Environ(), "HOME="+t.TempDir()), Dir: t.TempDir()}
	cmd := newSandboxCmd(f)
	cmd.SetArgs(append([]string{"build"}, args...))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestSandboxBuild(t *testing.T) {
	out, err := sandboxBuild(t, "--agent", "claude@2.1.0,codex")
	want := "podman build --tag localhost/ralph-sandbox -\n"
	const packages = `ARG PACKAGES="@anthropic-ai/claude-code@2.1.0 @openai/codex"`
	if err != nil || !strings.HasPrefix(out, want) || !strings.Contains(out, packages) || !strings.Contains(out, "FROM ${BASE}") || !strings.Contains(out, "use it with: SANDBOX=podman") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := sandboxBuild(t, "--print", "--agent", "claude"); err != nil || !strings.Contains(out, `ARG PACKAGES="@anthropic-ai/claude-code"`) || strings.Contains(out, "podman build") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := sandboxBuild(t, "--print", "--agent", "cursor"); err != nil || !strings.Contains(out, `ARG PACKAGES=""`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSandboxBuild_badInput(t *testing.T) {
	for args, want := range map[string]string{
		"--agent=nobody": "nobody",
		"--agent=cursor": "the agent cursor does not come from npm; start from: ralph sandbox build --print",
	} {
		_, err := sandboxBuild(t, strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
		var usage *cmdline.ExitError
		if errors.As(err, &usage) && usage.Code != 2 {
			t.Errorf("%s: exit %d", args, usage.Code)
		}
	}
}
