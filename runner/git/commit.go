package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/git/command"
	"ralph/state/option"
)

// Ready returns nil if a run may start in this condition; no repository is fine, too. The error is one line with
// advice.
func Ready(c Condition) error {
	switch {
	case c.Operation == "bisect":
		return fmt.Errorf("a bisect is in progress in %q: end it with git bisect reset, then start again", c.Root)
	case c.Operation != "":
		return fmt.Errorf("a %s is in progress in %q: finish it, or abort it with git %[1]s --abort, then start again",
			c.Operation, c.Root)
	case c.Repo && c.Branch == "":
		return fmt.Errorf("HEAD is detached in %q, so commits would be on no branch: "+
			"create one with git switch -c NAME, or switch to one with git switch NAME", c.Root)
	}
	return nil
}

// Changes returns all files that differ from HEAD or are untracked, with a digest of each.
func (s Snapshot) Changes() DirtyFiles {
	all := DirtyFiles{}
	for _, files := range []map[string]signature{s.files, s.own} {
		for path, sig := range files {
			all[path] = fmt.Sprintf("%o %x", sig.mode, sig.sum)
		}
	}
	return all
}

// CommitRequest is what to commit. Files are slash-separated paths relative to the root
// of the repository, including removed files.
type CommitRequest struct {
	Files    []string
	Message  string
	Trailers []Trailer // appended to the message
	Hold     *os.File  // stays open until the commit is made, even if ralph is killed; nil: nothing
}

// Trailer is one line at the end of a message, like "Ralph-Task: T3".
type Trailer struct{ Key, Value string }

// Committed is the result of a CommitRequest.
type Committed struct {
	OID     string // empty: nothing to commit
	Files   []string
	Refused []Refusal // not committed
}

// Commit commits exactly the named files as they are on disk, on top of HEAD. Other
// staged or changed files stay as they are. It builds the commit in an index of its own,
// runs no hooks and does not sign. Without a configured identity the author is "ralph".
// It fails if HEAD moves meanwhile, if the user's index is locked, and during a merge or
// a similar operation.
func Commit(ctx context.Context, dir string, r CommitRequest) (Committed, error) {
	root, ok := Root(dir)
	if !ok {
		return Committed{}, fmt.Errorf("commit: %w", command.ErrNoRepository)
	}
	if op := operation(root); op != "" {
		return Committed{}, fmt.Errorf("commit: a %s is in progress", op)
	}
	refused, err := guard(ctx, root, r.Files)
	if err != nil {
		return Committed{}, err
	}
	c := Committed{Refused: refused}
	for _, f := range r.Files {
		if !slices.ContainsFunc(refused, func(x Refusal) bool { return covers(x, f) }) {
			c.Files = append(c.Files, f)
		}
	}
	if len(c.Files) == 0 {
		return c, nil
	}
	if c.OID, err = r.commit(ctx, root, c.Files); err != nil {
		return Committed{Refused: refused}, fmt.Errorf("commit: %w", err)
	}
	if c.OID == "" {
		c.Files = nil
	}
	return c, nil
}

func (r CommitRequest) text() string {
	text := strings.TrimSpace(r.Message) + "\n"
	for i, t := range r.Trailers {
		if i == 0 {
			text += "\n"
		}
		text += t.Key + ": " + termtext.Unwrap(t.Value) + "\n"
	}
	return text
}

// moveScript stages the files and moves HEAD. It is a process of its own, so that a killed ralph leaves no index that
// does not match HEAD. It reads no file and runs no filter, so it is short. If it fails because HEAD has moved
// meanwhile, the files stay staged.
const moveScript = `subject=$1 new=$2 old=$3; shift 3
trap '' HUP INT TERM
"$@" update-index -z --index-info && "$@" update-ref -m "$subject" HEAD "$new" "$old"`

// commit returns the id of the new commit; empty if nothing would change.
func (r CommitRequest) commit(ctx context.Context, root string, files []string) (oid string, err error) {
	if err := Unlocked(root); err != nil {
		return "", err
	}
	head, was, err := headOf(ctx, root)
	if err != nil {
		return "", err
	}
	tree, err := TreeWith(ctx, root, head, files)
	if err != nil || tree == was {
		return "", err
	}
	message := r.text()
	if oid, err = CommitTree(ctx, root, tree, head, message); err != nil {
		return "", err
	}
	if head == "" {
		head = strings.Repeat("0", len(oid))
	}
	staged, err := entriesOf(ctx, root, tree, files)
	if err != nil {
		return "", err
	}
	git, err := command.Program()
	if err != nil {
		return "", err
	}
	subject, _, _ := strings.Cut(message, "\n")
	_, err = command.Call{Dir: root, Env: command.Identity(ctx, root), Script: moveScript, Hold: r.Hold,
		Stdin: staged}.Run(ctx, append([]string{"commit: " + subject, oid, head}, git...)...)
	if err == nil {
		// The index does not know yet that the files are as committed, so each git status would read them again. If this
		// fails, git is only slower.
		_, _ = command.Run(ctx, root, "update-index", "-q", "--refresh")
	}
	return oid, err
}

