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

	"ralph/ptyexec/cover"
)

// view is a Place as it is on this machine: absolute paths without links.
type view struct {
	Place
	home   string
	temp   []string
	hidden []string     // not readable
	caches []string     // of build tools; also in Write
	image  string       // of a container
	locked []string     // read-only
	copies []cover.File // of files that the agent writes in its own state
	fixed  []string     // read-only parts of the agent's own state
	// places are what ralph makes where a file is missing that the command must not create.
	places cover.Places
}

// isCache is true for a folder that build tools inside and outside share.
func (v view) isCache(path string) bool { return slices.Contains(v.caches, path) }

// secrets returns paths in the home folder that no agent needs to read.
func secrets() []string {
	return []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".config/gcloud", ".config/gh", ".config/hub", ".config/glab-cli",
		".config/op",
		".netrc", ".git-credentials", ".config/git/credentials", ".docker/config.json", ".pypirc",
		".cargo/credentials.toml", ".cargo/credentials",
		".terraform.d/credentials.tfrc.json", ".config/rclone", ".vault-token", ".password-store",
		".local/share/keyrings", ".pki",
		".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
		".config/vivaldi", ".thunderbird",
		"snap/firefox", "snap/chromium", "snap/brave", "snap/thunderbird", ".var/app/org.mozilla.firefox",
		".var/app/org.mozilla.Thunderbird",
		".var/app/com.google.Chrome", ".var/app/org.chromium.Chromium", ".var/app/com.brave.Browser",
		".var/app/com.microsoft.Edge",
		".bash_history", ".zsh_history", ".zhistory", ".histfile", ".local/share/fish/fish_history", ".python_history",
		".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".lesshst", ".viminfo",
		".local/state/ralph/hub",   // the key to act as a person in the dashboard
		".local/state/ralph/fleet", // the tokens of a fleet
		".config/nats", ".local/share/nats",
		// Sockets of programs that obey everybody who can connect.
		".docker/run", ".docker/desktop", ".colima", ".lima", ".rd", ".orbstack",
		".local/share/containers/podman/machine", ".1password",
	}
}

// caches returns paths in the home folder that build tools write. They contain nothing
// that a shell or the user's other programs start by themselves.
func caches() []string {
	return []string{
		".cache/go-build", ".cache/golangci-lint", "go/pkg", ".npm", ".cache/node", ".cache/yarn", ".cache/pip",
		".cache/uv", ".cache/ruff",
		".cargo/registry", ".cargo/git", ".m2/repository", ".gradle/caches", ".local/share/pnpm/store", ".cache/pnpm",
		".cache/ms-playwright",
	}
}

// look resolves a place on this machine, and, for a profile that locks, what to make where a path is missing. env is
// the environment of the command.
func look(p Place, env []string, lock bool) (view, error) {
	env = programEnv(env)
	v := view{home: lookup(env, "HOME")}
	var err error
	if v.Dir, err = filepath.EvalSymlinks(p.Dir); err != nil {
		return v, fmt.Errorf("find the project: %w", err)
	}
	if p.Project.Dir != v.Dir {
		return v, fmt.Errorf("the sandbox is for %q, not for %q", p.Project.Dir, v.Dir)
	}
	for _, name := range p.Kept.Write {
		if strings.HasSuffix(name, "/") && v.home != "" {
			if err := os.MkdirAll(filepath.Join(v.home, name), 0o700); err != nil {
				return v, fmt.Errorf("make the agent's folder: %w", err)
			}
		}
	}
	if real, err := filepath.EvalSymlinks(v.home); err == nil && v.home != "" {
		v.home = real
	}
	if lock {
		if err := v.lock(p); err != nil {
			return v, err
		}
	}
	own := inHome(v.home, p.Kept.Write)
	v.caches = inHome(v.home, caches())
	v.Write = existing(slices.Concat(p.Write, p.Project.Git, own, v.caches))
	if lock {
		v.copy(inHome(v.home, p.Kept.Copied))
	}
	v.fixed = inHome(v.home, p.Kept.Locked)
	if !lock {
		v.fixed = append(v.fixed, inHome(v.home, p.Kept.Copied)...)
	}
	v.hidden = append(inHome(v.home, slices.Concat(secrets(), p.HomeHidden)),
		withLogin(inHome(v.home, []string{".npmrc"}))...)
	if home := lookup(env, "XDG_STATE_HOME"); home != "" {
		ralph := filepath.Join(home, "ralph")
		v.hidden = append(v.hidden, existing([]string{filepath.Join(ralph, "hub"), filepath.Join(ralph, "fleet")})...)
	}
	v.temp = existing([]string{lookup(env, "TMPDIR")})
	if len(v.temp) == 0 {
		v.temp = existing([]string{"/tmp", "/var/tmp"})
	}
	// An agent may read what it keeps itself. Everything else stays hidden, even in the project or in git's folders.
	v.hidden = slices.DeleteFunc(v.hidden, func(path string) bool {
		return slices.ContainsFunc(own, func(w string) bool { return within(path, w) })
	})
	return v, nil
}

// copy gives the command its own copies of files.
func (v *view) copy(files []string) {
	for _, path := range files {
		c := cover.File{Path: tempName(), From: path}
		v.copies, v.places.Blanks = append(v.copies, c), append(v.places.Blanks, c)
	}
	v.Write = slices.DeleteFunc(v.Write, func(path string) bool { return slices.Contains(files, path) })
}

// tempName returns a new path for a file that is removed after the call.
func tempName() string { return filepath.Join(os.TempDir(), "ralph-"+strings.ToLower(rand.Text())) }

// withLogin returns the npm settings files that contain a login. npm needs the others: they name a registry or a
// folder.
func withLogin(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && !strings.Contains(strings.ToLower(string(text)), "_auth") &&
			!strings.Contains(string(text), "_password")
	})
}

// splitHidden splits the hidden paths into those that contain the project or a folder of the agent, and the rest. A
// later mount covers an earlier one, so the former must come first.
func (v view) splitHidden() (outer, rest []string) {
	for _, path := range v.hidden {
		if slices.ContainsFunc(slices.Concat([]string{v.Dir}, v.Write),
			func(w string) bool { return within(w, path) }) {
			outer = append(outer, path)
		} else {
			rest = append(rest, path)
		}
	}
	return outer, rest
}

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

// inHome resolves names in the home folder. It leaves out those that do not exist.
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

// existing resolves the paths and leaves out those that do not exist.
func existing(paths []string) []string {
	var out []string
	folders := map[string]string{} // without links: most paths share theirs
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue // most do not exist, and Lstat is one call where EvalSymlinks makes one for each folder
		}
		folder, name := filepath.Split(path)
		real, ok := folders[folder]
		if info.Mode()&fs.ModeSymlink != 0 || folder == "" {
			real, err = filepath.EvalSymlinks(path)
		} else {
			if !ok {
				if real, err = filepath.EvalSymlinks(folder); err == nil {
					folders[folder] = real
				}
			}
			real = filepath.Join(real, name)
		}
		if err == nil && !slices.Contains(out, real) {
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
