package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// gitDirs are the folders in which git keeps what belongs to dir: .git, and for a
// worktree also the repository that it is of.
func gitDirs(dir string) []string {
	for at := dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return []string{path}
			}
			return linked(path)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// linked follows a .git file to its repository.
func linked(file string) []string {
	text, err := os.ReadFile(file)
	path, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if err != nil || !ok {
		return nil
	}
	dir := from(filepath.Dir(file), strings.TrimSpace(path))
	common, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if err != nil {
		return []string{dir}
	}
	return []string{dir, from(dir, strings.TrimSpace(string(common)))}
}

// from resolves a path that may be relative to dir.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
