package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/git/command"
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

// commit returns the id of the new commit; empty if nothing would change.
func (b builder) commit(ctx context.Context, message string) (oid string, err error) {
	if err := ClearLock(ctx, b.root); err != nil {
		return "", err
	}
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
	if head == "" {
		head = strings.Repeat("0", len(oid))
	}
	subject, _, _ := strings.Cut(message, "\n")
	move, err := command.Program("update-ref", "-m", "commit: "+subject, "HEAD", oid, head)
	for range 3 {
		if err != nil {
			return "", err
		}
		if err = b.move(ctx, oid, move); !errors.Is(err, errIndexMoved) {
			break
		}
	}
	return oid, err
}

// errIndexMoved means that somebody changed the index after ralph had read it.
var errIndexMoved = errors.New("another git changed the index meanwhile")

// moveScript changes HEAD and the index while it holds the lock of the index. It is a process of its own, so that a
// killed ralph leaves neither the lock nor an index that does not match HEAD. The lock is a link to the new index, by
// which ClearLock recognizes it, except where a file system has no links.
const moveScript = `new=$1 lock=$2 was=$3 index=$4; shift 4
trap '' HUP INT TERM
ln "$new" "$lock" 2>/dev/null || { (set -C; cat "$new" >"$lock") && touch -r "$new" "$lock"; } 2>/dev/null ||
	{ echo "fatal: Unable to create '$lock': File exists." >&2; exit 128; }
if cmp -s "$was" "$index" || ! { [ -e "$was" ] || [ -e "$index" ]; }; then
	if "$@"; then mv -f "$lock" "$index"; else code=$?; rm -f "$lock"; exit $code; fi
else
	rm -f "$lock"; exit 75
fi`

// move moves HEAD with the given command, and gives the user's index the files of the commit.
func (b builder) move(ctx context.Context, oid string, move []string) error {
	index := filepath.Join(b.meta, "index")
	env, done, err := b.index(ctx, index, "")
	if err != nil {
		return err
	}
	defer done()
	fresh := strings.TrimPrefix(env[0], "GIT_INDEX_FILE=")
	held, err := lockFresh(fresh, oid)
	if err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	defer held.Close()
	lock := filepath.Join(b.meta, lockName)
	defer func() {
		if sameFile(fresh, lock) { // it took too long, and was killed
			_ = os.Remove(lock)
		}
	}()
	_, err = command.Call{Dir: b.root, Env: command.Identity(ctx, b.root), Script: moveScript, Hold: held}.Run(ctx,
		append([]string{fresh, lock, filepath.Join(filepath.Dir(fresh), wasName), index}, move...)...)
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() == 75 {
		return errIndexMoved
	}
	return err
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

// readIndex returns an index and the time of its file; without one, nothing.
func readIndex(path string) ([]byte, time.Time, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, time.Time{}, nil
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path) // file: in the folder of git
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read index: %w", err)
	}
	return data, info.ModTime(), nil
}

// index creates a second index: a copy of the one at from or, if from is empty, of
// commit (empty: none), with the paths as on disk. env points git to it.
func (b builder) index(ctx context.Context, from, commit string) (env []string, done func(), err error) {
	dir, err := os.MkdirTemp(b.meta, indexDirs)
	if err != nil {
		return nil, nil, fmt.Errorf("make index: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) } // git and ralph ignore a leftover
	path := filepath.Join(dir, "index")
	env = []string{"GIT_INDEX_FILE=" + path}
	data, written, err := readIndex(from)
	if err == nil && data != nil {
		err = errors.Join(os.WriteFile(path, data, 0o644), os.Chtimes(path, written, written), // file: in the folder of git
			os.WriteFile(filepath.Join(dir, wasName), data, 0o600)) // file: in the folder of git
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
