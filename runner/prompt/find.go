package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"ralph/state"
	"ralph/state/projectfs"
)

// Find returns the path of the user's prompt: given, which may be
// relative to dir, or else the first one in the project. The error says what
// is wrong with it, or which files Find looked for.
func Find(dir, given string) (string, error) {
	names := []string{filepath.Join(state.DirName, "PROMPT.md"), "PROMPT.md", "prompt.md"}
	if given != "" {
		names = []string{given}
	}
	for _, name := range names {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, name)
		}
		in := projectfs.In(dir)
		if !below(dir, path) { // the user named it
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
			in = projectfs.In(filepath.Dir(path))
		}
		info, err := in.Lstat(path)
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink != 0, projectfs.IsLink(err):
			return "", fmt.Errorf("the prompt %q is a symbolic link, or in one; name the file itself with --prompt", path)
		case err == nil && info.Mode().IsRegular() && info.Size() > 0:
			return path, nil
		case err == nil && info.Mode()&fs.ModeSocket != 0: // a sandbox put a socket where the file is missing
		case err == nil:
			return "", fmt.Errorf("the prompt %q is empty or not a file", name)
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("the prompt %q cannot be read: %w", name, err)
		}
	}
	if given != "" {
		return "", fmt.Errorf("the prompt %q does not exist", given)
	}
	return "", fmt.Errorf("no prompt in %q: none of %s; write one with: ralph init", dir, strings.Join(names, ", "))
}

// Read reads the prompt that Find returned for the project in dir.
func Read(dir, path string, limit int64) ([]byte, error) {
	if !below(dir, path) {
		dir = filepath.Dir(path)
	}
	return projectfs.In(dir).Read(path, limit)
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
