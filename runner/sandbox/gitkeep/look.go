package gitkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ralph/ptyexec"
)

// state is what git starts: the files that decide it, by path. What is missing there is missing on disk.
type state struct {
	Repos []string        `json:"repos"` // git's folders
	Files map[string]file `json:"files"`
}

// file is one of them.
type file struct {
	Repo  string      `json:"repo,omitempty"` // git's folder that it belongs to; empty: none
	Data  []byte      `json:"data,omitempty"`
	Mode  fs.FileMode `json:"mode,omitempty"`
	Link  string      `json:"link,omitempty"`  // where it leads, if it is a link
	Other string      `json:"other,omitempty"` // what it is, if it is neither; empty: a file or a link
}

const (
	maxFile   = 16 << 20    // bytes of a file that can be put back
	gitBound  = time.Minute // for git to list the files of a project
	maxNested = 64          // folders in the name of a submodule, and submodules in submodules
	dotGit    = ".git"
	folder    = "a folder"
)

// names are the files in each of git's folders that start programs, lead git elsewhere, or choose the program that
// starts.
func names() []string {
	return []string{"config", configWorktree, commonDir, "info/attributes", "objects/info/alternates", todo}
}

// trees are the folders there of which all files do.
func trees() []string { return []string{"hooks", "remotes", "branches"} }

const (
	configWorktree = "config.worktree"
	commonDir      = "commondir"
	todo           = "rebase-merge/git-rebase-todo" // its lines may start programs
)

// looker reads a state. It follows no link, and opens no FIFO.
type looker struct {
	state
	r     Repository
	roots map[string]*os.Root
	seen  []string // paths of .git that it looked at
}

// look reads the state now. repos are git's folders that were known before: it looks into them, too.
// With since, it also looks at repositories in the work tree that git add would take, at what was changed since then.
// Without askGit, it starts no git, which could wait for a FIFO in the place of its settings.
func look(r Repository, repos []string, since time.Time, askGit bool) (*looker, error) {
	l := &looker{state: state{Files: map[string]file{}}, r: r, roots: map[string]*os.Root{}}
	for _, path := range r.dotGits() {
		l.dotGit(path)
	}
	if len(r.Git) > 0 {
		common := r.common()
		l.repo(common)
		l.repo(r.Git[0])
		l.worktrees(filepath.Join(common, "worktrees"))
		l.modules(filepath.Join(common, "modules"), 0)
	}
	for _, repo := range repos {
		l.repo(repo)
	}
	var err error
	if work := r.work(); askGit && work != "" && len(r.Git) > 0 {
		if err = l.nested(r.Git[0], work, 0); err == nil && !since.IsZero() {
			err = l.untracked(r.Git[0], work, since)
		}
	}
	return l, err
}

func (l *looker) close() {
	for _, root := range l.roots {
		if root != nil {
			_ = root.Close()
		}
	}
}

// work is the work tree; empty: there is none.
func (r Repository) work() string {
	if r.DotGit == "" {
		return ""
	}
	return filepath.Dir(r.DotGit)
}

func (r Repository) common() string {
	if len(r.Git) == 0 {
		return r.Dir
	}
	return r.Git[len(r.Git)-1]
}

// dotGits are the paths at which git looks for .git, from the project upwards to its work tree.
func (r Repository) dotGits() (all []string) {
	for dir := r.Dir; dir != r.work(); dir = filepath.Dir(dir) {
		all = append(all, filepath.Join(dir, dotGit))
		if rel, err := filepath.Rel(r.work(), dir); r.DotGit == "" || err != nil || !filepath.IsLocal(rel) {
			break
		}
	}
	if r.DotGit != "" && !slices.Contains(all, r.DotGit) {
		all = append(all, r.DotGit)
	}
	return all
}

// dotGit looks at a .git. If it is a folder without being that of the project, a command may have made it.
func (l *looker) dotGit(path string) {
	l.seen = append(l.seen, path)
	l.add(path, "")
	if l.Files[path].Other == folder {
		l.repo(path)
	}
}

