package config

import (
	"io/fs"
	"os"
	"path/filepath"
)

// FindProject returns the absolute path of the project that start lies in: the
// nearest folder upwards with a .ralph folder or a .ralphrc file, else the git
// root, else start itself. Reached from below, the user's home folder is not a
// project: other tools keep their own files in ~/.ralph.
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
	if info, err := os.Lstat(filepath.Join(dir, ".ralph")); err == nil && info.IsDir() {
		return true
	}
	info, err := os.Stat(filepath.Join(dir, rcName))
	return err == nil && !info.IsDir() && info.Mode()&fs.ModeSocket == 0
}
