package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ralph/runner/git/command"
)

// Index makes trees. Neither the user's index nor the work tree changes.
type Index struct{ root, dir string }

// indexDirs begins the names of the folders of indexes, in git's folder. Git ignores them.
const indexDirs = "ralph-index-"

// NewIndex returns an index with the files of a tree or commit; empty: without files.
func NewIndex(ctx context.Context, root, tree string) (Index, error) {
	meta := command.MetaDir(root)
	sweepIndexes(meta)
	dir, err := os.MkdirTemp(meta, indexDirs)
	x := Index{root, dir}
	if err == nil && tree != "" {
		_, err = x.Run(ctx, "", "read-tree", tree)
	}
	if err != nil {
		x.Close()
		return Index{}, fmt.Errorf("make index: %w", err)
	}
	return x, nil
}

// sweepIndexes removes the folders of processes that were killed.
func sweepIndexes(meta string) {
	all, _ := os.ReadDir(meta)
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), indexDirs) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(meta, e.Name()))
		}
	}
}

// Close removes the index.
func (x Index) Close() { _ = os.RemoveAll(x.dir) }

// Run runs git with the index.
func (x Index) Run(ctx context.Context, stdin string, args ...string) (string, error) {
	return command.Call{Dir: x.root, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(x.dir, "index")}, Stdin: stdin}.Run(ctx, args...)
}

// Add takes files as they are on disk. A missing one is removed.
func (x Index) Add(ctx context.Context, files []string) error {
	if len(files) == 0 {
		return nil
	}
	_, err := x.Run(ctx, strings.Join(files, "\x00")+"\x00", "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

// Tree writes the files as a tree and returns its object id.
func (x Index) Tree(ctx context.Context) (string, error) {
	tree, err := x.Run(ctx, "", "write-tree")
	return strings.TrimSpace(tree), err
}

// TreeWith writes the tree of a commit (empty: none), with these files as they are on disk.
func TreeWith(ctx context.Context, root, commit string, files []string) (string, error) {
	x, err := NewIndex(ctx, root, commit)
	if err != nil {
		return "", err
	}
	defer x.Close()
	if err := x.Add(ctx, files); err != nil {
		return "", err
	}
	return x.Tree(ctx)
}