// at returns the root that a path is in, opened, and the rest of the path; nil: it is in none, or a command put
// something else in its place.
func (l *looker) at(path string) (*os.Root, string) {
	for _, top := range []string{l.r.common(), l.r.work(), l.r.Dir} {
		rel, err := filepath.Rel(top, path)
		if top == "" || err != nil || !filepath.IsLocal(rel) || path == l.r.DotGit && top == path {
			continue
		}
		root, opened := l.roots[top]
		if !opened {
			if info, err := os.Lstat(top); err == nil && info.IsDir() {
				root, _ = os.OpenRoot(top)
			}
			l.roots[top] = root
		}
		return root, rel
	}
	return nil, ""
}

// kind returns what is at a path, with no link above it.
func (l *looker) kind(path string) (fs.FileInfo, error) {
	if path == l.r.common() {
		return os.Lstat(path)
	}
	root, rel := l.at(path)
	if root == nil {
		return nil, fs.ErrNotExist
	}
	for i, c := range rel {
		if c != filepath.Separator {
			continue
		}
		if info, err := root.Lstat(rel[:i]); err != nil || !info.IsDir() {
			return nil, fs.ErrNotExist
		}
	}
	return root.Lstat(rel)
}

func (l *looker) isDir(path string) bool {
	info, err := l.kind(path)
	return err == nil && info.IsDir()
}

func (l *looker) readDir(path string) (names []string) {
	if !l.isDir(path) {
		return nil
	}
	root, rel := l.at(path)
	if f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0); err == nil {
		defer f.Close()
		names, _ = f.Readdirnames(-1)
	}
	return names
}

// repo looks into one of git's folders.
func (l *looker) repo(dir string) {
	if slices.Contains(l.Repos, dir) || !l.isDir(dir) {
		return
	}
	l.Repos = append(l.Repos, dir)
	for _, name := range names() {
		l.below(dir, name)
	}
	if filepath.Base(filepath.Dir(dir)) == "worktrees" {
		l.below(dir, "gitdir")
	}
	for _, name := range trees() {
		l.tree(filepath.Join(dir, name), dir)
	}
}

// below adds a file of a repository. Something else in the place of a folder above it stands for the file.
func (l *looker) below(dir, name string) {
	path := dir
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		if !l.isDir(path) {
			break
		}
	}
	l.add(path, dir)
}

// tree adds all files of a folder but git's samples, which git does not start.
func (l *looker) tree(path, repo string) {
	if !l.isDir(path) {
		l.add(path, repo)
		return
	}
	for _, name := range l.readDir(path) {
		if !strings.HasSuffix(name, ".sample") {
			l.tree(filepath.Join(path, name), repo)
		}
	}
}

func (l *looker) worktrees(dir string) {
	for _, name := range l.readDir(dir) {
		l.repo(filepath.Join(dir, name))
	}
}

// modules looks into the submodules below a folder. Their names may have slashes, and they may have some, too.
func (l *looker) modules(dir string, depth int) {
	if depth > maxNested {
		return
	}
	for _, name := range l.readDir(dir) {
		path := filepath.Join(dir, name)
		_, err1 := l.kind(filepath.Join(path, "HEAD"))
		_, err2 := l.kind(filepath.Join(path, "config"))
		switch {
		case !l.isDir(path):
		case err1 != nil && err2 != nil: // a part of a name
			l.modules(path, depth+1)
		default:
			l.repo(path)
			l.modules(filepath.Join(path, "modules"), depth+1)
		}
	}
}

