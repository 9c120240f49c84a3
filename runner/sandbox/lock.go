package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ralph/ptyexec/cover"
)

// lock finds what to lock, and what of it is missing.
func (v *view) lock(p Place) error {
	for _, t := range p.Project.targets() {
		if err := v.lockOne(t); err != nil {
			return err
		}
	}
	for _, path := range append(existing(p.Open), cover.Notes(filepath.Join(v.Dir, ".ralph"), p.Notes)...) {
		if err := v.stage(path, cover.Notes(filepath.Dir(path), p.Notes)); err != nil {
			return err
		}
	}
	for _, path := range existing(p.ReadOnly) {
		if !slices.ContainsFunc(v.locked, func(dir string) bool { return within(path, dir) }) {
			v.locked = append(v.locked, path)
		}
	}
	for _, name := range p.Kept.Locked {
		path := filepath.Join(v.home, name)
		if v.home == "" || !within(path, v.home) {
			continue
		}
		if strings.HasSuffix(name, "/") {
			path += "/"
		}
		if err := settle(path); err != nil {
			return fmt.Errorf("make what the agent may only read: %w", err)
		}
		if err := v.lockOne(target{root: v.home, path: path}); err != nil {
			return err
		}
	}
	return nil
}

// stage opens a file directly in a locked folder: what the command has there is a folder of
// its own, with a copy of the file, and the other entries as they are now. It could not
// replace the file otherwise, as editors of agents do, without being able to replace others.
func (v *view) stage(path string, notes []string) error {
	folder := filepath.Dir(path)
	i := slices.Index(v.locked, folder)
	if i < 0 {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	v.locked = slices.Delete(v.locked, i, i+1)
	for _, e := range entries {
		own := strings.HasPrefix(e.Name(), ".") && !isIgnore(e.Name()) // ralph's, perhaps only for a moment
		if name := filepath.Join(folder, e.Name()); name != path && !slices.Contains(notes, name) && !own && e.Type()&fs.ModeSymlink == 0 {
			v.locked = append(v.locked, name)
		}
	}
	v.places.Stages = append(v.places.Stages, cover.Stage{Dir: passing(), File: path, Notes: notes})
	return nil
}

// targets are the paths to lock in the project and in git's folders.
func (p Project) targets() (all []target) {
	for _, name := range p.Locked {
		path := filepath.Join(p.Dir, name)
		if strings.HasSuffix(name, "/") {
			path += "/"
		}
		all = append(all, target{root: p.Dir, path: path})
	}
	return append(all, p.gitTargets()...)
}

// made are all places that a sandbox may have made.
func (p Project) made() (all cover.Places) {
	for _, t := range p.targets() {
		path := strings.TrimSuffix(t.path, "/")
		switch {
		case t.git:
			all.Files = append(all.Files, cover.File{Path: path, Text: t.text})
			continue
		case isIgnore(path):
			all.Files = append(all.Files, cover.Ignore(path))
			continue
		}
		all.Dirs, all.Sockets = append(all.Dirs, path), append(all.Sockets, path)
		if parent := filepath.Dir(path); parent != t.root {
			all.Dirs = append(all.Dirs, parent)
		}
	}
	return all
}

// lockOne locks one path. Of a missing one it notes what to make in its place. What cannot
// be made here, the command cannot make either.
func (v *view) lockOne(t target) error {
	path, isDir := strings.CutSuffix(t.path, "/")
	if t.keep {
		_ = os.Mkdir(path, 0o755) // it exists, or the agent cannot make it either
	}
	if slices.ContainsFunc(v.locked, func(dir string) bool { return within(path, dir) }) {
		if file := cover.Ignore(path); isIgnore(path) && (isMissing(path) || file.Unchanged()) {
			v.places.Files = append(v.places.Files, file)
		}
		return nil
	}
	if link := linkIn(t.root, path); link != "" {
		return fmt.Errorf("%s is a symbolic link, which a sandbox cannot lock: put there what it leads to", link)
	}
	_, err := os.Lstat(path)
	switch {
	case err == nil && !cover.Is(path) && !(t.git && cover.File{Path: path, Text: t.text}.Unchanged()):
		v.locked = append(v.locked, path)
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil
	}
	parent := filepath.Dir(path)
	if _, err := os.Lstat(parent); parent != t.root && (err != nil || cover.Is(parent)) { // one mount in place of many
		path, parent, isDir = parent, filepath.Dir(parent), true
	}
	if unix.Access(parent, unix.W_OK) != nil {
		return nil
	}
	switch {
	case isDir:
		v.places.Dirs, v.locked = append(v.places.Dirs, path), append(v.locked, path)
	case t.git:
		v.places.Files, v.locked = append(v.places.Files, cover.File{Path: path, Text: t.text}), append(v.locked, path)
	case runtime.GOOS == "linux":
		v.places.Sockets = append(v.places.Sockets, path)
	}
	return nil
}

// isIgnore is true for a .gitignore, which a CLI may want to find in a folder that is locked.
func isIgnore(path string) bool { return filepath.Base(path) == cover.IgnoreName }

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// linkIn returns the first link on the way from root to path; empty if there is none.
func linkIn(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return ""
	}
	at := root
	for _, name := range strings.Split(rel, "/") {
		at = filepath.Join(at, name)
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return at
		}
	}
	return ""
}

// settle makes a missing path in the home folder, since only what exists can be locked: a
// folder, or a file with settings that says nothing. It stays.
func settle(path string) error {
	if dir, isDir := strings.CutSuffix(path, "/"); isDir {
		return os.MkdirAll(dir, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(blankText(path))
	return errors.Join(err, f.Close())
}

// blankText is what a file with settings says that says nothing.
func blankText(path string) string {
	if ext := filepath.Ext(path); (ext == ".json" || ext == ".jsonc") && filepath.Base(path) != ".mcp.json" {
		return "{}\n"
	}
	return ""
}

// blank returns the file that a missing one looks like.
func (v *view) blank(path string) string {
	text := blankText(path)
	i := slices.IndexFunc(v.places.Blanks, func(f cover.File) bool { return f.From == "" && f.Text == text })
	if i < 0 {
		i = len(v.places.Blanks)
		v.places.Blanks = append(v.places.Blanks, cover.File{Path: passing(), Text: text})
	}
	return v.places.Blanks[i].Path
}

// mounts are what goes over what may be written, from the top down: folders on the way to
// what is locked, since a mount cannot be renamed, and what is locked. A locked folder is
// one mount: a mount on one of its files would be gone as soon as somebody outside replaces
// the file.
func (v *view) mounts(bind func(from, to string, readOnly bool)) {
	all := slices.Concat(v.locked, v.places.Sockets)
	var folders []string
	for _, root := range slices.Concat([]string{v.Dir}, v.Write) {
		folders = append(folders, parents(root, all)...)
	}
	slices.Sort(folders)
	for _, path := range slices.Compact(folders) {
		if !slices.ContainsFunc(v.places.Stages, func(s cover.Stage) bool { return filepath.Dir(s.File) == path }) {
			bind(path, path, false)
		}
	}
	for _, s := range v.places.Stages {
		bind(s.Dir, filepath.Dir(s.File), false)
	}
	for _, path := range v.locked {
		bind(path, path, true)
	}
	for _, c := range v.copies {
		bind(c.Path, c.From, false)
	}
	for _, path := range v.places.Sockets {
		bind(v.blank(path), path, true)
	}
}