// entriesOf returns what update-index --index-info reads to stage the files as they are in the tree, or their removal.
func entriesOf(ctx context.Context, root, tree string, files []string) (string, error) {
	out, err := command.Run(ctx, root, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return "", err
	}
	entries := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		_, path, _ := strings.Cut(entry, "\t")
		entries[path] = entry
	}
	gone := "0 " + strings.Repeat("0", len(tree)) + "\t"
	var removed, added strings.Builder
	for _, f := range files {
		if entry, ok := entries[f]; ok {
			added.WriteString(entry + "\x00")
		} else {
			removed.WriteString(gone + f + "\x00")
		}
	}
	return removed.String() + added.String(), nil
}

// Locked returns the lock of the index, empty if there is none. Git commits nothing while it is there.
func Locked(dir string) string {
	root, ok := Root(dir)
	lock := filepath.Join(command.MetaDir(root), "index.lock")
	if _, err := os.Lstat(lock); !ok || err != nil {
		return ""
	}
	return lock
}

// Unlocked fails if the index is locked.
func Unlocked(dir string) error {
	if lock := Locked(dir); lock != "" {
		return fmt.Errorf("another git is running, or was killed: %q exists", lock)
	}
	return nil
}

// headOf returns the commit and tree of HEAD, empty before the first commit.
func headOf(ctx context.Context, root string) (commit, tree string, err error) {
	out, err := command.Run(ctx, root, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
	if err != nil {
		return "", "", ctx.Err()
	}
	commit, tree, _ = strings.Cut(strings.TrimSpace(out), "\n")
	return commit, tree, nil
}

// CommitTree writes a commit of the tree. If parent is empty, it has none.
func CommitTree(ctx context.Context, root, tree, parent, message string) (string, error) {
	args := []string{"commit-tree", tree}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	oid, err := command.Call{Dir: root, Env: command.Identity(ctx, root), Stdin: message}.Run(ctx, args...)
	return strings.TrimSpace(oid), err
}

// CommitOptions are the options for ralph's own commits.
type CommitOptions struct {
	AutoCommit   bool   // commit what the agent left uncommitted if the checks pass
	CommitPrefix string // of the messages of these commits
}

// Options returns the rows of the option table that fill o.
func (o *CommitOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Commits", Key: "AUTO_COMMIT", YAML: "git.auto_commit",
		Kind: option.Bool, Default: "false", Field: &o.AutoCommit,
		Help: "Commit what the agent left uncommitted when no required check fails; " +
			"false leaves all commits to the agent.",
	}, {
		Group: "Commits", Key: "COMMIT_PREFIX", YAML: "git.commit_prefix",
		Kind: option.String, Default: "[ralph]", Field: &o.CommitPrefix,
		Help: "Prefix of the messages of ralph's own commits; empty means none.",
	}}
}

// Index makes trees. Neither the user's index nor the work tree changes.
type Index struct{ root, dir string }

// indexDirs begins the names of the folders of indexes, in git's folder. Git ignores them.
const indexDirs = "ralph-index-"

// NewIndex returns an index with the files of a tree or commit; empty: without files.
func NewIndex(ctx context.Context, root, tree string) (Index, error) {
	meta := command.MetaDir(root)
	sweepIndexes(meta)
	dir, err := os.MkdirTemp(meta, indexDirs)
	x := Index{root, dir}
	if err == nil && tree != "" {
		_, err = x.Run(ctx, "", "read-tree", tree)
	}
	if err != nil {
		x.Close()
		return Index{}, fmt.Errorf("make index: %w", err)
	}
	return x, nil
}

// sweepIndexes removes the folders of processes that were killed.
func sweepIndexes(meta string) {
	all, _ := os.ReadDir(meta)
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), indexDirs) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(meta, e.Name()))
		}
	}
}

// Close removes the index.
func (x Index) Close() { _ = os.RemoveAll(x.dir) }

// Run runs git with the index.
func (x Index) Run(ctx context.Context, stdin string, args ...string) (string, error) {
	return command.Call{Dir: x.root, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(x.dir, "index")}, Stdin: stdin}.Run(ctx, args...)
}

// Add takes files as they are on disk. A missing one is removed.
func (x Index) Add(ctx context.Context, files []string) error {
	if len(files) == 0 {
		return nil
	}
	_, err := x.Run(ctx, strings.Join(files, "\x00")+"\x00", "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

// Tree writes the files as a tree and returns its object id.
func (x Index) Tree(ctx context.Context) (string, error) {
	tree, err := x.Run(ctx, "", "write-tree")
	return strings.TrimSpace(tree), err
}

// TreeWith writes the tree of a commit (empty: none), with these files as they are on disk.
func TreeWith(ctx context.Context, root, commit string, files []string) (string, error) {
	x, err := NewIndex(ctx, root, commit)
	if err != nil {
		return "", err
	}
	defer x.Close()
	if err := x.Add(ctx, files); err != nil {
		return "", err
	}
	return x.Tree(ctx)
}
