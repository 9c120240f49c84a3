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
	message := r.text()
	oid, staged, err := commitFiles(ctx, root, head, was, files, message, true)
	if err == nil && len(staged) < len(files) { // the index that it started from hides changes, or there are none
		oid, staged, err = commitFiles(ctx, root, head, was, files, message, false)
	}
	if err != nil || oid == "" {
		return "", err
	}
	if head == "" {
		head = strings.Repeat("0", len(oid))
	}
	git, err := command.Program()
	if err != nil {
		return "", err
	}
	subject, _, _ := strings.Cut(message, "\n")
	_, err = command.Call{Dir: root, Script: moveScript, Hold: r.Hold, Stdin: strings.Join(staged, "\x00") + "\x00"}.
		Run(ctx, append([]string{"commit: " + subject, oid, head}, git...)...)
	if err == nil {
		// The index does not know yet that the files are as committed, so each git status would read them again. If this
		// fails, git is only slower.
		_, _ = command.Call{Dir: root, Env: []string{"GIT_LITERAL_PATHSPECS=1"}, Stdin: strings.Join(present(root, files), "\x00")}.
			Run(ctx, "add", "--refresh", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
	return oid, err
}

// present returns the files that exist.
func present(root string, files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !exists(root, filepath.FromSlash(f)) })
}

// commitFiles writes the commit, on top of head, with the files as they are on disk. The id is empty if the tree is still
// was, that of head. staged has what update-index --index-info reads for each file that changes. fast begins with a copy
// of the user's index, which hides what is marked there as unchanged; else the tree of head is read.
func commitFiles(ctx context.Context, root, head, was string, files []string, message string, fast bool) (
	oid string, staged []string, err error) {
	x, err := NewIndex(ctx, root, "")
	if err != nil {
		return "", nil, err
	}
	defer x.Close()
	if head != "" && !(fast && x.copyUsers(ctx, was)) {
		if _, err = x.Run(ctx, "", "read-tree", head); err != nil {
			return "", nil, err
		}
	}
	if err = x.Add(ctx, files); err != nil {
		return "", nil, err
	}
	tree, err := x.Tree(ctx)
	if err != nil || tree == was {
		return "", nil, err
	}
	if oid, err = CommitTree(ctx, root, tree, head, message); err != nil {
		return "", nil, err
	}
	out, err := command.Run(ctx, root, "diff-tree", "--root", "-r", "--raw", "-z", "--no-abbrev", "--no-commit-id", "--no-renames",
		"--ignore-submodules=none",
		oid)
	if err != nil {
		return "", nil, err
	}
	entries := command.Entries(out)
	var added []string
	for i := 0; i+1 < len(entries); i += 2 { // ":old-mode new-mode old-id new-id letter", then the path
		f := strings.Fields(entries[i])
		entry := f[1] + " " + f[3] + "\t" + entries[i+1]
		if f[4] == "D" { // first: a file may take the name of a folder
			staged = append(staged, entry)
		} else {
			added = append(added, entry)
		}
	}
	return oid, append(staged, added...), nil
}

// copyUsers makes x a copy of the user's index if nothing is staged there: if its tree is this one. That is faster than
// reading the tree, since an index knows the times of its files and the trees of its folders.
func (x Index) copyUsers(ctx context.Context, tree string) bool {
	users, name := filepath.Join(command.MetaDir(x.root), "index"), filepath.Join(x.dir, "index")
	info, err := os.Stat(users)
	if err == nil {
		var data []byte
		if data, err = os.ReadFile(users); err == nil { // file: in the folder of git
			err = os.WriteFile(name, data, 0o600) // file: in the folder of git
		}
	}
	if err == nil { // git compares what is as new as its index by content
		err = os.Chtimes(name, info.ModTime(), info.ModTime())
	}
	if err == nil {
		if have, err := x.Tree(ctx); err == nil && have == tree {
			return true
		}
	}
	_ = os.Remove(name)
	return false
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
	call := command.Call{Dir: root, Stdin: message}
	oid, err := call.Run(ctx, args...)
	if err != nil { // there may be no identity
		call.Env = command.Identity(ctx, root)
		oid, err = call.Run(ctx, args...)
	}
	return strings.TrimSpace(oid), err
}

// CommitOptions are the options for ralph's own commits.
type CommitOptions struct {
	AutoCommit   bool   // commit what the agent left uncommitted if the checks pass
	CommitPrefix string // of the messages of these commits
	Receipts     bool   // write a receipt for each of these commits: see runner/receipt
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
	}, {
		Group: "Commits", Key: "RECEIPTS", YAML: "git.receipts",
		Kind: option.Bool, Default: "true", Field: &o.Receipts,
		Help: "Write a receipt for each commit of ralph's own, as a git note in refs/notes/ralph; ralph verify checks them.",
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
	_, err := x.Run(ctx, strings.Join(files, "\x00")+"\x00", "update-index", "--add", "--remove", "--replace",
		"--ignore-skip-worktree-entries", "-z", "--stdin")
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
