// Package git observes a project's files and its git repository, and writes commits and
// kept states on request. It never resets, cleans, stashes or forces anything.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"

	"ralph/runner/git/command"
	"ralph/state"
)

// maxFiles limits Change.Files.
const maxFiles = 1000

// Snapshot is the state of a project at one moment.
type Snapshot struct {
	// Repo is false if the folder is not in a work tree of git, or git is not installed. The Snapshot then has all
	// files below the folder, up to a limit.
	Repo   bool
	Head   string // object id; empty before the first commit
	Branch string // empty if HEAD is detached
	// Operation is as in Condition; Unmerged are the files with conflicts that are not resolved.
	Operation string
	Unmerged  []string
	// files has the signatures of files that differ from HEAD or are untracked, or of all
	// files without a repository. Paths are slash-separated, relative to the root of the
	// repository or to the folder.
	files map[string]signature
	texts map[string]string // of files and own, without binary ones, up to a limit
	// own is the same for the user's files in .ralph. ralph keeps and commits them, but their change is not progress.
	own       map[string]signature
	untracked map[string]bool // the untracked ones among files
	root      string          // of the repository; empty: none
	meta      string          // git's own folder, with links resolved
}

func newSnapshot(repo bool) Snapshot {
	return Snapshot{Repo: repo, files: map[string]signature{}, texts: map[string]string{},
		own: map[string]signature{}, untracked: map[string]bool{}}
}

// Observe takes a Snapshot of the repository of dir with one git process, or of the files
// below dir if there is no repository. It fails if git fails.
func Observe(ctx context.Context, dir string) (Snapshot, error) {
	root, ok := Root(dir)
	if !ok {
		return ObserveFolder(ctx, dir, maxWalked)
	}
	args := []string{"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-ahead-behind"}
	out, err := command.Run(ctx, dir, append(args, command.Submodules(ctx, dir)...)...)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, command.ErrNoRepository):
		return ObserveFolder(ctx, dir, maxWalked)
	case err != nil:
		return Snapshot{}, fmt.Errorf("observe repository %q: %w", root, err)
	}
	snap, entries, err := parseStatus(out)
	if err != nil {
		return Snapshot{}, fmt.Errorf("observe repository %q: %w", root, err)
	}
	snap.locate(root)
	snap.Operation = operation(root)
	entries = slices.DeleteFunc(entries, func(e entry) bool { return ownState(e.path) && !userFile(e.path) })
	all := signAll(ctx, root, entries)
	if err := ctx.Err(); err != nil {
		return Snapshot{}, fmt.Errorf("observe repository %q: %w", root, err)
	}
	for i, e := range entries {
		files := snap.files
		if ownState(e.path) {
			files = snap.own
		}
		files[e.path] = all[i].signature
		if e.untracked {
			snap.untracked[e.path] = true
		}
		if all[i].known {
			snap.texts[e.path] = all[i].text
		}
	}
	return snap, nil
}

// WithCommit returns the snapshot after a commit of files as they are on disk.
func (s Snapshot) WithCommit(c Committed) Snapshot {
	s.Head = c.OID
	s.files, s.own, s.texts, s.untracked = maps.Clone(s.files), maps.Clone(s.own), maps.Clone(s.texts), maps.Clone(s.untracked)
	for _, f := range c.Files {
		delete(s.files, f)
		delete(s.own, f)
		delete(s.texts, f)
		delete(s.untracked, f)
	}
	return s
}

// Dirty reports whether the file differs from HEAD or is untracked.
func (s Snapshot) Dirty(path string) bool {
	_, dirty := s.signature(path)
	return dirty
}

// signature returns the signature of a dirty file, false for any other.
func (s Snapshot) signature(path string) (signature, bool) {
	sig, ok := s.own[path]
	if !ok {
		sig, ok = s.files[path]
	}
	return sig, ok
}

// entry is a path in git status. submodule is its state, empty for a file.
type entry struct {
	path, submodule string
	untracked       bool
}

// parseStatus reads the output of git status --porcelain=v2 --branch -z. The snapshot has
// no files yet.
func parseStatus(out string) (Snapshot, []entry, error) {
	snap := newSnapshot(true)
	var entries []entry
	records := strings.Split(out, "\x00")
	for i := 0; i < len(records); i++ {
		r := records[i]
		if r == "" || snap.header(r) {
			continue
		}
		// The number of fields before the path, by kind: changed, renamed, unmerged, untracked.
		before := map[byte]int{'1': 8, '2': 9, 'u': 10, '?': 1}[r[0]]
		f := strings.SplitN(r, " ", before+1)
		if before == 0 || len(f) != before+1 {
			return Snapshot{}, nil, fmt.Errorf("parse git status: unknown record %q", r)
		}
		e := entry{path: f[before], untracked: r[0] == '?'}
		if before > 1 && strings.HasPrefix(f[2], "S") {
			e.submodule = f[2]
		}
		entries = append(entries, e)
		if r[0] == 'u' {
			snap.Unmerged = append(snap.Unmerged, e.path)
		}
		if r[0] == '2' && i+1 < len(records) { // the old name of a renamed file follows
			i++
			entries = append(entries, entry{path: records[i]})
		}
	}
	return snap, entries, nil
}