// nested looks at the repositories in a work tree that its index has: git status runs git in them.
func (l *looker) nested(gitDir, work string, depth int) error {
	paths, err := l.gitlinks(gitDir)
	if err != nil || depth > maxNested {
		return err
	}
	for _, path := range paths {
		path = filepath.Join(work, filepath.FromSlash(path))
		if slices.Contains(l.seen, filepath.Join(path, dotGit)) {
			continue
		}
		l.dotGit(filepath.Join(path, dotGit))
		if at := l.leads(filepath.Join(path, dotGit)); at != "" {
			l.repo(at)
			if err := l.nested(at, path, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// leads returns git's folder that a .git is or leads to; empty: none.
func (l *looker) leads(path string) string {
	f, ok := l.Files[path]
	to, isFile := strings.CutPrefix(string(f.Data), "gitdir:")
	switch {
	case !ok || f.Link != "":
		return ""
	case f.Other == folder:
		return path
	case !isFile:
		return ""
	}
	to = strings.TrimSpace(to)
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	return filepath.Clean(to)
}

// gitlinks returns the repositories in an index. Most have none, and that is cheap to see.
func (l *looker) gitlinks(gitDir string) (paths []string, err error) {
	data, _ := l.read(filepath.Join(gitDir, "index"), 1<<30)
	if !bytes.Contains(data, []byte{0, 0, 0xe0, 0}) && !bytes.Contains(data, []byte("link")) { // the mode; a split index
		return nil, nil
	}
	out, err := lsFiles(gitDir, "/", "-s")
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		if meta, path, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(meta, "160000 ") {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// lsFiles runs git, which starts no program for this. It returns nothing if git cannot read the index: then no git can.
//
//nolint:contextcheck,nolintlint // for its callers: it must also work after the context of a call has ended
func lsFiles(gitDir, work string, args ...string) (string, error) {
	args = append([]string{"--git-dir=" + gitDir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
		"-c", "core.untrackedCache=false", "ls-files", "-z"}, args...)
	ctx, cancel := context.WithTimeout(context.Background(), gitBound)
	defer cancel()
	defer ptyexec.Working(gitBound)()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	cmd.Env, cmd.Dir = append(cmd.Env, "GIT_WORK_TREE="+work, "GIT_OPTIONAL_LOCKS=0"), work
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		err = nil
	}
	return string(out), err
}

// untracked looks at the repositories in the work tree that are not in its index yet. What is older than since is the
// user's.
func (l *looker) untracked(gitDir, work string, since time.Time) error {
	out, err := lsFiles(gitDir, work, "--others", "--exclude-standard")
	for path := range strings.SplitSeq(out, "\x00") {
		dir, nested := strings.CutSuffix(path, "/")
		at := filepath.Join(work, filepath.FromSlash(dir), dotGit)
		if !nested || slices.Contains(l.seen, at) || slices.Contains(l.Repos, at) {
			continue
		}
		l.dotGit(at)
		maps.DeleteFunc(l.Files, func(path string, f file) bool {
			return (path == at && f.Other != folder || f.Repo == at) && older(path, since)
		})
	}
	return err
}

// older is true for a file that nobody has touched since a moment: no program can set the time of that itself.
func older(path string, since time.Time) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && time.Unix(st.Ctim.Unix()).Before(since)
}

// add adds what is at a path, if anything is.
func (l *looker) add(path, repo string) {
	info, err := l.kind(path)
	if err != nil {
		return
	}
	f := file{Repo: repo, Mode: info.Mode().Perm()}
	switch root, rel := l.at(path); {
	case info.Mode()&fs.ModeSymlink != 0:
		f.Link, _ = root.Readlink(rel)
	case info.IsDir():
		f.Other = folder
	case !info.Mode().IsRegular():
		f.Other = "not a file: " + info.Mode().Type().String()
	default:
		if f.Data, err = l.read(path, maxFile); err != nil {
			f.Other = fmt.Sprintf("not readable: %d bytes", info.Size())
		}
	}
	if !placeholder(path, f) {
		l.Files[path] = f
	}
}

// placeholder is true for a file that a sandbox may have put there, and that means the same to git as none.
func placeholder(path string, f file) bool {
	switch filepath.Base(path) {
	case configWorktree, "config":
		return f.Link+f.Other == "" && len(f.Data) == 0
	case commonDir:
		return string(f.Data) == ".\n"
	}
	return false
}

func (l *looker) read(path string, limit int64) ([]byte, error) {
	root, rel := l.at(path)
	if root == nil {
		return nil, fs.ErrNotExist
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fs.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// paths returns the paths of both states, sorted: folders come before what is in them.
func paths(a, b state) []string {
	all := maps.Clone(a.Files)
	maps.Copy(all, b.Files)
	return slices.Sorted(maps.Keys(all))
}
