package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/ptyexec"
	"ralph/ptyexec/cover"
)

// view is a Place as it is on this machine: absolute paths without links. Of the home folder, the command sees nothing
// else.
type view struct {
	Place
	home    homeFolder
	common  []string // folders of the home folder with all kinds of things
	temp    []string
	reads   []string      // in the home folder; not writable
	links   []link        // that lead to reads and Write
	asked   []link        // those of SANDBOX_READ, and git's settings: a name and its path; a container sees no others
	hidden  []string      // not readable, although in a folder that is
	caches  []string      // of build tools; also in Write
	image   string        // of a container
	env     []string      // more variables of the command
	gitCopy string        // a copy of git's settings without credentials, which the command sees in their place
	locked  []string      // read-only
	sockets []string      // in the place of missing files
	copies  []cover.Place // of files that the agent writes in its own state
	fixed   []string      // read-only parts of the agent's own state
	// places are what ralph makes where a file is missing that the command must not create.
	places cover.Places
}

// isCache is true for a folder that build tools inside and outside share.
func (v view) isCache(path string) bool { return slices.Contains(v.caches, path) }

// look resolves a place on this machine for a command, and, for a profile that locks, what to make where a path is
// missing.
func look(p Place, c ptyexec.Command, lock bool) (view, error) {
	env := programEnv(c.Env)
	v := view{home: newHome(env, p.Agent.Moved)}
	var err error
	if v.Dir, err = filepath.EvalSymlinks(p.Dir); err != nil {
		return v, fmt.Errorf("find the project: %w", err)
	}
	switch {
	case p.Project.Dir != v.Dir:
		return v, fmt.Errorf("the sandbox is for %q, not for %q", p.Project.Dir, v.Dir)
	case !filepath.IsAbs(v.home.dir) || v.home.dir == "/":
		return v, errors.New("HOME must be an absolute path other than /: a sandbox has to know which folder to hide")
	case within(v.home.dir, v.Dir):
		return v, fmt.Errorf("the project %s contains your home folder, so nothing in it would be hidden; "+
			"give the project a folder of its own", v.Dir)
	}
	for _, name := range p.Agent.State {
		if _, path := v.home.place(name); strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return v, fmt.Errorf("make the agent's folder: %w", err)
			}
		}
	}
	if lock {
		if err := v.lock(p); err != nil {
			return v, err
		}
	}
	v.common = v.home.find(commonFolders())
	own := v.write(p, env)
	if lock {
		v.copy(v.home.find(p.Agent.Copied))
	}
	v.fixed = v.home.find(p.Agent.Fixed)
	if !lock {
		v.fixed = append(v.fixed, v.home.find(p.Agent.Copied)...)
	}
	if err := v.read(p, c); err != nil {
		return v, err
	}
	v.hide(own)
	if lock { // Landlock cannot refuse a socket
		v.hideSockets(env)
	}
	return v, nil
}

// write finds what the command may write. It returns what its agent keeps.
func (v *view) write(p Place, env []string) (own []string) {
	if v.temp = existing([]string{ptyexec.Getenv(env, "TMPDIR")}); len(v.temp) == 0 {
		v.temp = existing([]string{"/tmp", "/var/tmp"})
	}
	for _, name := range p.Agent.State {
		for _, path := range v.home.paths(name) {
			if real := v.resolve(path); real != "" && !slices.Contains(own, real) {
				own = append(own, real)
			}
		}
	}
	v.Write = slices.DeleteFunc(existing(slices.Concat(p.Write, p.Project.Git, own)),
		func(path string) bool { return within(v.home.dir, path) })
	var caches []string
	for _, t := range tools() {
		for _, name := range t.caches {
			caches = append(caches, v.home.paths(name)...)
		}
	}
	for _, path := range caches {
		if real := v.resolve(path); real != "" && !within(v.Dir, real) && !v.holdsAll(real) && !v.writes(real) {
			v.caches = append(v.caches, real)
		}
	}
	v.Write = append(v.Write, v.caches...)
	return own
}

// read finds what else of the home folder the command may read.
func (v *view) read(p Place, c ptyexec.Command) error {
	for _, path := range p.Reads {
		path = v.home.named(path)
		if within(v.home.dir, filepath.Clean(path)) {
			return fmt.Errorf("SANDBOX_READ: %s is not in your home folder, but all of it", path)
		}
		v.ask(path)
	}
	for _, name := range p.Agent.Reads {
		for _, path := range v.home.paths(name) {
			v.see(path)
		}
	}
	if p.Project.DotGit != "" { // of a project in a folder of a repository
		v.see(filepath.Dir(p.Project.DotGit))
	}
	v.seeTools(c)
	v.seeGit(programEnv(c.Env))
	slices.Sort(v.reads) // a mount hides what was mounted below it
	return nil
}

// hide finds the credentials in what the command may read. It may read those that its agent keeps, and those that
// SANDBOX_READ names.
func (v *view) hide(own []string) {
	var secrets []string
	for _, t := range tools() {
		secrets = append(secrets, t.secrets...)
	}
	seen := slices.Concat([]string{v.Dir}, v.Write, v.reads, v.temp)
	for _, path := range v.home.find(secrets) {
		allowed := slices.ContainsFunc(own, func(dir string) bool { return within(path, dir) }) ||
			slices.ContainsFunc(v.asked, func(a link) bool { return a.target == path })
		if !allowed && (!v.home.has(path) || slices.ContainsFunc(seen, func(dir string) bool { return within(path, dir) })) {
			v.hidden = append(v.hidden, path)
		}
	}
}

// hideSockets hides the sockets of programs that obey everybody who can connect, where the command sees them: a folder for
// temporary files may have them.
func (v *view) hideSockets(env []string) {
	for _, name := range []string{"SSH_AUTH_SOCK", "GPG_AGENT_INFO", "TMUX", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS"} {
		for _, value := range []string{ptyexec.Getenv(env, name), os.Getenv(name)} { // the command may not get the variable
			value = strings.TrimPrefix(strings.TrimPrefix(value, "unix://"), "unix:path=")
			path, _, _ := strings.Cut(value, ",")
			for _, socket := range existing([]string{path}) {
				if filepath.IsAbs(path) && v.writes(socket) && !slices.Contains(v.hidden, socket) {
					v.hidden = append(v.hidden, socket)
				}
			}
		}
	}
}

// copy gives the command its own copies of files.
func (v *view) copy(files []string) {
	for _, path := range files {
		c := cover.Place{Path: tempName(), From: path}
		v.copies, v.places.Blanks = append(v.copies, c), append(v.places.Blanks, c)
	}
	v.Write = slices.DeleteFunc(v.Write, func(path string) bool { return slices.Contains(files, path) })
}

// tempName returns a new path for a file that is removed after the call.
func tempName() string { return filepath.Join(os.TempDir(), "ralph-"+strings.ToLower(rand.Text())) }

// parents returns the folders between dir and the paths, from the top down.
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

// existing resolves the paths and leaves out those that do not exist.
func existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if _, err := os.Lstat(path); err != nil {
			continue // most do not exist, and Lstat is one call where EvalSymlinks makes one for each folder
		}
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// within is true for dir itself and everything below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return path == dir || ok && strings.HasPrefix(rest, "/")
}

// without returns path, or, if a hole is below it, everything in it except the holes. It leaves out links: only their
// targets count.
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