func (s *Snapshot) header(record string) bool {
	if oid, ok := strings.CutPrefix(record, "# branch.oid "); ok && oid != "(initial)" {
		s.Head = oid
	}
	if head, ok := strings.CutPrefix(record, "# branch.head "); ok && head != "(detached)" {
		s.Branch = head
	}
	return record[0] == '#'
}

// ownState reports whether path is in a .ralph folder.
func ownState(path string) bool {
	return slices.Contains(strings.Split(path, "/"), ".ralph")
}

// userFile reports whether a path in a .ralph folder is the user's.
func userFile(path string) bool {
	_, name, _ := strings.Cut("/"+path, "/.ralph/")
	return state.OfUser(name)
}

// Change is the difference between two snapshots. It survives JSON.
type Change struct {
	// HeadMoved is true if another commit is checked out, or if the repository appeared
	// or disappeared.
	HeadMoved bool `json:"head_moved,omitempty"`
	// Files are at most 1,000 of the changed files, sorted: slash-separated paths relative to the root of the
	// repository, or to the project. If there are more, it leaves out new files in foreign trees first, then other new
	// files, except those with the name of an old one. Committed adds the files of new commits.
	Files []string `json:"files,omitempty"`
	Count int      `json:"count,omitempty"` // of all changed files
}

// Progress reports whether anything changed.
func (c Change) Progress() bool { return c.HeadMoved || c.Count > 0 }

// Compare returns what changed between before and after. Files that are dirty in the same
// way in both do not count, nor does anything in a .ralph folder.
func (before Snapshot) Compare(after Snapshot) Change {
	if before.Repo != after.Repo {
		return Change{HeadMoved: true}
	}
	return settle(before.Head != after.Head, after.root, before.changed(after))
}

// changed returns the changed files, and whether each is new.
func (before Snapshot) changed(after Snapshot) map[string]bool {
	all := map[string]bool{}
	for path, sig := range after.files {
		if was, ok := before.files[path]; !ok || was != sig {
			all[path] = !ok && after.untracked[path]
		}
	}
	for path := range before.files {
		// If HEAD moved, a file that is clean now was committed.
		if _, ok := after.files[path]; !ok && before.Head == after.Head {
			all[path] = false
		}
	}
	return all
}

func settle(headMoved bool, root string, all map[string]bool) Change {
	c := Change{HeadMoved: headMoved, Files: slices.Sorted(maps.Keys(all)), Count: len(all)}
	if c.Count <= maxFiles {
		return c
	}
	trees := foreignTrees(root, c.Files)
	installed := func(f string) bool {
		return all[f] && slices.ContainsFunc(trees, func(t foreignTree) bool { return strings.HasPrefix(f, t.Dir) })
	}
	c.Files = slices.DeleteFunc(c.Files, installed)
	old := map[string]bool{} // names of files that are not new
	for _, f := range c.Files {
		old[path.Base(f)] = old[path.Base(f)] || !all[f]
	}
	rank := func(f string) int { // new files last, but a new file with an old name may have been moved
		if old[path.Base(f)] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(c.Files, func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(path.Base(a), path.Base(b)))
	})
	c.Files = c.Files[:min(len(c.Files), maxFiles)]
	slices.Sort(c.Files)
	return c
}

// Committed adds the files that differ between the two commits; before the first commit,
// all files of the new one. It runs one git process if HEAD moved, else none.
func (c Change) Committed(ctx context.Context, dir string, before, after Snapshot) (Change, error) {
	if before.Head == after.Head || after.Head == "" {
		return c, nil
	}
	all := before.changed(after)
	add := func(name string, isNew bool) {
		if name != "" && !ownState(name) {
			all[name] = isNew && !before.Dirty(name)
		}
	}
	if before.Head == "" {
		out, err := command.Run(ctx, dir, "ls-tree", "-r", "--full-tree", "--name-only", "-z", after.Head)
		if err != nil {
			return c, fmt.Errorf("list first commit: %w", err)
		}
		for name := range strings.SplitSeq(out, "\x00") {
			add(name, true)
		}
		return settle(c.HeadMoved, after.root, all), nil
	}
	out, err := command.Run(ctx, dir, "diff", "--name-status", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=dirty", "-z", before.Head, after.Head)
	if err != nil {
		return c, fmt.Errorf("compare commits: %w", err)
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		add(fields[i+1], fields[i] == "A")
	}
	return settle(c.HeadMoved, after.root, all), nil
}
