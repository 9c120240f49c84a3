package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ralph/state"
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
		info, err := os.Stat(path)
		switch {
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
