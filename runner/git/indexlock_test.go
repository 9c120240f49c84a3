package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The lock of a commit whose process was killed as well is a link to the index that the commit prepared.
func TestCommit_lockOfAKilledCommit_isCleared(t *testing.T) {
	for name, c := range map[string]struct{ moved, foreign, alive bool }{
		"before HEAD moved": {},
		"after HEAD moved":  {moved: true},
		"another git's":     {foreign: true},
		"still at work":     {alive: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			meta := p.Path(".git")
			dir := filepath.Join(meta, indexDirs+"1")
			fresh, lock := filepath.Join(dir, "index"), filepath.Join(meta, lockName)
			index, err := os.ReadFile(filepath.Join(meta, "index"))
			p.Do(err)
			p.Do(os.Mkdir(dir, 0o700))
			p.Do(os.WriteFile(fresh, index, 0o644))
			if c.moved {
				p.Do(os.WriteFile(filepath.Join(dir, oidName), []byte(strings.TrimSpace(p.Git("rev-parse", "HEAD"))), 0o600))
			}
			if c.foreign {
				p.Do(os.WriteFile(lock, index, 0o644))
			} else {
				p.Do(os.Link(fresh, lock))
			}
			if c.alive {
				held, err := lockFresh(fresh, "0")
				p.Do(err)
				defer held.Close()
			}
			p.Write("a.txt", "2")
			done, err := Commit(context.Background(), p.Dir, CommitRequest{Files: []string{"a.txt"}, Message: "x"})
			if refused := c.foreign || c.alive; refused != (err != nil) || refused != (done.OID == "") {
				t.Errorf("%+v, %v", done, err)
			}
			if _, err := os.Lstat(lock); (err == nil) != (c.foreign || c.alive) {
				t.Errorf("lock: %v", err)
			}
		})
	}
}
