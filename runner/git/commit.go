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
)

// Fit returns why no run should start in a repository of this condition, with
// advice, in one line. nil: fit, also without a repository.
func Fit(c Condition) error {
	switch {
	case c.Operation == "bisect":
		return fmt.Errorf("a bisect is under way in %q: end it with git bisect reset, then start again", c.Root)
	case c.Operation != "":
		return fmt.Errorf("a %s is under way in %q: finish it, or give it up with git %[1]s --abort, then start again", c.Operation, c.Root)
	case c.Repo && c.Detached:
		return fmt.Errorf("HEAD is detached in %q, so commits would be on no branch: make one with git switch -c NAME, or go to one with git switch NAME", c.Root)
	}
	return nil
}

// LeftOver returns the files that differ from HEAD, or are untracked, and were
// not so at the start of the run: what an agent did not commit. What the user
// had changed or staged before is never among them, even if the agent changed
// it further.
func (s Snapshot) LeftOver(start Snapshot) []string {
	var files []string
	for _, now := range []map[string]signature{s.files, s.own} {
		for path := range now {
			if !start.Dirty(path) {
				files = append(files, path)
			}
		}
	}
	slices.Sort(files)
	return files
}

// Touched returns the files that differed from HEAD, or were untracked, at the
// start of the run, and were changed further since: LeftOver passes them over.
func (s Snapshot) Touched(start Snapshot) []string {
	var files []string
	for _, now := range []map[string]signature{s.files, s.own} {
		for path, sig := range now {
			if was, dirty := start.signature(path); dirty && was != sig {
				files = append(files, path)
			}
		}
	}
	slices.Sort(files)
	return files
}

// CommitRequest is what to commit. Files are slash-separated paths relative to
// the root of the repository, as in LeftOver; removed files count.
type CommitRequest struct {
	Files    []string
	Message  string
	Trailers []Trailer // appended to the message
}

// Trailer is one line at the end of a message, like "Ralph-Task: T3".
type Trailer struct{ Key, Value string }

// Committed is the answer to a CommitRequest.
type Committed struct {
	OID     string // empty: there was nothing to commit
	Files   []string
	Refused []Refusal // by Guard; they stay as they are
}

// Commit commits exactly the named files as they are on disk, on top of HEAD.
// Whatever else is staged or changed stays so. The commit is built in an index
// of its own and no hook runs; commits are not signed. Without a configured
// identity the author is "ralph". It fails when HEAD moves meanwhile, when the
// user's index is locked, and while a merge or the like is under way.
func Commit(ctx context.Context, dir string, r CommitRequest) (Committed, error) {
	root, ok := Root(dir)
	if !ok {
		return Committed{}, fmt.Errorf("commit: %w", ErrNoRepository)
	}
	if op := operation(root); op != "" {
		return Committed{}, fmt.Errorf("commit: a %s is under way", op)
	}
	refused, err := Guard(ctx, root, r.Files)
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
	b := newBuilder(root, c.Files)
	c.OID, err = b.commit(ctx, r.text())
	if err != nil {
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
		text += t.Key + ": " + strings.Join(strings.Fields(t.Value), " ") + "\n"
	}
	return text
}

// builder makes one commit.
type builder struct {
	root, meta string
	paths      string // NUL-terminated
}

func newBuilder(root string, files []string) builder {
	b := builder{root: root, meta: metaDir(root)}
	for _, f := range files {
		b.paths += f + "\x00"
	}
	return b
}

