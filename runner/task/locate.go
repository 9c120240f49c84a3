package task

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Locate returns the path of the project's plan: given, which may be relative to dir, or
// else the result of Find. It is empty if there is no plan. The error says why the plan
// cannot be used.
func Locate(dir, given string, optionalSections []string) (string, error) {
	path := given
	if path == "" {
		found, ok := Find(dir)
		if !ok {
			return "", nil
		}
		path = found
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	_, err := Load(path, optionalSections)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the plan %q does not exist", given)
	case err != nil:
		return "", fmt.Errorf("the plan cannot be used: %w", err)
	}
	return path, nil
}
