package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
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
	var pending []*renameio.PendingFile
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("write %q: it exists and is not a regular file; move it away", f.Path)
		}
		folder := filepath.Dir(path)
		if err := os.Mkdir(folder, 0o755); err == nil {
			undo = append(undo, func() error { return os.Remove(folder) })
		} else if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		p, err := renameio.NewPendingFile(path, renameio.WithTempDir(folder), renameio.WithStaticPermissions(0o644))
		if err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		undo = append(undo, p.Cleanup) // does nothing once the file has its name
		if _, err := p.WriteString(f.Text); err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		pending = append(pending, p)
	}
	// All is written and every folder is writable: a rename fails only if the disk does.
	for i, p := range pending {
		if err := p.CloseAtomicallyReplace(); err != nil {
			return fmt.Errorf("write %q: %w", files[i].Path, err)
		}
	}
	return nil
}

// RC is the name of the file that Append writes.
const RC = ".ralphrc"

// Append adds settings at the end of .ralphrc.
func Append(dir string, settings []Setting) error {
	path := filepath.Join(dir, RC)
	old, err := os.ReadFile(path)
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
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if real, err := filepath.EvalSymlinks(path); err == nil { // a link of the user's stays one
		path = real
	}
	if err := renameio.WriteFile(path, []byte(text), mode); err != nil {
		return fmt.Errorf("write .ralphrc: %w", err)
	}
	return nil
}
