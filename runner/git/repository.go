package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ralph/runner/git/command"
)

// Condition is the state of a repository that decides whether a run may start.
type Condition struct {
	Repo bool // false: not in a work tree of git, or git is not installed
	// Operation is the one in progress: "merge", "rebase", "am", "cherry-pick",
	// "revert", "bisect" or empty.
	Operation  string
	Branch     string // empty: HEAD is detached
	Root       string // of the work tree; empty: none
	GitVersion string // "2.39.5"; empty: git is not installed
}

// Inspect returns the condition of the repository of dir. If git fails, because the repository is damaged or belongs to
// another user, it returns an error and an incomplete Condition.
func Inspect(ctx context.Context, dir string) (Condition, error) {
	var c Condition
	c.Root, _ = Root(dir)
	version, err := command.Run(ctx, dir, "version")
	if errors.Is(err, exec.ErrNotFound) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("inspect repository: %w", err)
	}
	if f := strings.Fields(version); len(f) > 2 {
		c.GitVersion = f[2]
	}
	if c.Root == "" {
		return c, nil
	}
	c.Operation = operation(c.Root)
	out, err := command.Call{Dir: dir, Discover: true}.Run(ctx, "status", "--porcelain=v2", "--branch", "-z",
		"--untracked-files=no", "--ignore-submodules=all", "--no-ahead-behind")
	if errors.Is(err, command.ErrNoRepository) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("inspect repository %q: %w", c.Root, err)
	}
	snap, _, err := parseStatus(out)
	if err != nil {
		return c, fmt.Errorf("inspect repository %q: %w", c.Root, err)
	}
	c.Repo, c.Branch = true, snap.Branch
	return c, nil
}

// Root returns the nearest folder from dir upwards that contains .git, with symbolic
// links resolved. Like git, it ignores a .git folder without HEAD.
func Root(dir string) (string, bool) { return command.Root(dir) }

// operation returns the operation in progress in the work tree at root, according to git's files.
func operation(root string) string {
	dir := command.MetaDir(root)
	for _, o := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, o.file)); err == nil {
			return o.name
		}
	}
	// Between two commits of a series, only the list of the remaining ones shows it.
	todo, err := os.ReadFile(filepath.Join(dir, "sequencer", "todo")) // file: in the folder of git
	switch {
	case err != nil:
		return ""
	case strings.HasPrefix(string(todo), "revert"):
		return "revert"
	}
	return "cherry-pick"
}

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
