package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"ralph/runner/git/command"
)

// locate records where the repository is.
func (s *Snapshot) locate(root string) {
	s.root, s.meta = root, command.MetaDir(root)
	if real, err := filepath.EvalSymlinks(s.meta); err == nil {
		s.meta = real
	}
}

// Lost returns why after is not a later state of the same repository; empty: it is, or there was none. If it is not,
// ralph can neither prove nor undo anything. It runs one git process if HEAD moved, else none.
func (before Snapshot) Lost(ctx context.Context, after Snapshot) string {
	_, err := os.Lstat(filepath.Join(before.root, ".git"))
	switch {
	case !before.Repo:
		return ""
	case err != nil:
		return fmt.Sprintf("the repository of %q is gone: its .git is missing", before.root)
	case !after.Repo:
		return fmt.Sprintf("git no longer recognizes the repository of %q", before.root)
	case after.root != before.root:
		return fmt.Sprintf("the project is now in the repository of %q, no longer in that of %q",
			after.root, before.root)
	case after.meta != before.meta:
		return fmt.Sprintf("the repository of %q is now in %q, no longer in %q", before.root, after.meta, before.meta)
	case before.Head == "" || before.Head == after.Head:
		return ""
	}
	if _, err := command.Run(ctx, before.root, "cat-file", "-e", before.Head+"^{commit}"); err != nil &&
		ctx.Err() == nil {
		return fmt.Sprintf("the repository of %q has lost commit %.12s, which was HEAD", before.root, before.Head)
	}
	return ""
}
