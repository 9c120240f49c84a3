package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"ralph/state/projectfs"
)

// Write writes all files below dir, or none. It replaces existing ones. Every text is
// on disk under a temporary name before the first file gets its own name.
func Write(dir string, files []File) (err error) {
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0 && err != nil; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	project := projectfs.In(dir)
	var pending []*projectfs.Pending
	for _, f := range files {
		path := project.Path(f.Path)
		if folder := filepath.Dir(path); folder != dir {
			_, err := project.Lstat(folder)
			missing := errors.Is(err, fs.ErrNotExist)
			if missing {
				err = nil
			}
			if above := filepath.Dir(folder); missing && above != filepath.Clean(dir) {
				_, err = project.Lstat(above) // only the last folder is made, so that undo is simple
			}
			if err == nil {
				err = project.MkdirAll(folder, 0o755)
			}
			if err != nil {
				return fmt.Errorf("write %q: %w", f.Path, err)
			}
			if missing {
				undo = append(undo, func() error { return project.Remove(folder) })
			}
		}
		p, err := project.Replace(path, 0o644)
		if err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		undo = append(undo, func() error { p.Discard(); return nil }) // does nothing once the file has its name
		if _, err := p.WriteString(f.Text); err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		pending = append(pending, p)
	}
	// All is written and every folder is writable: a rename fails only if the disk does.
	for i, p := range pending {
		if err := p.Commit(); err != nil {
			return fmt.Errorf("write %q: %w", files[i].Path, err)
		}
	}
	return nil
}

// RC is the name of the settings file.
const RC = ".ralphrc"
