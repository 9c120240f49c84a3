package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// view is a Place as it is on this machine: absolute paths without links.
type view struct {
	Place
	home   string
	temp   []string
	hidden []string // may not be read
	caches []string // of build tools; in Write, too
	image  string   // of a container
	// blank are files that were missing and must not come into being: they look empty, and
	// what is written to them is lost. made is what was made to mount something on.
	blank, made []string
}

// isCache is true for what build tools outside share with those inside.
func (v view) isCache(path string) bool { return slices.Contains(v.caches, path) }

// secrets are paths in the home folder that no agent needs to read.
func secrets() []string {
	return []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".config/gcloud", ".config/gh", ".config/hub", ".config/glab-cli", ".config/op",
		".netrc", ".git-credentials", ".docker/config.json", ".pypirc", ".cargo/credentials.toml", ".terraform.d/credentials.tfrc.json",
		".password-store", ".local/share/keyrings", ".pki",
		".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".thunderbird",
		".bash_history", ".zsh_history", ".local/share/fish/fish_history", ".python_history", ".node_repl_history", ".psql_history",
		".mysql_history", ".sqlite_history", ".lesshst", ".viminfo",
	}
}

// caches are paths in the home folder that build tools write. They hold nothing
// that a shell or the user's other programs start by themselves.
func caches() []string {
	return []string{
		".cache/go-build", ".cache/golangci-lint", "go/pkg", ".npm", ".cache/node", ".cache/yarn", ".cache/pip", ".cache/uv", ".cache/ruff",
		".cargo/registry", ".cargo/git", ".m2/repository", ".gradle/caches", ".local/share/pnpm/store", ".cache/pnpm", ".cache/ms-playwright",
	}
}

// look finds out what the place is on this machine, and makes what is missing for a
// profile that locks. env is that of the command.
func look(p Place, env []string, lock bool) (view, error) {
	env = programEnv(env)
	v := view{home: lookup(env, "HOME")}
	var err error
	if v.Dir, err = filepath.EvalSymlinks(p.Dir); err != nil {
		return v, fmt.Errorf("look at the project: %w", err)
	}
	if lock {
		v.cover(p.Locked)
	}
	repositories := gitDirs(v.Dir)
	if v.Locked, err = locks(existing(slices.Concat(v.Locked, p.Locked, gitPrograms(repositories))), existing(p.Open)); err != nil {
		return v, fmt.Errorf("list what is locked: %w", err)
	}
	v.Locked = slices.DeleteFunc(v.Locked, func(path string) bool { return slices.Contains(v.blank, path) })
	for _, name := range p.HomeWrite {
		if strings.HasSuffix(name, "/") && v.home != "" {
			if err := os.MkdirAll(filepath.Join(v.home, name), 0o700); err != nil {
				return v, fmt.Errorf("make the agent's folder: %w", err)
			}
		}
	}
	v.Write = existing(slices.Concat(p.Write, repositories))
	v.caches = inHome(v.home, caches())
	v.Write = slices.Concat(v.Write, inHome(v.home, p.HomeWrite), v.caches)
	v.hidden = inHome(v.home, slices.Concat(secrets(), p.HomeHidden))
	v.temp = existing([]string{lookup(env, "TMPDIR")})
	if len(v.temp) == 0 {
		v.temp = existing([]string{"/tmp", "/var/tmp"})
	}
	// What the agent itself needs is not hidden from it.
	v.hidden = slices.DeleteFunc(v.hidden, func(path string) bool {
		return within(path, v.Dir) || slices.ContainsFunc(v.Write, func(w string) bool { return within(path, w) })
	})
	return v, nil
}

// cover makes what is missing of the paths that are to be locked, since only what
// exists can be: a folder where the name ends in a slash, else a socket. What cannot be
// made here, the command cannot make either.
func (v *view) cover(locked []string) {
	for _, path := range locked {
		dir, isDir := strings.CutSuffix(path, "/")
		switch info, err := os.Lstat(dir); {
		case err == nil && info.Mode().Type() == fs.ModeSocket: // left when the machine went down
			v.made, v.blank = append(v.made, path), append(v.blank, path)
			continue
		case !errors.Is(err, fs.ErrNotExist):
			continue
		}
		parent := filepath.Dir(dir)
		if err := os.Mkdir(parent, 0o755); err == nil {
			v.made, v.Locked = append(v.made, parent), append(v.Locked, parent) // one mount in place of many
		}
		if slices.Contains(v.Locked, parent) {
			continue
		}
		if isDir {
			if err := os.Mkdir(dir, 0o755); err == nil {
				v.made = append(v.made, dir)
			}
			continue
		}
		if err := unix.Mknod(path, unix.S_IFSOCK|0o600, 0); err == nil { // git does not see sockets
			v.made, v.blank = append(v.made, path), append(v.blank, path)
		}
	}
	v.blank = existing(v.blank)
}

// locks are the paths to lock. A folder with something open in it stays open itself,
// and everything else in it is locked: agents replace a file by renaming another
// one, which fails for a file that is a mount.
func locks(locked, open []string) ([]string, error) {
	var out []string
	for _, path := range locked {
		paths, err := without(path, open)
		if err != nil {
			return nil, err
		}
		out = append(out, paths...)
	}
	return out, nil
}

// parents are the folders between dir and the paths, from the top down.
func parents(dir string, paths []string) []string {
	var all []string
	for _, path := range paths {
		for at := filepath.Dir(path); at != dir && within(at, dir); at = filepath.Dir(at) {
			if !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	slices.Sort(all)
	return all
}

// inHome resolves names in the home folder; empty: there is none.
func inHome(home string, names []string) []string {
	if home == "" {
		return nil
	}
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(home, name))
	}
	return existing(paths)
}

func lookup(env []string, name string) (value string) {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// existing resolves the paths, and leaves out those that are not there.
func existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && path != "" && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// within is true for dir itself and everything below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// without lists path, or, where one of the holes lies below it, everything in it
// but the holes. A link is left out: what counts is where it leads.
func without(path string, holes []string) ([]string, error) {
	if slices.ContainsFunc(holes, func(hole string) bool { return within(path, hole) }) {
		return nil, nil
	}
	if !slices.ContainsFunc(holes, func(hole string) bool { return within(hole, path) }) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			continue
		}
		below, err := without(filepath.Join(path, e.Name()), holes)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}
