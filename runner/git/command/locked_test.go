package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The lock files are real: git itself refuses to wait for them for long.
func TestRun_heldLock_isOneLineThatNamesTheFile(t *testing.T) {
	for lock, change := range map[string][]string{
		".git/refs/heads/work.lock": {"update-ref", "refs/heads/work", "HEAD"},
		".git/packed-refs.lock":     {"update-ref", "-d", "refs/heads/packed"},
		".git/HEAD.lock":            {"update-ref", "HEAD", "HEAD^{commit}", "HEAD"},
		".git/index.lock":           {"read-tree", "HEAD"},
	} {
		t.Run(lock, func(t *testing.T) {
			p := repository(t)
			p.Git("branch", "packed")
			p.Git("pack-refs", "--all")
			before := p.Git("for-each-ref")
			p.Write(lock, "")
			_, err := Run(context.Background(), p.Dir, change...)
			want := fmt.Sprintf("another git is running, or was killed: %q exists", p.Path(lock))
			if err == nil || err.Error() != want {
				t.Errorf("got the error %v\nwant %s", err, want)
			}
			if after := p.Git("for-each-ref"); after != before {
				t.Errorf("refs have changed:\n%s", after)
			}
		})
	}
}

func TestLocked_otherErrors_areNotAboutLocks(t *testing.T) {
	for _, said := range []string{
		"", "fatal: bad object HEAD", "fatal: cannot lock ref 'HEAD': is at 1 but expected 2",
		"fatal: Unable to create '/p/.git/index.lock': Permission denied",
		"fatal: Unable to create '/p/notes': File exists.",
	} {
		if file := locked(said); file != "" {
			t.Errorf("locked(%q) = %q", said, file)
		}
	}
	if got := locked("fatal: Unable to create '/it's/.git/index.lock': File exists.\n\nmore"); !strings.HasSuffix(got, "'s/.git/index.lock") {
		t.Errorf("a quote in the path: %q", got)
	}
}

// Another git that makes a worktree writes this file after it has created it.
func TestRun_worktreeInTheMaking_isWaitedFor(t *testing.T) {
	p := repository(t)
	p.Git("worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "other"))
	p.Write(".git/worktrees/other/commondir", "")
	time.AfterFunc(50*time.Millisecond, func() {
		_ = os.WriteFile(p.Path(".git/worktrees/other/commondir"), []byte("../..\n"), 0o644)
	})
	out, err := Run(context.Background(), p.Dir, "for-each-ref", "--format=%(refname)%(worktreepath)", "refs/heads")
	if err != nil || out == "" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestUnlock_removesWhatAKilledCommitLeft(t *testing.T) {
	p := repository(t)
	for _, name := range []string{"index.lock", "next-index-4711.lock"} {
		p.Write(".git/"+name, "")
	}
	Unlock(p.Dir, "index")
	if left, _ := filepath.Glob(p.Path(".git/*.lock")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
