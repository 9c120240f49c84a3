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

// gitPrograms are the paths in git's folders that make git start programs. The folder
// for hooks is made where it is missing: only what exists can be locked.
func gitPrograms(dirs []string) (paths []string) {
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"))
	}
	if len(dirs) > 0 {
		hooks := filepath.Join(dirs[len(dirs)-1], "hooks") // a worktree has none of its own
		_ = os.Mkdir(hooks, 0o755)                         // it exists, or the agent cannot make it either
		paths = append(paths, hooks)
		paths = append(paths, ofSubmodules(filepath.Join(dirs[len(dirs)-1], "modules"), 0)...)
	}
	return paths
}

// mostNested is how deep the names and the submodules of submodules are followed.
const mostNested = 8

// ofSubmodules are the same paths of the submodules below a folder. A submodule's name may
// have slashes, and it may have submodules of its own.
func ofSubmodules(folder string, depth int) (paths []string) {
	entries, err := os.ReadDir(folder)
	if err != nil || depth > mostNested {
		return nil
	}
	for _, e := range entries {
		dir := filepath.Join(folder, e.Name())
		switch _, err := os.Stat(filepath.Join(dir, "HEAD")); {
		case !e.IsDir():
		case err != nil: // a part of a name
			paths = append(paths, ofSubmodules(dir, depth+1)...)
		default:
			_ = os.Mkdir(filepath.Join(dir, "hooks"), 0o755)
			paths = append(paths, filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"), filepath.Join(dir, "hooks"))
			paths = append(paths, ofSubmodules(filepath.Join(dir, "modules"), depth+1)...)
		}
	}
	return paths
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
