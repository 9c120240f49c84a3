// Package git observes a project's files and its git repository, and writes
// commits and kept states when it is asked to. It never resets, cleans, stashes
// or forces anything.
//
// size of package: observing, comparing, committing and keeping share the snapshot
package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// MaxFiles bounds Change.Files.
const MaxFiles = 1000

// Snapshot is the state of a project at one moment, to be compared with
// another one of the same project.
type Snapshot struct {
	// Repo is false when dir is in no work tree of git, or git is not
	// installed: then all files below dir are looked at, up to a bound.
	Repo   bool
	Head   string // object id; empty before the first commit
	Branch string // empty when HEAD is detached
	// files has the signature of each file that differs from HEAD or is
	// untracked, or of each file when Repo is false, by slash-separated path
	// relative to the root of the repository, or to dir.
	files map[string]signature
	texts map[string]string // of those files and own, as far as they are texts and not too many
	// own are the user's files in .ralph folders that differ from HEAD or are
	// untracked: part of what is kept and committed, no progress by themselves.
	own map[string]signature
}

// newSnapshot is a snapshot without files.
func newSnapshot(repo bool) Snapshot {
	return Snapshot{Repo: repo, files: map[string]signature{}, texts: map[string]string{}, own: map[string]signature{}}
}

// Observe takes a Snapshot of the repository that dir is in, with one git
// process; of the files below dir when there is none. A git that fails in a
// repository is an error.
func Observe(ctx context.Context, dir string) (Snapshot, error) {
	root, ok := Root(dir)
	if !ok {
		return walk(ctx, dir, maxWalked)
	}
	out, err := run(ctx, dir, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-ahead-behind")
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, ErrNoRepository):
		return walk(ctx, dir, maxWalked)
	case err != nil:
		return Snapshot{}, fmt.Errorf("observe repository %q: %w", root, err)
	}
	snap, entries, err := parseStatus(out)
	if err != nil {
		return Snapshot{}, fmt.Errorf("observe repository %q: %w", root, err)
	}
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
		if all[i].known {
			snap.texts[e.path] = all[i].text
		}
	}
	return snap, nil
}

// Dirty says whether a file differs from HEAD, or is untracked.
func (s Snapshot) Dirty(path string) bool {
	_, is := s.signature(path)
	return is
}

// signature is that of a file that differs from HEAD, or is untracked.
func (s Snapshot) signature(path string) (signature, bool) {
	if sig, ok := s.own[path]; ok {
		return sig, true
	}
	sig, ok := s.files[path]
	return sig, ok
}

// entry is one path that git status names. submodule is its state, else empty.
type entry struct{ path, submodule string }

// parseStatus reads the output of git status --porcelain=v2 --branch -z. The
// files of the snapshot are left empty.
func parseStatus(out string) (Snapshot, []entry, error) {
	snap := newSnapshot(true)
	var entries []entry
	records := strings.Split(out, "\x00")
	for i := 0; i < len(records); i++ {
		r := records[i]
		if r == "" {
			continue
		}
		if r[0] == '#' {
			snap.header(r)
			continue
		}
		before := fieldsBeforePath(r[0])
		f := strings.SplitN(r, " ", before+1)
		if before == 0 || len(f) != before+1 {
			return Snapshot{}, nil, fmt.Errorf("parse git status: unknown record %q", r)
		}
		e := entry{path: f[before]}
		if before > 1 && strings.HasPrefix(f[2], "S") {
			e.submodule = f[2]
		}
		entries = append(entries, e)
		if r[0] == '2' && i+1 < len(records) { // the old name of a renamed file follows
			i++
			entries = append(entries, entry{path: records[i]})
		}
	}
	return snap, entries, nil
}

// fieldsBeforePath is the number of fields before the path in a record of
// this kind; 0: there is no such kind.
func fieldsBeforePath(kind byte) int {
	switch kind {
	case '1': // changed
		return 8
	case '2': // renamed or copied
		return 9
	case 'u': // unmerged
		return 10
	case '?': // untracked
		return 1
	}
	return 0
}

func (s *Snapshot) header(record string) {
	if oid, ok := strings.CutPrefix(record, "# branch.oid "); ok && oid != "(initial)" {
		s.Head = oid
	}
	if head, ok := strings.CutPrefix(record, "# branch.head "); ok && head != "(detached)" {
		s.Branch = head
	}
}

// ownState says whether path is in a .ralph folder.
func ownState(path string) bool {
	return slices.Contains(strings.Split(path, "/"), ".ralph")
}

// userFile says whether a path in a .ralph folder is the user's: the plan, the
// prompt, the settings. All else there is ralph's state.
func userFile(path string) bool {
	_, name, _ := strings.Cut("/"+path, "/.ralph/")
	switch name {
	case "prd.json", "config.yaml", ".gitignore":
		return true
	}
	return strings.HasSuffix(name, ".md") && (strings.HasPrefix(name, "specs/") || !strings.Contains(name, "/"))
}

// Change is what differs between two snapshots.
type Change struct {
	// HeadMoved: another commit is checked out, or the repository came or went.
	HeadMoved bool
	// Files are the first MaxFiles of the changed files, sorted. Compare does
	// not know those in a new commit; Committed adds them.
	Files []string
	Count int // of all changed files
}

// Progress says whether anything changed.
func (c Change) Progress() bool { return c.HeadMoved || c.Count > 0 }

// Compare returns what happened between before and after. Files that were
// changed before, and still are in the same way, do not count, nor does
// anything in a .ralph folder.
func (before Snapshot) Compare(after Snapshot) Change {
	if before.Repo != after.Repo {
		return Change{HeadMoved: true}
	}
	c := Change{HeadMoved: before.Head != after.Head}
	for path, sig := range after.files {
		if was, ok := before.files[path]; !ok || was != sig {
			c.Files = append(c.Files, path)
		}
	}
	for path := range before.files {
		// With a new commit, a file that is no longer dirty was committed.
		if _, ok := after.files[path]; !ok && !c.HeadMoved {
			c.Files = append(c.Files, path)
		}
	}
	c.settle(c.Files)
	return c
}

// settle takes the names of all changed files, each once.
func (c *Change) settle(files []string) {
	slices.Sort(files)
	files = slices.Compact(files)
	c.Count = len(files)
	c.Files = files[:min(c.Count, MaxFiles)]
}

// Committed adds the files in which the two commits differ. It runs one git
// process when HEAD moved from one commit to another, else none.
func (c Change) Committed(ctx context.Context, dir string, before, after Snapshot) (Change, error) {
	if before.Head == after.Head || before.Head == "" || after.Head == "" {
		return c, nil
	}
	out, err := run(ctx, dir, "diff", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z", before.Head, after.Head)
	if err != nil {
		return c, fmt.Errorf("compare commits: %w", err)
	}
	files := slices.Clone(c.Files)
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if name != "" && !ownState(name) {
			files = append(files, name)
		}
	}
	c.settle(files)
	return c, nil
}
