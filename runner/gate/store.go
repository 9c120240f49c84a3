package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"ralph/runner/gate/report"
)

// The files in the state directory.
const (
	BaselineFile = "test_baseline.json"
	FlakesFile   = "test_flakes.json"
)

// maxStored bounds what is read: ralph writes less.
const maxStored = 16 << 20

// load reads a JSON file into v. A missing file leaves v as it is. What cannot
// be read is set aside, and the error says so: v is then its default and usable.
func load(path string, v any) error {
	data, why := readStored(path)
	if data == nil && why == nil {
		return nil
	}
	if why == nil {
		if why = json.Unmarshal(data, v); why == nil {
			return nil
		}
	}
	aside := path + ".corrupt-" + time.Now().Format("20060102T150405.000")
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("set %q aside: %w", path, err)
	}
	return fmt.Errorf("%q is unusable (%w); kept as %q, starting from the default", path, why, filepath.Base(aside))
}

// readStored returns nil, nil for a missing file.
func readStored(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxStored:
		return nil, errors.New("too large")
	}
	data, err := os.ReadFile(path)
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("empty")
	}
	return data, err
}

// save replaces a JSON file in one step.
func save(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if old, _ := readStored(path); err == nil && bytes.Equal(bytes.TrimSpace(old), data) {
		return nil
	}
	if err == nil {
		err = renameio.WriteFile(path, append(data, '\n'), 0o600, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(0o600))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// readFile reads a report file; ok is false for one that is missing or broken
// before its first test.
func readFile(path string, read func(io.Reader) (report.Summary, error)) (s report.Summary, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return s, false
	}
	defer f.Close()
	s, err = read(f)
	return s, err == nil || len(s.Tests) > 0
}

func mergeFile(s report.Summary, path string, read func(io.Reader) (report.Summary, error)) report.Summary {
	if found, ok := readFile(path, read); ok {
		return s.Merge(found)
	}
	return s
}

func jestReader(dir string) func(io.Reader) (report.Summary, error) {
	return func(r io.Reader) (report.Summary, error) { return report.ReadJest(r, dir) }
}
