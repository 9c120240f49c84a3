package logs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"time"

	"ralph/state/projectfs"
)

// Prune removes the oldest files in the subfolders of dir until they take at most
// maxBytes. It keeps files directly in dir, which rotate.
func Prune(dir string, maxBytes int64) error {
	type aged struct {
		path string
		size int64
		at   time.Time
	}
	var all []aged
	var total int64
	project := projectfs.In(filepath.Dir(dir))
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || filepath.Dir(path) == filepath.Clean(dir) {
			return ignoreMissing(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		total += info.Size()
		all = append(all, aged{path, info.Size(), info.ModTime()})
		return nil
	})
	if err != nil {
		return fmt.Errorf("prune logs: %w", err)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at.Before(all[j].at) })
	for _, f := range all {
		if total <= maxBytes {
			break
		}
		if err := ignoreMissing(project.Remove(f.path)); err != nil {
			return fmt.Errorf("prune logs: %w", err)
		}
		total -= f.size
		_ = project.Remove(filepath.Dir(f.path)) // succeeds only if it is empty
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
