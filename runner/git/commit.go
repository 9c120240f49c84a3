package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/git/command"
	"ralph/runner/git/own"
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
func (s Snapshot) Changes() own.Files {
	all := own.Files{}
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
		if !slices.ContainsFunc(refused, func(x Refusal) bool { return x.covers(f) }) {
			c.Files = append(c.Files, f)
		}
	}
	if len(c.Files) == 0 {
		return c, nil
	}
	if c.OID, err = newBuilder(root, c.Files).commit(ctx, r.text()); err != nil {
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

// builder makes one commit.
type builder struct {
	root, meta string
	paths      string // NUL-terminated
}

func newBuilder(root string, files []string) builder {
	b := builder{root: root, meta: command.MetaDir(root)}
	for _, f := range files {
		b.paths += f + "\x00"
	}
	return b
}

// commit returns the id of the new commit; empty if nothing would change. It holds the lock of the user's index until
// both the index and HEAD have changed.
func (b builder) commit(ctx context.Context, message string) (oid string, err error) {
	lock := filepath.Join(b.meta, "index.lock")
	held, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("another git is running, or was killed: %q exists", lock)
	}
	if err != nil {
		return "", fmt.Errorf("lock index: %w", err)
	}
	moved := false
	defer func() {
		err = errors.Join(err, held.Close())
		if !moved {
			err = errors.Join(err, os.Remove(lock))
		}
	}()
	head, tree, err := b.head(ctx)
	if err != nil {
		return "", err
	}
	fresh, err := b.tree(ctx, head)
	if err != nil || fresh == tree {
		return "", err
	}
	oid, err = b.write(ctx, fresh, head, message)
	if err != nil {
		return "", err
	}
	index, written, err := b.userIndex(ctx)
	if err != nil {
		return "", err
	}
	if _, err = held.Write(index); err == nil {
		err = os.Chtimes(lock, written, written)
	}
	if err != nil {
		return "", fmt.Errorf("write index: %w", err)
	}
	subject, _, _ := strings.Cut(message, "\n")
	if head == "" {
		head = strings.Repeat("0", len(oid))
	}
	move := command.Call{Dir: b.root, Env: command.Identity(ctx, b.root)}
	if _, err := move.Run(ctx, "update-ref", "-m", "commit: "+subject, "HEAD", oid, head); err != nil {
		return "", err
	}
	if err := os.Rename(lock, filepath.Join(b.meta, "index")); err != nil {
		return "", fmt.Errorf("write index: %w", err)
	}
	moved = true
	return oid, nil
}

// head returns the commit and tree of HEAD, empty before the first commit.
func (b builder) head(ctx context.Context) (commit, tree string, err error) {
	out, err := command.Run(ctx, b.root, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
	if err != nil {
		return "", "", ctx.Err()
	}
	commit, tree, _ = strings.Cut(strings.TrimSpace(out), "\n")
	return commit, tree, nil
}

// tree writes a tree: that of commit (empty: none) with the paths as on disk.
func (b builder) tree(ctx context.Context, commit string) (string, error) {
	env, done, err := b.index(ctx, "", commit)
	if err != nil {
		return "", err
	}
	defer done()
	tree, err := command.Call{Dir: b.root, Env: env}.Run(ctx, "write-tree")
	return strings.TrimSpace(tree), err
}

// write writes a commit of the tree. If parent is empty, it has none.
func (b builder) write(ctx context.Context, tree, parent, message string) (string, error) {
	args := []string{"commit-tree", tree}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	oid, err := command.Call{Dir: b.root, Env: command.Identity(ctx, b.root), Stdin: message}.Run(ctx, args...)
	return strings.TrimSpace(oid), err
}

// userIndex returns the user's index, updated for the paths, and when git wrote it. A copy of the index needs that
// time: git compares a file by content only if the file is not older than the index.
func (b builder) userIndex(ctx context.Context) (data []byte, written time.Time, err error) {
	env, done, err := b.index(ctx, filepath.Join(b.meta, "index"), "")
	if err != nil {
		return nil, written, err
	}
	defer done()
	return readIndex(strings.TrimPrefix(env[0], "GIT_INDEX_FILE="))
}

// readIndex returns an index and the time of its file; without one, nothing.
func readIndex(path string) ([]byte, time.Time, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, time.Time{}, nil
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read index: %w", err)
	}
	return data, info.ModTime(), nil
}

// index creates a second index: a copy of the one at from or, if from is empty, of
// commit (empty: none), with the paths as on disk. env points git to it.
func (b builder) index(ctx context.Context, from, commit string) (env []string, done func(), err error) {
	dir, err := os.MkdirTemp(b.meta, "ralph-index-")
	if err != nil {
		return nil, nil, fmt.Errorf("make index: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) } // git and ralph ignore a leftover
	path := filepath.Join(dir, "index")
	env = []string{"GIT_INDEX_FILE=" + path}
	data, written, err := readIndex(from)
	if err == nil && data != nil {
		err = errors.Join(os.WriteFile(path, data, 0o600), os.Chtimes(path, written, written))
	} else if err == nil && commit != "" {
		_, err = command.Call{Dir: b.root, Env: env}.Run(ctx, "read-tree", commit)
	}
	if err == nil {
		_, err = command.Call{Dir: b.root, Env: env, Stdin: b.paths}.Run(ctx, "update-index", "--add", "--remove",
			"--replace", "-z", "--stdin")
	}
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("make index: %w", err)
	}
	return env, done, nil
}