// commit holds the lock of the user's index from before the commit exists
// until the index knows it: nobody can see the one without the other.
func (b builder) commit(ctx context.Context, message string) (oid string, err error) {
	lock := filepath.Join(b.meta, "index.lock")
	held, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("another git is at work, or was killed: %q exists", lock)
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
	oid, err = b.object(ctx, head, tree, message)
	if err != nil || oid == "" {
		return "", err
	}
	index, err := b.userIndex(ctx)
	if err != nil {
		return "", err
	}
	if _, err := held.Write(index); err != nil {
		return "", fmt.Errorf("write index: %w", err)
	}
	subject, _, _ := strings.Cut(message, "\n")
	if head == "" {
		head = strings.Repeat("0", len(oid))
	}
	if _, err := (Call{Dir: b.root, Env: b.identity(ctx)}).Run(ctx, "update-ref", "-m", "commit: "+subject, "HEAD", oid, head); err != nil {
		return "", err
	}
	if err := os.Rename(lock, filepath.Join(b.meta, "index")); err != nil {
		return "", fmt.Errorf("write index: %w", err)
	}
	moved = true
	return oid, nil
}

// head returns the commit and the tree of HEAD; empty before the first commit.
func (b builder) head(ctx context.Context) (commit, tree string, err error) {
	out, err := run(ctx, b.root, "rev-parse", "-q", "--verify", "HEAD")
	if err != nil {
		return "", "", ctx.Err()
	}
	commit = strings.TrimSpace(out)
	out, err = run(ctx, b.root, "rev-parse", commit+"^{tree}")
	return commit, strings.TrimSpace(out), err
}

// object writes the commit; empty when it would change nothing.
func (b builder) object(ctx context.Context, head, tree, message string) (string, error) {
	fresh, err := b.tree(ctx, head)
	if err != nil || fresh == tree {
		return "", err
	}
	return b.write(ctx, fresh, head, message)
}

// tree writes the tree of a commit, or none, with the paths as they are on disk.
func (b builder) tree(ctx context.Context, commit string) (string, error) {
	index, done, err := b.temporary(nil)
	if err != nil {
		return "", err
	}
	defer done()
	if commit != "" {
		if _, err := (Call{Dir: b.root, Env: index}).Run(ctx, "read-tree", commit); err != nil {
			return "", err
		}
	}
	if err := b.update(ctx, index); err != nil {
		return "", err
	}
	tree, err := Call{Dir: b.root, Env: index}.Run(ctx, "write-tree")
	return strings.TrimSpace(tree), err
}

// write writes a commit of the tree; without a parent it is a first one.
func (b builder) write(ctx context.Context, tree, parent, message string) (string, error) {
	args := []string{"commit-tree", tree}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	oid, err := Call{Dir: b.root, Env: b.identity(ctx), Stdin: message}.Run(ctx, args...)
	return strings.TrimSpace(oid), err
}

// userIndex is the user's index with the paths brought up to date.
func (b builder) userIndex(ctx context.Context) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(b.meta, "index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read index: %w", err)
	}
	index, done, err := b.temporary(data)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := b.update(ctx, index); err != nil {
		return nil, err
	}
	data, err = os.ReadFile(strings.TrimPrefix(index[0], indexVar))
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return data, nil
}

func (b builder) update(ctx context.Context, index []string) error {
	_, err := Call{Dir: b.root, Env: index, Stdin: b.paths}.Run(ctx, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

const indexVar = "GIT_INDEX_FILE="

// temporary makes an index beside the user's; without data it does not exist
// until git writes it.
func (b builder) temporary(data []byte) (env []string, done func(), err error) {
	dir, err := os.MkdirTemp(b.meta, "ralph-index-")
	if err != nil {
		return nil, nil, fmt.Errorf("make index: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) } // a leftover is ignored by git and by ralph
	path := filepath.Join(dir, "index")
	if data != nil {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			done()
			return nil, nil, fmt.Errorf("make index: %w", err)
		}
	}
	return []string{indexVar + path}, done, nil
}

// identity is what the environment must add so that git knows an author.
func (b builder) identity(ctx context.Context) []string {
	if _, err := run(ctx, b.root, "var", "GIT_AUTHOR_IDENT"); err == nil {
		if _, err = run(ctx, b.root, "var", "GIT_COMMITTER_IDENT"); err == nil {
			return nil
		}
	}
	return []string{"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph@localhost", "GIT_COMMITTER_NAME=ralph", "GIT_COMMITTER_EMAIL=ralph@localhost"}
}
