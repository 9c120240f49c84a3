package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs"
	"ralph/logs/lazy"
	"ralph/ptyexec"
)

// homeFolder finds names in a home folder.
type homeFolder struct {
	dir   string      // absolute, without links; empty: there is none, and nothing to hide
	moved [][2]string // a name, and where a variable has moved it
}

// newHome returns the home folder of a program with this environment; moved are more variables, as in tool.moved.
func newHome(env, moved []string) homeFolder {
	h := homeFolder{dir: ptyexec.Getenv(env, "HOME")}
	if real, err := filepath.EvalSymlinks(h.dir); err == nil && h.dir != "" {
		h.dir = real
	}
	for _, t := range tools() {
		moved = append(moved, t.moved...)
	}
	for _, entry := range moved {
		name, from, _ := strings.Cut(entry, "=")
		for _, to := range filepath.SplitList(ptyexec.Getenv(env, name)) {
			if filepath.IsAbs(to) {
				h.moved = append(h.moved, [2]string{strings.TrimSuffix(from, "/"), filepath.Clean(to)})
			}
		}
	}
	return h
}

// paths returns where a name is: in the home folder, and where variables have moved it.
func (h homeFolder) paths(name string) []string {
	all := []string{filepath.Join(h.dir, name)}
	for _, m := range h.moved {
		if m[0] != "" && within(name, m[0]) {
			all = append(all, filepath.Join(m[1], strings.TrimPrefix(name, m[0])))
		}
	}
	return all
}

// place returns where a program finds a name: the folder that the name is below, and the path.
func (h homeFolder) place(name string) (root, path string) {
	root, path = h.dir, filepath.Join(h.dir, name)
	for _, m := range h.moved {
		if m[0] != "" && within(strings.TrimSuffix(name, "/"), m[0]) {
			root, path = m[1], filepath.Join(m[1], strings.TrimPrefix(name, m[0]))
		}
	}
	return root, path
}

// named returns the path that a person names: absolute, or below ~/.
func (h homeFolder) named(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(h.dir, rest)
	}
	return path
}

// find returns the paths of all names that exist, without links.
func (h homeFolder) find(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, h.paths(name)...)
	}
	return existing(all)
}

// has reports whether the path is in the home folder.
func (h homeFolder) has(path string) bool { return h.dir != "" && within(path, h.dir) }

// link is a symbolic link on the way to something that is seen.
type link struct{ path, target string }

const maxLinks = 40 // as the kernel follows

// follow returns a path without links, and those that it followed.
func follow(path string) (real string, links []link, err error) {
	real = "/"
	for rest := strings.Split(path, "/"); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		at := filepath.Join(real, name)
		info, err := os.Lstat(at)
		if err != nil {
			return "", nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = at
			continue
		}
		target, err := os.Readlink(at)
		if err != nil || len(links) == maxLinks {
			return "", nil, fs.ErrInvalid
		}
		links = append(links, link{at, target})
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = slices.Concat(strings.Split(target, "/"), rest)
	}
	return real, links, nil
}

// resolve returns a path without links, and remembers the links to it. It returns nothing for a missing path, for the
// home folder and what is above it, and for a link that a contained program may have made.
func (v *view) resolve(path string) string {
	if _, err := os.Lstat(path); err != nil {
		return "" // most do not exist
	}
	real, links, err := follow(path)
	if err != nil || within(v.home.dir, real) ||
		slices.ContainsFunc(links, func(l link) bool { return v.writes(l.path) }) {
		return ""
	}
	for _, l := range links {
		if v.home.has(l.path) && !slices.Contains(v.links, l) {
			v.links = append(v.links, l)
		}
	}
	return real
}

// writes reports whether the command may write the path.
func (v *view) writes(path string) bool {
	in := func(dir string) bool { return within(path, dir) && !within(v.home.dir, dir) }
	return in(v.Dir) || slices.ContainsFunc(v.Write, in) || slices.ContainsFunc(v.temp, in)
}

// see lets the command read a path of the home folder.
func (v *view) see(path string) (real string) {
	real = v.resolve(path)
	if v.home.has(real) && !slices.Contains(v.reads, real) && !v.writes(real) {
		v.reads = append(v.reads, real)
	}
	return real
}

