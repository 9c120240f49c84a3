package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ralph/runner/git/command"
	"ralph/state/projectfs"
)

// Text is a changed text file. Its path is relative to the root of the repository.
type Text = ChangedFile

// Texts returns the changed files, including the user's files in .ralph, as they were before and are now; after must be
// current. It leaves out files that are binary or larger than 1 MiB on one side. Without a repository there are none.
// It runs at most one git process.
func (c Change) Texts(ctx context.Context, dir string, before, after Snapshot) ([]Text, error) {
	root, ok := Root(dir)
	if !ok || !before.Repo || !after.Repo {
		return nil, nil
	}
	files := slices.Clone(c.Files)
	for _, own := range []map[string]signature{before.own, after.own} {
		for path := range own {
			if before.own[path] != after.own[path] {
				files = append(files, path)
			}
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	committed, err := command.Contents(ctx, root, before.Head, slices.DeleteFunc(slices.Clone(files), before.Dirty))
	if err != nil {
		return nil, fmt.Errorf("read texts before: %w", err)
	}
	var all []Text
	for _, path := range files {
		t := Text{Path: path}
		known := true
		if sig, dirty := before.signature(path); dirty {
			t.Before, known = before.texts[path]
			t.Existed = sig != signature{}
			known = known || !t.Existed
		} else if t.Before, t.Existed = committed[path]; t.Existed {
			known = isText([]byte(t.Before))
		}
		if !known || !readAfter(&t, root) {
			continue
		}
		all = append(all, t)
	}
	return all, nil
}

// readAfter reads the current file. It returns false for a binary or large one.
func readAfter(t *Text, root string) bool {
	path := filepath.Join(root, filepath.FromSlash(t.Path))
	info, err := os.Lstat(path)
	if err != nil {
		return true // removed
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return false
	}
	data, err := projectfs.In(root).Read(path, maxText)
	if err != nil {
		return os.IsNotExist(err)
	}
	t.After, t.Exists = string(data), true
	return isText(data)
}

// Large returns the changed files that are now larger than 1 MiB.
func (c Change) Large(dir string) []string {
	root, ok := Root(dir)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Files), func(file string) bool {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file)))
		return err != nil || !info.Mode().IsRegular() || info.Size() <= maxText
	})
}
