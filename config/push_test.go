package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ralph/ptyexec"
	"ralph/runner/hooks"
	"ralph/state"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	os.Exit(m.Run())
}

// pushed runs the hook of AIOS_PUSH_ENABLED in a clone that is one commit ahead of its remote.
func pushed(t *testing.T, mode string, change func(git func(dir string, args ...string) string, clone, remote string)) (state.Hook, string) {
	t.Helper()
	remote, clone := filepath.Join(t.TempDir(), "remote.git"), filepath.Join(t.TempDir(), "clone")
	env := append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1")
	git := func(dir string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org", "-C", dir}, args...)...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git(filepath.Dir(remote), "init", "-q", "--bare", "-b", "main", remote)
	git(filepath.Dir(clone), "init", "-q", "-b", "main", clone)
	git(clone, "remote", "add", "origin", remote)
	git(clone, "commit", "-q", "--allow-empty", "-m", "start")
	git(clone, "push", "-q", "-u", "origin", "main")
	git(clone, "commit", "-q", "--allow-empty", "-m", "story")
	change(git, clone, remote)

	var said state.Hook
	c := Config{}
	set := hooks.Set{Hooks: []hooks.Hook{c.push()}, Dir: clone, Env: env, Emit: func(p state.Payload) {
		if h, ok := p.(state.Hook); ok {
			said = h
		}
	}}
	set.At(t.Context(), hooks.OnStoryComplete, func() hooks.Facts { return hooks.Facts{Mode: mode} })
	if got := git(clone, "log", "-1", "--format=%s"); got != "story" {
		t.Errorf("the commit is lost: %s", got)
	}
	if _, err := os.Stat(remote); err != nil {
		return said, ""
	}
	return said, git(remote, "log", "-1", "--format=%s", "main")
}

func TestPush_toARealRemote_orOneLineThatSaysWhyNot(t *testing.T) {
	type run = func(dir string, args ...string) string
	for name, test := range map[string]struct {
		mode         string
		change       func(git run, clone, remote string)
		failed, tops string
	}{
		"pushed":   {"aios", func(run, string, string) {}, "", "story"},
		"no story": {"standalone", func(run, string, string) {}, "", "start"},
		"remote gone": {"aios", func(_ run, _, remote string) { _ = os.RemoveAll(remote) },
			"fatal: '", ""},
		"remote has more": {"aios", func(git run, _, remote string) {
			other := remote + ".other"
			git(filepath.Dir(remote), "clone", "-q", remote, other)
			git(other, "commit", "-q", "--allow-empty", "-m", "of others")
			git(other, "push", "-q")
		}, "! [rejected] main -> main (fetch first)", "of others"},
		"no upstream": {"aios", func(git run, clone, _ string) { git(clone, "branch", "--unset-upstream") },
			"fatal: The current branch main has no upstream branch.", "start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, top := pushed(t, test.mode, test.change)
			if top != test.tops || said.Command != "git push, for AIOS_PUSH_ENABLED" {
				t.Errorf("the remote is at %q; %+v", top, said)
			}
			want := "git push failed; the commits stay here, and the next push takes them along: " + test.failed
			if test.failed == "" && said.Failed != "" || test.failed != "" && !strings.Contains(said.Failed, want) {
				t.Errorf("failed: %q", said.Failed)
			}
		})
	}
}