// ask is see for a path that a container sees, too.
func (v *view) ask(path string) {
	if real := v.see(path); v.home.has(real) && !v.writes(real) {
		v.asked = append(v.asked, link{path, real})
	}
}

// holdsAll reports whether a path is, or contains, a folder with all kinds of things. A variable may call it a toolchain.
func (v *view) holdsAll(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && slices.ContainsFunc(v.common, func(dir string) bool { return within(dir, real) })
}

// seeTool lets the command read a path of a toolchain.
func (v *view) seeTool(path string) (real string) {
	if _, err := os.Lstat(path); err != nil || v.holdsAll(path) {
		return ""
	}
	return v.see(path)
}

// seeTools lets the command read the toolchains of the table, what variables name, and the folders in PATH.
func (v *view) seeTools(c ptyexec.Command) {
	for _, t := range tools() {
		for _, name := range t.reads {
			for _, path := range v.home.paths(name) {
				v.seeTool(path)
			}
		}
		for _, name := range t.settings {
			for _, path := range v.home.paths(name) {
				if v.home.has(path) && isPlain(path) {
					v.see(path)
				}
			}
		}
	}
	for _, m := range v.home.moved {
		if m[0] == "" {
			v.seeTool(m[1])
		}
	}
	env := programEnv(c.Env)
	for _, name := range fileVariables() {
		v.seeTool(ptyexec.Getenv(env, name))
	}
	for _, dir := range filepath.SplitList(ptyexec.Getenv(env, "PATH")) {
		if filepath.IsAbs(dir) && v.home.has(dir) {
			for _, path := range programFolders(dir) {
				v.seeTool(path)
			}
		}
	}
	program, _ := ptyexec.LookUp(c) // without it, the command does not start
	self, _ := os.Executable()      // an agent CLI starts it for ralph's hooks
	hub, _ := FindHub()             // needed only where it was found before
	for _, path := range []string{program, self, hub} {
		if before, _, ok := strings.Cut(v.seeTool(path), "/node_modules/"); ok {
			v.seeTool(before + "/node_modules")
		}
	}
}

// programFolders returns a folder of programs, and what they need beside it: libraries, or all of an unpacked toolchain
// or a virtual environment. The rest may be anything: ~/.fly/bin is beside a login.
func programFolders(dir string) []string {
	all, base := []string{dir}, filepath.Dir(dir)
	if filepath.Base(base) == "node_modules" {
		return []string{base}
	}
	for _, name := range []string{"lib", "lib64", "libexec", "include"} {
		all = append(all, filepath.Join(base, name))
	}
	for _, mark := range []string{"pyvenv.cfg", "conda-meta", "pkg/tool", "lib/jvm.cfg", "lib/modules", "lib/rustlib", "boot/plexus-classworlds.license"} {
		if _, err := os.Lstat(filepath.Join(base, mark)); err == nil {
			return append(all, base)
		}
	}
	return all
}

// maxSettings limits the size of a file of settings.
const maxSettings = 1 << 20

// isPlain reports whether a file has settings, and nothing else: no credentials, and no text of another kind.
func isPlain(path string) bool {
	text, ok := readSettings(path)
	return ok && plainSettings().MatchString(text) && !hasSecret(text)
}

// readSettings reads a file of settings. It does not wait for one that is no file.
func readSettings(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return "", false
	}
	text, err := os.ReadFile(path) // file: in the home folder
	return string(text), err == nil
}

// hasSecret reports whether settings have credentials, or may have some.
func hasSecret(text string) bool {
	return secretWord().MatchString(text) || logs.Redact(text) != text
}

var secretWord = lazy.Regexp(`(?i)passw|passphrase|smtppass|token|secret|credential|_auth|authoriz|extraheader|cookie|` +
	`api_?-?key|access_?-?key|private_?-?key|sslkey|[a-z]://[^/\s"']*@`)

// plainSettings matches a text of which each line is empty, a comment, a section, or a setting.
var plainSettings = lazy.Regexp(`^(?:[ \t]*(?:(?:[#;!]|//).*|\[[^\]\n]*\]|["\w@/.:-]+[ \t]*[=:][^\n]*|-[ \t][^\n]*)?[ \t]*\r?(?:\n|$))*$`)
