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

// lock finds the paths to lock, and which of them are missing.
func (v *view) lock(p Place) error {
	all, err := p.Project.targets()
	if err != nil {
		return fmt.Errorf("find git's folders: %w", err)
	}
	for _, t := range all {
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
	for _, name := range p.Agent.Fixed {
		root, path := v.home.place(name)
		if strings.HasSuffix(name, "/") {
			path += "/"
		}
		if err := create(path); err != nil {
			return fmt.Errorf("create a file that the agent may only read: %w", err)
		}
		if err := v.lockOne(target{root: root, path: path}); err != nil {
			return err
		}
	}
	return nil
}

// stage makes a file in a locked folder writable. Editors of agents replace files, and a command that can replace one
// file of a folder can replace them all. So it gets a folder of its own there, with a copy of the file and the other
// entries as they are now.
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
		own := strings.HasPrefix(e.Name(), ".") && !isIgnore(e.Name()) // a file of ralph, perhaps a temporary one
		if name := filepath.Join(folder, e.Name()); name != path && !slices.Contains(notes, name) && !own &&
			e.Type()&fs.ModeSymlink == 0 {
			v.locked = append(v.locked, name)
		}
	}
	v.places.Stages = append(v.places.Stages, cover.Stage{Dir: tempName(), File: path, Notes: notes})
	return nil
}

// targets returns the paths to lock in the project and in git's folders.
func (p Project) targets() (all []target, err error) {
	for _, name := range p.Locked {
		path := filepath.Join(p.Dir, name)
		if strings.HasSuffix(name, "/") {
			path += "/"
		}
		all = append(all, target{root: p.Dir, path: path})
	}
	inGit, err := p.gitTargets()
	return append(all, inGit...), err
}

// made returns all files and folders that a sandbox may have made.
func (p Project) made() (all cover.Places) {
	targets, _ := p.targets() // lock reports the error
	for _, t := range targets {
		path := strings.TrimSuffix(t.path, "/")
		switch {
		case t.git:
			all.Shared = append(all.Shared, cover.Place{Path: path, Text: t.text})
			continue
		case isIgnore(path):
			all.Shared = append(all.Shared, cover.Ignore(path))
			continue
		}
		all.Shared = append(all.Shared, cover.Place{Path: path, Kind: cover.Dir}, cover.Place{Path: path, Kind: cover.Socket})
		if parent := filepath.Dir(path); parent != t.root {
			all.Shared = append(all.Shared, cover.Place{Path: parent, Kind: cover.Dir})
		}
	}
	return all
}

// lockOne locks one path. If it is missing, lockOne records what to make in its place. What ralph cannot make there,
// the command cannot make either.
func (v *view) lockOne(t target) error {
	path, isDir := strings.CutSuffix(t.path, "/")
	if t.keep {
		_ = os.Mkdir(path, 0o755) // on an error it exists, or the agent cannot make it either
	}
	if slices.ContainsFunc(v.locked, func(dir string) bool { return within(path, dir) }) {
		if file := cover.Ignore(path); isIgnore(path) && (isMissing(path) || file.Unchanged()) {
			v.places.Shared = append(v.places.Shared, file)
		}
		return nil
	}
	if link := linkIn(t.root, path); link != "" {
		return fmt.Errorf("%s is a symbolic link, which a sandbox cannot lock: replace it with its target", link)
	}
	_, err := os.Lstat(path)
	switch {
	case err == nil && !cover.Is(path) && !(t.git && cover.Place{Path: path, Text: t.text}.Unchanged()):
		v.locked = append(v.locked, path)
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil
	}
	parent := filepath.Dir(path)
	if _, err := os.Lstat(parent); parent != t.root && (err != nil || cover.Is(parent)) { // one mount instead of many
		path, parent, isDir = parent, filepath.Dir(parent), true
	}
	if unix.Access(parent, unix.W_OK) != nil {
		return nil
	}
	place := cover.Place{Path: path, Text: t.text}
	switch {
	case isDir:
		place.Kind = cover.Dir
	case !t.git && runtime.GOOS != "linux":
		return nil
	case !t.git:
		place.Kind = cover.Socket
	}
	v.places.Shared = append(v.places.Shared, place)
	if place.Kind == cover.Socket {
		v.sockets = append(v.sockets, path)
	} else {
		v.locked = append(v.locked, path)
	}
	return nil
}

// isIgnore is true for a .gitignore: a CLI may want to read it in a locked folder.
func isIgnore(path string) bool { return filepath.Base(path) == cover.IgnoreName }

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// linkIn returns the first link between root and path; empty if there is none.
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

// create creates a missing path in the home folder, because a sandbox can only lock what exists: a folder, or an empty
// settings file. It stays.
func create(path string) error {
	if dir, isDir := strings.CutSuffix(path, "/"); isDir {
		return os.MkdirAll(dir, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // file: in the home folder
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(blankText(path))
	return errors.Join(err, f.Close())
}

// blankText returns the text of an empty settings file.
func blankText(path string) string {
	if ext := filepath.Ext(path); (ext == ".json" || ext == ".jsonc") && filepath.Base(path) != ".mcp.json" {
		return "{}\n"
	}
	return ""
}

// blank returns the path of an empty file to mount in place of path.
func (v *view) blank(path string) string {
	text := blankText(path)
	i := slices.IndexFunc(v.places.Blanks, func(f cover.Place) bool { return f.From == "" && f.Text == text })
	if i < 0 {
		i = len(v.places.Blanks)
		v.places.Blanks = append(v.places.Blanks, cover.Place{Path: tempName(), Text: text})
	}
	return v.places.Blanks[i].Path
}

// mounts calls bind for each mount on top of the writable paths, from the top down: locked paths, and the folders above
// them, because a mount cannot be renamed. A locked folder is one mount: a mount on one of its files would be gone as
// soon as somebody outside replaces the file.
func (v *view) mounts(bind func(from, to string, readOnly bool)) {
	all := slices.Concat(v.locked, v.sockets)
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
	for _, path := range v.sockets {
		bind(v.blank(path), path, true)
	}
}
