// Package replica copies a state of a repository into a folder of its own, where
// commands can run and change nothing in the user's work tree.
package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"ralph/ptyexec"
	"ralph/runner/git/command"
)

// Replica is such a copy. Close removes it.
type Replica struct {
	Dir string // the project in the copy
	// Borrowed are folders of the user's work tree to which the copy has links.
	Borrowed []string
	top      string
	files    *os.Root // of the repository in the copy; it follows no link that leads out
	lock     *flock.Flock
}

const (
	prefix = "copy-"
	locked = ".lock"
)

// installed are untracked folders that checks need and do not write. Build folders
// are not among them: what a copy builds must not end up in the project. Cargo, which goes by times alone, would
// even run old code there after a test of the copy.
var installed = []string{"node_modules", "bower_components", ".venv", "venv", "vendor"}

// Home returns the folder for copies of a program with this environment; empty: there is none.
func Home(env []string) string {
	if dir := CacheDir(env); dir != "" {
		return filepath.Join(dir, "ralph", "copies")
	}
	return ""
}

// CacheDir returns the user's cache folder in this environment; empty: there is none.
func CacheDir(env []string) string {
	if dir := ptyexec.Getenv(env, "XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if home := ptyexec.Getenv(env, "HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache")
	}
	return ""
}

// Make copies a state (a commit or a tree) of the repository of dir, a project, to a new folder in home.
// It writes neither the index nor the work tree.
func Make(ctx context.Context, home, dir, oid string) (*Replica, error) {
	r, err := build(ctx, home, dir, oid)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("copy the project: %w", err)
	}
	return r, nil
}

func build(ctx context.Context, home, dir, oid string) (*Replica, error) {
	r := &Replica{}
	if home == "" {
		return r, errors.New("there is no cache folder: HOME is not set")
	}
	root, ok := command.Root(dir)
	if !ok {
		return r, command.ErrNoRepository
	}
	err := os.MkdirAll(home, 0o700)
	if err == nil {
		r.top, err = os.MkdirTemp(home, prefix)
	}
	if err != nil {
		return r, err
	}
	r.lock = flock.New(filepath.Join(r.top, locked))
	if mine, err := r.lock.TryLock(); err != nil || !mine {
		return r, errors.Join(err, errors.New("another program has locked its folder"))
	}
	copied := filepath.Join(r.top, filepath.Base(root))
	if err := os.Mkdir(copied, 0o700); err != nil {
		return r, err
	}
	c := command.Call{Dir: root, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(r.top, "index")}}
	if _, err = c.Run(ctx, "read-tree", oid); err == nil {
		_, err = c.Run(ctx, "checkout-index", "--all", "--quiet", "--prefix="+copied+"/")
	}
	if err != nil {
		return r, err
	}
	if r.files, err = os.OpenRoot(copied); err != nil {
		return r, err
	}
	project, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return r, err
	}
	inside, err := filepath.Rel(root, project)
	if err != nil {
		return r, err
	}
	r.Dir = filepath.Join(copied, inside)
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return r, err
	}
	return r, r.borrow(ctx, root)
}

// borrow links the installed folders.
func (r *Replica) borrow(ctx context.Context, root string) error {
	out, err := command.Run(ctx, root, "ls-files", "--others", "--directory", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(out, "\x00") {
		name = strings.TrimSuffix(name, "/")
		from := filepath.Join(root, filepath.FromSlash(name))
		if !slices.Contains(installed, path.Base(name)) {
			continue
		}
		switch err := r.files.Symlink(from, name); {
		case err == nil:
			r.Borrowed = append(r.Borrowed, from)
		// The state has its own, or not its folder.
		case !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// Put writes text to a file of the repository (name is a slash-separated path), or removes it if exists is false. A new
// file that starts with #! is executable.
func (r *Replica) Put(name, text string, exists bool) error {
	err := r.files.MkdirAll(path.Dir(name), 0o700)
	switch {
	case err != nil:
	case exists:
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		err = r.files.WriteFile(name, []byte(text), mode)
	default:
		if err = r.files.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("change the copy: %w", err)
	}
	return nil
}

// Env returns variables that commands in the copy need. Python uses the cached bytecode of a file if the file has the
// same size and changed in the same second. A copied file could have both, so in a copy Python neither reads nor writes
// the project's bytecode.
func (r *Replica) Env() []string {
	return []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONPYCACHEPREFIX=" + filepath.Join(r.top, "bytecode")}
}

// Close removes the copy.
func (r *Replica) Close() {
	if r.files != nil {
		_ = r.files.Close() // it was only read through
	}
	if r.top != "" {
		remove(r.top)
	}
	if r.lock != nil {
		_ = r.lock.Close()
	}
}

// Sweep removes the copies in home whose program has ended.
func Sweep(home string) {
	all, _ := fs.Glob(os.DirFS(home), prefix+"*")
	for _, top := range all {
		top = filepath.Join(home, top)
		lock := flock.New(filepath.Join(top, locked))
		if mine, err := lock.TryLock(); err != nil || !mine {
			continue
		}
		remove(top)
		_ = lock.Close()
	}
}

// remove removes a copy, including read-only folders in it, such as Go's module cache.
func remove(top string) {
	if os.RemoveAll(top) == nil {
		return
	}
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(top) // the next Sweep tries again
}
