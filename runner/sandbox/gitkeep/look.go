package gitkeep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ralph/ptyexec"
	"ralph/state/projectfs"
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

// looker reads a state.
type looker struct {
	state
	reader
	r    Repository
	seen []string // paths of .git that it looked at
}

// disk follows no link and opens no FIFO. All paths are absolute, and were without links before a command ran.
func disk() projectfs.Dir { return projectfs.In("/") }

// reader looks at the disk. It keeps its first error: what cannot be seen may have been planted.
type reader struct{ err error }

// fail keeps an error unless it means that nothing is there.
func (d *reader) fail(err error) {
	if d.err == nil && err != nil && !missing(err) {
		d.err = err
	}
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || projectfs.InPlaceOfFolder(err) }

// lstat returns nil if nothing is there.
func (d *reader) lstat(path string) fs.FileInfo {
	info, err := disk().Lstat(path)
	if err != nil {
		d.fail(err)
		return nil
	}
	return info
}

func (d *reader) isDir(path string) bool {
	info := d.lstat(path)
	return info != nil && info.IsDir()
}

func (d *reader) list(dir string) (names []string) {
	entries, err := disk().ReadDir(dir)
	d.fail(err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// look reads the state now. repos are git's folders that were known before: it looks into them, too.
// With since, it also looks at repositories in the work tree that git add would take, at what was changed since then.
// Without askGit, it starts no git, which could wait for a FIFO in the place of its settings.
func look(r Repository, repos []string, since time.Time, askGit bool) (*looker, error) {
	l := &looker{state: state{Files: map[string]file{}}, r: r}
	for _, path := range r.dotGits() {
		l.dotGit(path)
	}
	folders, err := r.Folders()
	for _, dir := range slices.Concat(folders, repos) {
		l.repo(dir)
	}
	if work := r.work(); askGit && work != "" && len(r.Git) > 0 {
		broken := l.nested(r.Git[0], work, 0)
		if broken == nil && !since.IsZero() {
			broken = l.untracked(r.Git[0], work, since)
		}
		err = cmp.Or(err, broken)
	}
	return l, cmp.Or(err, l.err)
}

// Folders returns git's folders: that which all work trees share, and those of its work trees and submodules.
func (r Repository) Folders() (all []string, err error) {
	if len(r.Git) == 0 {
		return nil, nil
	}
	var d reader
	common := r.common()
	all = append(all, common)
	for _, name := range []string{"worktrees", "modules"} {
		all = append(all, d.below(filepath.Join(common, name), 0)...)
	}
	if !slices.Contains(all, r.Git[0]) {
		all = append(all, r.Git[0])
	}
	return all, d.err
}

// below returns git's folders below one. The name of a submodule may have slashes, and it may have submodules, too.
func (d *reader) below(dir string, depth int) (all []string) {
	if depth > maxNested {
		return nil
	}
	for _, name := range d.list(dir) {
		path := filepath.Join(dir, name)
		switch {
		case !d.isDir(path):
		case d.lstat(filepath.Join(path, "HEAD")) == nil && d.lstat(filepath.Join(path, "config")) == nil: // a part of a name
			all = append(all, d.below(path, depth+1)...)
		default:
			all = append(append(all, path), d.below(filepath.Join(path, "modules"), depth+1)...)
		}
	}
	return all
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

// has reports whether a path is in the project, its work tree, or git's folder for it.
func (r Repository) has(path string) bool {
	return slices.ContainsFunc([]string{r.common(), r.work(), r.Dir}, func(top string) bool {
		rel, err := filepath.Rel(top, path)
		return top != "" && err == nil && filepath.IsLocal(rel)
	})
}

// repo looks into one of git's folders.
func (l *looker) repo(dir string) {
	if slices.Contains(l.Repos, dir) || !l.r.has(dir) {
		return
	}
	if !l.isDir(dir) { // perhaps a link in its place, or above it
		if rel, err := filepath.Rel(l.r.common(), dir); err == nil && filepath.IsLocal(rel) && rel != "." {
			l.file(l.r.common(), rel)
		}
		return
	}
	l.Repos = append(l.Repos, dir)
	l.links(dir, dir)
	for _, name := range names() {
		l.file(dir, name)
	}
	if filepath.Base(filepath.Dir(dir)) == "worktrees" {
		l.file(dir, "gitdir")
	}
	for _, name := range trees() {
		l.tree(filepath.Join(dir, name), dir)
	}
}

// links adds the links in a folder of a repository: git would write through them.
func (l *looker) links(dir, repo string) {
	entries, err := disk().ReadDir(dir)
	l.fail(err)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if l.writes(path, repo) {
				l.links(path, repo)
			}
		case e.Type()&fs.ModeSymlink != 0:
			l.add(path, repo)
			to := l.Files[path].Link
			branch := strings.HasPrefix(to, "refs/") && filepath.Clean(to) == to     // HEAD, as git once wrote it
			emacs := strings.HasPrefix(e.Name(), ".#") && !strings.Contains(to, "/") // its locks
			if branch || emacs {
				delete(l.Files, path)
			}
		}
	}
}

// writes reports whether git may write into a folder of a repository. It leaves out other repositories there, those of
// other programs, and most of the objects.
func (l *looker) writes(path, repo string) bool {
	rel, _ := filepath.Rel(repo, path)
	switch top, below, _ := strings.Cut(rel, "/"); top {
	case "refs", "logs", "info", "rebase-merge", "rebase-apply", "sequencer":
		return true
	case "objects":
		return below == "" || below == "info"
	case "modules", "worktrees":
		return l.lstat(filepath.Join(path, "HEAD")) == nil
	}
	return false
}

// file adds a file of a repository. Something else in the place of a folder above it stands for the file.
func (l *looker) file(dir, name string) {
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
	for _, name := range l.list(path) {
		if !strings.HasSuffix(name, ".sample") {
			l.tree(filepath.Join(path, name), repo)
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
	data, err := disk().Read(filepath.Join(gitDir, "index"), 1<<30)
	if err != nil && !missing(err) {
		return nil, err
	}
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
	info := l.lstat(path)
	if info == nil {
		return
	}
	var err error
	f := file{Repo: repo, Mode: info.Mode().Perm()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.Link, err = os.Readlink(path)
		l.fail(err)
	case info.IsDir():
		f.Other = folder
	case !info.Mode().IsRegular():
		f.Other = "not a file: " + info.Mode().Type().String()
	default:
		if f.Data, err = disk().Read(path, maxFile); err != nil {
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

// paths returns the paths of both states, sorted: folders come before what is in them.
func paths(a, b state) []string {
	all := maps.Clone(a.Files)
	maps.Copy(all, b.Files)
	return slices.Sorted(maps.Keys(all))
}
