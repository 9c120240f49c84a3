package git

// This file reads and writes JSON files, and renames a file that it cannot read.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"ralph/state/projectfs"
)

// maxStored is the size of the largest file that Load reads, in bytes. ralph writes smaller ones.
const maxStored = 16 << 20

// LoadJSON reads a JSON file; a missing one is the zero value. It renames a file
// that it cannot use and reports that in the error; the value is then zero.
func LoadJSON[T any](path string) (*T, error) {
	v, why := PeekJSON[T](path)
	if why == nil {
		return v, nil
	}
	aside := path + ".corrupt-" + time.Now().Format("20060102T150405.000")
	if err := projectfs.Above(path).Rename(path, aside); err != nil {
		return new(T), fmt.Errorf("rename unusable %q: %w", path, err)
	}
	return new(T), fmt.Errorf("%q is unusable (%w); renamed to %q, starting from the default", path, why,
		filepath.Base(aside))
}

// PeekJSON reads a JSON file and changes nothing on disk. A missing one is the zero value.
func PeekJSON[T any](path string) (*T, error) {
	v := new(T)
	data, err := readStored(path)
	if err == nil && data != nil {
		err = json.Unmarshal(data, v)
	}
	return v, err
}

// readStored returns nil, nil for a missing file.
func readStored(path string) ([]byte, error) {
	data, err := projectfs.Above(path).Read(path, maxStored)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("empty")
	}
	return data, err
}

// SaveJSON replaces a JSON file atomically, unless it has the same content.
func SaveJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if old, _ := readStored(path); err == nil && bytes.Equal(bytes.TrimSpace(old), data) {
		return nil
	}
	if err == nil {
		err = projectfs.Above(path).Write(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
