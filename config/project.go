package config

import (
	"os"
	"path/filepath"
)

// FindProject returns the absolute path of the project that contains start: the nearest
// folder upwards with a .ralph folder or a .ralphrc file, else the git root, else start
// itself. The user's home folder counts only if it is start: other tools keep files in
// ~/.ralph.
func FindProject(start string) string {
	start, err := filepath.Abs(start)
	if err != nil {
		return start
	}
	home, _ := os.UserHomeDir()
	gitRoot := ""
	for dir := start; ; dir = filepath.Dir(dir) {
		if (dir == start || dir != home) && isProject(dir) {
			return dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && gitRoot == "" {
			gitRoot = dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if gitRoot != "" {
		return gitRoot
	}
	return start
}

func isProject(dir string) bool {
	if info, err := os.Stat(filepath.Join(dir, ".ralph")); err == nil && info.IsDir() {
		return true
	}
	info, err := os.Stat(filepath.Join(dir, rcName))
	return err == nil && !info.IsDir()
}
