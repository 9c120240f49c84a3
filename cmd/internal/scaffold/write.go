package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

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

// RC is the name of the file that Append writes.
const RC = ".ralphrc"

const maxRC = 1 << 20 // bytes

// Append adds settings at the end of .ralphrc.
func Append(dir string, settings []Setting) error {
	project := projectfs.In(dir)
	path := project.Path(RC)
	old, err := project.Read(path, maxRC)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read .ralphrc: %w", err)
	}
	text := string(old)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, s := range settings {
		text += s.Key + "=" + quote(s.Value) + "\n"
	}
	mode := fs.FileMode(0o644)
	if info, err := project.Lstat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := project.Write(path, []byte(text), mode); err != nil {
		return fmt.Errorf("write .ralphrc: %w", err)
	}
	return nil
}
