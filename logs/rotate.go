package logs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/state/projectfs"
)

// backupTime is the time in the name of a file that was rotated away: NAME-TIME.EXT.
const backupTime = "2006-01-02T15-04-05.000"

// rotating appends to a file of the project, and renames it when it would become too large. It follows no link, not
// even one that an agent puts in the place of the file between two writes.
type rotating struct {
	dir  projectfs.Dir
	path string
	most int64 // bytes
	keep int   // backups
	file *os.File
	size int64
}

func newRotating(path string, megabytes, keep int) *rotating {
	return &rotating{dir: projectfs.Above(path), path: path, most: int64(megabytes) << 20, keep: keep}
}

// open opens the file, unless it is open.
func (r *rotating) open() error {
	if r.file != nil {
		return nil
	}
	file, err := r.dir.OpenFile(r.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	r.file, r.size = file, info.Size()
	return nil
}

func (r *rotating) Write(p []byte) (int, error) {
	if err := r.open(); err != nil {
		return 0, err
	}
	if r.size > 0 && r.size+int64(len(p)) > r.most {
		if err := r.Rotate(); err != nil {
			return 0, err
		}
	}
	n, err := r.file.Write(p)
	r.size += int64(n)
	return n, err
}

// Rotate gives the file a name with the time, and starts a new one.
func (r *rotating) Rotate() error {
	if err := r.Close(); err != nil {
		return err
	}
	stem, ext := r.name()
	err := r.dir.Rename(r.path, stem+time.Now().Format(backupTime)+ext)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(r.prune(), r.open())
}

// name returns what stands before and after the time in the path of a backup.
func (r *rotating) name() (stem, ext string) {
	ext = filepath.Ext(r.path)
	return strings.TrimSuffix(r.path, ext) + "-", ext
}

// prune removes the oldest backups.
func (r *rotating) prune() error {
	stem, ext := r.name()
	entries, err := r.dir.ReadDir(filepath.Dir(r.path))
	if err != nil {
		return err
	}
	var backups []string
	for _, e := range entries {
		at, fits := strings.CutPrefix(e.Name(), filepath.Base(stem))
		at, ends := strings.CutSuffix(at, ext)
		if _, err := time.Parse(backupTime, at); fits && ends && err == nil {
			backups = append(backups, e.Name())
		}
	}
	slices.Sort(backups)
	for _, name := range backups[:max(0, len(backups)-r.keep)] {
		if err := r.dir.Remove(filepath.Join(filepath.Dir(r.path), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (r *rotating) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
