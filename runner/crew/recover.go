package crew

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ralph/runner/git/command"
)

// markMove records that ralph is moving the user's checkout to a commit.
func (b *branch) markMove(tip string) error {
	if b.Note == "" {
		return nil
	}
	return os.WriteFile(b.Note, []byte(tip), 0o600) // file: in the cache
}

func (b *branch) unmarkMove() {
	if b.Note != "" {
		_ = os.Remove(b.Note) // on an error, Recover finds nothing to do
	}
}

// Recover restores the user's checkout if ralph was killed while git moved it. It restores the files that git had
// already changed, and leaves all others as they are.
func (b *branch) Recover(ctx context.Context) error {
	b.unlock()
	tip, err := os.ReadFile(b.Note) // file: in the cache
	if b.Note == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	meta := command.MetaDir(b.User)
	for _, name := range []string{"index.lock", "HEAD.lock", "ORIG_HEAD.lock", "MERGE_HEAD.lock"} {
		_ = os.Remove(filepath.Join(meta, name)) // of the git that was killed
	}
	if on, err := b.onBranch(ctx); err == nil && on != "HEAD" {
		_ = os.Remove(filepath.Join(meta, filepath.FromSlash(on)+".lock"))
	}
	if err == nil {
		err = b.restore(ctx, string(tip))
	}
	if err != nil {
		return fmt.Errorf("restore the checkout after a kill: %w", err)
	}
	b.unmarkMove()
	return nil
}

// restore restores the files that are already as in the tip.
func (b *branch) restore(ctx context.Context, tip string) error {
	out, err := command.Run(ctx, b.User, "diff-tree", "-r", "-z", "--no-renames", "HEAD", tip)
	if err != nil {
		return err
	}
	fields := strings.Split(out, "\x00")
	var back, added []string
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(fields[i]) // :mode mode oid oid status
		if len(f) < 5 {
			break
		}
		name := fields[i+1]
		now, err := command.Run(ctx, b.User, "hash-object", "--", name)
		_, gone := os.Lstat(filepath.Join(b.User, name))
		switch {
		case f[4] == "A" && err == nil && strings.TrimSpace(now) == f[3]:
			added = append(added, name)
		case f[4] == "D" && gone != nil, f[4] != "A" && err == nil && strings.TrimSpace(now) == f[3]:
			back = append(back, name)
		}
	}
	if all := append(append([]string{}, back...), added...); len(all) > 0 {
		_, err = command.Call{Dir: b.User, Env: []string{"GIT_LITERAL_PATHSPECS=1"}}.Run(ctx,
			append([]string{"reset", "-q", "HEAD", "--"}, all...)...)
	}
	if err == nil && len(back) > 0 {
		_, err = command.Call{Dir: b.User, Env: []string{"GIT_LITERAL_PATHSPECS=1"}}.Run(ctx,
			append([]string{"checkout", "-q", "HEAD", "--"}, back...)...)
	}
	for _, name := range added {
		err = errors.Join(err, os.Remove(filepath.Join(b.User, name)))
	}
	return err
}

// unlock removes the locks of ralph's own refs that a kill left.
func (b *branch) unlock() {
	common := command.MetaDir(b.User)
	if folder := filepath.Dir(common); filepath.Base(folder) == "worktrees" {
		common = filepath.Dir(folder)
	}
	for _, pattern := range []string{"refs/ralph-work/*.lock", "refs/heads/ralph/*.lock"} {
		all, _ := fs.Glob(os.DirFS(common), pattern)
		for _, lock := range all {
			_ = os.Remove(filepath.Join(common, lock))
		}
	}
}
