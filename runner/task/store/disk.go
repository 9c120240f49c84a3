package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ralph/state/projectfs"
)

// ErrUnusable is the error of a file that cannot be a plan: it is unreadable, binary, too
// large, invalid or of an unknown format.
var ErrUnusable = errors.New("the plan cannot be used")

const (
	// MaxSize is the size in bytes of the largest plan, and of the largest file of one.
	MaxSize = 16 << 20
	// maxFiles and maxDepth limit a plan that is a folder.
	maxFiles = 50_000
	maxDepth = 6
	// maxReads is how often Read tries a file that changes meanwhile.
	maxReads = 5
)

// readStable returns the bytes of a plan file, at most MaxSize, as they were at one moment.
func readStable(in projectfs.Dir, path string) ([]byte, error) {
	for range maxReads {
		before, err := in.Lstat(path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
		}
		if before.Size() > MaxSize {
			return nil, fmt.Errorf("%w: %q is larger than %d MiB", ErrUnusable, path, MaxSize>>20)
		}
		data, err := in.Read(path, MaxSize)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
		}
		if after, err := in.Lstat(path); err == nil && before.ModTime().Equal(after.ModTime()) &&
			after.Size() == int64(len(data)) {
			return data, nil
		}
	}
	return nil, fmt.Errorf("%w: %q changes while it is read", ErrUnusable, path)
}

// filesIn lists the regular files below dir by slash path, sorted, without following links.
func filesIn(in projectfs.Dir, dir string) ([]string, error) {
	var names []string
	err := fs.WalkDir(in.FS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.Count(name, "/") >= maxDepth || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.Type().IsRegular():
			names = append(names, name)
		}
		if len(names) > maxFiles {
			return fmt.Errorf("%q has more than %d files", dir, maxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return names, nil
}
