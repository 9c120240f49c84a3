package steer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"ralph/state"
)

// maxProtected bounds a file that is restored.
const maxProtected = 16 << 20

// Protected are files as they were before the call.
type Protected []protectedFile

type protectedFile struct {
	path string
	data []byte
	mode fs.FileMode
}

// Protect remembers files. Those that are missing or empty now are left out:
// whoever needs them says so.
func Protect(paths []string) Protected {
	var all Protected
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if data, err := state.ReadFile(path, maxProtected); err == nil && len(bytes.TrimSpace(data)) > 0 {
			all = append(all, protectedFile{path, data, info.Mode().Perm()})
		}
	}
	return all
}

// Restore puts back what was removed or emptied, and names it.
func (all Protected) Restore(dir string) ([]string, error) {
	var damaged []string
	for _, f := range all {
		data, err := state.ReadFile(f.path, maxProtected)
		if err == nil && len(bytes.TrimSpace(data)) > 0 {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // unreadable is not lost: the plan's own rule names it
		}
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return damaged, fmt.Errorf("restore file: %w", err)
		}
		if err := renameio.WriteFile(f.path, f.data, f.mode, renameio.WithTempDir(filepath.Dir(f.path))); err != nil {
			return damaged, fmt.Errorf("restore file: %w", err)
		}
		damaged = append(damaged, relative(dir, f.path))
	}
	return damaged, nil
}

// relative is a path as people know it: relative to the project when it is in it.
func relative(dir, path string) string {
	if r, err := filepath.Rel(dir, path); err == nil && r != ".." && !strings.HasPrefix(r, "../") {
		return r
	}
	return path
}
