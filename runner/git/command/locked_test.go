package command

import (
	"context"
	"fmt"
	"strings"
	"testing"
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
