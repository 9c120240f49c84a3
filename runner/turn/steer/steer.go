// Package steer protects the user's files that control a run: it restores those that an agent
// call destroyed, and reports those that it changed. Git does not show them all: many projects
// ignore .ralph/.
package steer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"ralph/runner/git/changed"
	"ralph/runner/git/command"
	"ralph/state"
)

const (
	maxText  = 256 << 10 // bytes of a file to compare as text
	maxRead  = 16 << 20  // bytes of a file to compare at all
	maxSpecs = 1000      // files and folders
)

// gitData are the folders of a repository that contain many files and no program.
var gitData = []string{"objects", "refs", "logs", "info", "lfs", "rebase-merge"}

// Files maps slash paths in the project to the content of existing files.
type Files map[string]string

// Read reads the settings, the prompt and the specs of a project, and the files that
// make git, a shell or another program start programs. more are those of agents and plans; folders end with a slash.
func Read(dir string, more []string) Files {
	all := Files{}
	for _, name := range append([]string{".ralphrc", state.DirName + "/config.yaml", state.DirName + "/PROMPT.md",
		state.DirName + "/specs/", ".envrc"}, more...) {
		if folder, ok := strings.CutSuffix(name, "/"); ok {
			all.walk(dir, folder, func(string) bool { return true })
			continue
		}
		all.read(filepath.Join(dir, filepath.FromSlash(name)), name)
	}
	all.readGit(dir)
	return all
}

// readGit reads git's files under the names that they have in .git, wherever they are.
func (all Files) readGit(dir string) {
	root, ok := command.Root(dir)
	if !ok {
		root = dir
	}
	if info, err := os.Lstat(filepath.Join(root, dotGit)); err == nil && !info.IsDir() {
		all.read(filepath.Join(root, dotGit), dotGit)
	}
	own := command.MetaDir(root)
	common := own
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		all.read(filepath.Join(own, name), dotGit+"/"+name)
	}
	switch text := all[commonDir]; {
	case text == ".\n": // made by a sandbox that runs at the same time; it changes nothing
		delete(all, commonDir)
	case text != "" && !filepath.IsAbs(text):
		common = filepath.Join(own, strings.TrimRight(text, "\r\n"))
	case text != "":
		common = strings.TrimRight(text, "\r\n")
	}
	if all[dotGit+"/config.worktree"] == "" {
		delete(all, dotGit+"/config.worktree")
	}
	git := Files{}
	git.read(filepath.Join(common, "config"), "config")
	git.walk(common, "hooks", func(string) bool { return true })
	git.walk(common, "modules", func(path string) bool { // of submodules
		name := filepath.Base(path)
		return name == "config" || name == "config.worktree" && git.size(path) > 0 ||
			filepath.Base(filepath.Dir(path)) == "hooks"
	})
	for name, text := range git {
		all[dotGit+"/"+name] = text
	}
}

const (
	dotGit    = ".git"
	commonDir = dotGit + "/commondir"
)

func (Files) size(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Repair restores files that the call changed to lead git to another repository: git would start
// programs of that one. It returns what was changed; empty: nothing. If there was a change, do not trust the
// repository, not even about what else changed.
func Repair(dir string, changed []changed.File) string {
	root, ok := command.Root(dir)
	if !ok {
		root = dir
	}
	meta := command.MetaDir(root) // the loop restores .git before its files: it sorts first
	for _, f := range changed {
		path := filepath.Join(root, dotGit)
		switch f.Path {
		case dotGit:
		case commonDir, dotGit + "/gitdir":
			path = filepath.Join(meta, filepath.Base(f.Path))
		default:
			continue
		}
		err := os.Remove(path)
		if f.Existed && (err == nil || errors.Is(err, fs.ErrNotExist)) {
			err = os.WriteFile(path, []byte(f.Before), 0o644) // file: in the folder of git
		}
		why := fmt.Sprintf("%s was changed, which leads git to another repository", f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("%s; ralph could not restore it: %v", why, err)
		}
		if _, err := os.Lstat(filepath.Join(root, dotGit)); err != nil { // a file had replaced the folder
			return why + "; ralph removed that file, and now there is no .git: if it was moved, move it back"
		}
		return why + "; ralph restored it"
	}
	return ""
}

// walk reads the wanted files of a folder. It skips git's samples, which git does not start.
func (all Files) walk(dir, folder string, wanted func(path string) bool) {
	left := maxSpecs
	_ = filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(folder)),
		func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && slices.Contains(gitData, d.Name()) && folder == "modules" {
				return fs.SkipDir
			}
			if left--; left < 0 {
				return fs.SkipAll
			}
			if err == nil && !d.IsDir() && !wanted(path) {
				return nil
			}
			if rel, relErr := filepath.Rel(dir, path); relErr == nil && err == nil && !d.IsDir() &&
				filepath.Ext(path) != ".sample" {
				all.read(path, filepath.ToSlash(rel))
			}
			return nil // an unreadable file counts as missing
		})
}

// read adds a file. For a link it adds the target's path, not its content.
func (all Files) read(path, name string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSocket != 0 { // a sandbox puts a socket where a file is missing
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, _ := os.Readlink(path)
		all[name] = "a link to " + to
		return
	}
	data, err := state.ReadFile(path, maxRead)
	switch {
	case err != nil:
		all[name] = fmt.Sprintf("not readable: %s, %d bytes", info.Mode(), info.Size())
	case len(data) > maxText || !utf8.Valid(data):
		all[name] = fmt.Sprintf("%d bytes, SHA-256 %x", len(data), sha256.Sum256(data))
	default:
		all[name] = string(data)
	}
}

// Changed compares the files with what they are now, sorted by path.
func (all Files) Changed(now Files) []changed.File {
	var found []changed.File
	add := func(path string) {
		f := changed.File{Path: path}
		f.Before, f.Existed = all[path]
		f.After, f.Exists = now[path]
		if f.Before != f.After || f.Existed != f.Exists {
			found = append(found, f)
		}
	}
	for path := range all {
		add(path)
	}
	for path := range now {
		if _, seen := all[path]; !seen {
			add(path)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Path < found[j].Path })
	return found
}
