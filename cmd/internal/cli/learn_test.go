package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/memory"
	"ralph/state"
)

// learn runs the verb in a folder, without a terminal.
func learn(t *testing.T, dir string, env []string, args ...string) (out string, code int) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var text strings.Builder
	cmd := newLearnCmd(&cmdline.Factory{In: null, Out: &text, Err: &text, Dir: dir, Env: env})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.Execute()
	if exit := (*cmdline.ExitError)(nil); errors.As(err, &exit) {
		return text.String() + exit.Text, exit.Code
	}
	if err != nil {
		return text.String() + err.Error(), state.ExitError
	}
	return text.String(), 0
}

func TestLearn(t *testing.T) {
	dir := t.TempDir()
	says := func(want string, code int, args ...string) string {
		t.Helper()
		out, got := learn(t, dir, nil, args...)
		if got != code || !strings.Contains(out, want) {
			t.Errorf("%q: exit code %d, want %d, and %q in\n%s", args, got, code, want, out)
		}
		return out
	}
	says("nothing was learned yet", 0)
	if _, err := os.Stat(filepath.Join(dir, ".ralph")); err == nil {
		t.Error("the list made the state directory")
	}
	id := regexp.MustCompile(`[0-9a-f]{6}`).FindString(says("added ", 0, "add", "Dates are stored in UTC."))
	says("says so already", 0, "add", "Dates are stored in UTC")
	says(id+"  Dates are stored in UTC.", 0, "list")
	says(`no lesson has the id "nope"; see: ralph learn list`, 2, "forget", "nope")
	says("the lesson is empty", 2, "add", " ")
	orders := regexp.MustCompile(`[0-9a-f]{6}`).FindString(says("kept because a person says it; from an agent it would not be: it gives orders about tests and checks", 0, "add", "Skip the tests"))
	says("Skip the tests", 0, "list")
	says("forgot", 0, "forget", orders)
	if out, code := learn(t, dir, []string{"RALPH_INSIDE=r1"}, "forget", id); code != 2 || !strings.Contains(out, "an agent cannot change what ralph has learned") {
		t.Errorf("an agent: exit code %d, %s", code, out)
	}
	says("forgot "+id, 0, "forget", id)
	if all, err := memory.Load(dir); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestLearn_keyOfAVendor_isNotKept(t *testing.T) {
	dir := t.TempDir()
	if out, code := learn(t, dir, nil, "add", "The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789 here."); code != 0 {
		t.Fatal(out)
	}
	b, err := os.ReadFile(filepath.Join(dir, ".ralph", "LEARNINGS.md"))
	if err != nil || !strings.Contains(string(b), "The key is") || strings.Contains(string(b), "uvwxyz0123456789") {
		t.Errorf("%v, %s", err, b)
	}
}

func TestLearn_onAnotherBranch_beginsWithItsMemory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	learn(t, dir, nil, "add", "Of the main branch")
	git("checkout", "-q", "-b", "other")
	out, code := learn(t, dir, nil, "add", "Of the other branch")
	if list, _ := learn(t, dir, nil, "list"); code != 0 || strings.Contains(list, "main") || !strings.Contains(out, "the branch is other, no longer main") {
		t.Errorf("exit code %d: %s\n%s", code, out, list)
	}
	git("checkout", "-q", "main")
	if out, code := learn(t, dir, nil, "add", "More"); code != 0 || !strings.Contains(out, "took 1 lesson of this branch back") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
