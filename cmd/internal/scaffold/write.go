package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write writes all of the files below dir, or none, and replaces existing ones.
// All texts are on disk under temporary names before the first gets its own.
func Write(dir string, files []File) (err error) {
	var undo []func() error
	defer func() {
		if err == nil {
			return
		}
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	var pending []*renameio.PendingFile
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		made, err := makeDir(filepath.Dir(path))
		if err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		if made {
			undo = append(undo, func() error { return os.Remove(filepath.Dir(path)) })
		}
		p, err := renameio.NewPendingFile(path,
			renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(0o644))
		if err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		undo = append(undo, p.Cleanup) // does nothing once the file has its name
		if _, err := p.WriteString(f.Text); err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		pending = append(pending, p)
	}
	for i, p := range pending {
		restore, err := keep(filepath.Join(dir, filepath.FromSlash(files[i].Path)))
		if err != nil {
			return fmt.Errorf("write %q: %w", files[i].Path, err)
		}
		if err := p.CloseAtomicallyReplace(); err != nil {
			return fmt.Errorf("write %q: %w", files[i].Path, err)
		}
		undo = append(undo, restore)
	}
	return nil
}

func makeDir(dir string) (made bool, err error) {
	err = os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%q is not a folder", dir)
		}
		return false, err
	}
	return err == nil, err
}

// keep remembers the file at path and returns a func that restores it.
func keep(path string) (restore func() error, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return func() error { return os.Remove(path) }, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it exists and is not a regular file; move it away")
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return func() error {
		return renameio.WriteFile(path, old, info.Mode().Perm(), renameio.WithStaticPermissions(info.Mode().Perm()))
	}, nil
}
