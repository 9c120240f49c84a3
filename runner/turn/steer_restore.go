package turn

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"ralph/state/projectfs"
)

// maxProtected limits the size of a file to restore, in bytes.
const maxProtected = 16 << 20

// protectedFiles are files as they were before the call.
type protectedFiles []protectedFile

type protectedFile struct {
	path string
	data []byte
	mode fs.FileMode
}

// protectFiles remembers files of a project. It leaves out those that are missing or empty now: their
// readers report that.
func protectFiles(dir string, paths []string) protectedFiles {
	var all protectedFiles
	project := projectfs.In(dir)
	for _, path := range paths {
		info, err := project.Lstat(path)
		if err != nil {
			continue
		}
		if data, err := project.Read(path, maxProtected); err == nil && len(bytes.TrimSpace(data)) > 0 {
			all = append(all, protectedFile{path, data, info.Mode().Perm()})
		}
	}
	return all
}

// Restore restores the files that were removed, emptied or replaced by a link, and returns their names.
func (all protectedFiles) Restore(dir string) ([]string, error) {
	project := projectfs.In(dir)
	var damaged []string
	for _, f := range all {
		data, err := project.Read(f.path, maxProtected)
		if err == nil && len(bytes.TrimSpace(data)) > 0 {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !projectfs.IsLink(err) {
			continue // an unreadable file is not lost; a rule reports an unreadable plan
		}
		if err := project.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return damaged, fmt.Errorf("restore file: %w", err)
		}
		if err := errors.Join(project.Clear(f.path), project.Write(f.path, f.data, f.mode)); err != nil {
			return damaged, fmt.Errorf("restore file: %w", err)
		}
		damaged = append(damaged, relative(dir, f.path))
	}
	return damaged, nil
}

// relative returns a path for people: relative to the project if it is inside.
func relative(dir, path string) string {
	if r, err := filepath.Rel(dir, path); err == nil && r != ".." && !strings.HasPrefix(r, "../") {
		return r
	}
	return path
}
