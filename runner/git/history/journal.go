package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"ralph/runner/git"
	"ralph/runner/git/command"
)

// journal is what an undo is about to change. It is complete on disk before the first change.
type journal struct {
	Root       string
	Head       string // before the undo; empty: no commit yet
	Iterations []Kept
	Ref        string // object id of the first iteration's undo in the work tree, before this one; empty: none
	Files      []string
	Now, Then  string          // trees of Files: before the undo, and after it
	Box        json.RawMessage `json:",omitempty"`
	Status     json.RawMessage `json:",omitempty"`

	dir  string
	hold *os.File // locked while the undo, or what it started, lives
}

const (
	journalName = "journal.json"
	freshDir    = "ralph-undo-" // in git's folder, with a part of the journal's name: the new files
	holdName    = "hold"
	// holdPatience is longer than what a killed undo started takes to end.
	holdPatience = 2 * time.Second
)

// begin writes the journal. If it fails, nothing has changed.
func (u *Undo) begin(ctx context.Context) (*journal, error) {
	j := &journal{Root: u.root, Iterations: u.r.Iterations, Box: u.r.Box, Status: u.r.Status, dir: u.r.Journal}
	if j.dir == "" {
		return j, errors.New("neither XDG_STATE_HOME nor a home folder is known")
	}
	err := errors.Join(os.RemoveAll(j.dir), os.MkdirAll(j.dir, 0o700))
	if err == nil {
		err = j.wait(ctx)
	}
	if err != nil {
		return j, err
	}
	j.Head, _ = command.Line(ctx, u.root, "rev-parse", "-q", "--verify", "HEAD") // empty: no commit yet
	if j.Ref, err = undoneRef(ctx, u.root, u.r.Iterations[0]); err != nil {
		return j, err
	}
	if err := u.combine(ctx); err != nil { // the files may have changed while the user was asked
		return j, err
	}
	j.Now, j.Then = u.now, u.then
	if j.Files, err = u.changed(ctx, j.Now, j.Then); err != nil {
		return j, err
	}
	text, err := json.Marshal(j)
	if err == nil {
		err = renameio.WriteFile(filepath.Join(j.dir, journalName), text, 0o600)
	}
	return j, err
}

func undoneRef(ctx context.Context, root string, k Kept) (string, error) {
	ref := git.State{Run: k.Run, Iteration: k.Iteration, Undone: true}.Ref()
	return command.Line(ctx, root, "for-each-ref", "--format=%(objectname)", ref)
}

func (j *journal) path(file string) string { return filepath.Join(j.Root, filepath.FromSlash(file)) }

func (j *journal) fresh() string {
	name := filepath.Base(j.dir)
	return filepath.Join(command.MetaDir(j.Root), freshDir+name[:min(len(name), 16)])
}

// change makes files what they are in a tree. Each of them is the old one or the new one at any moment.
func (j *journal) change(ctx context.Context, files []string, tree string) error {
	if err := errors.Join(os.RemoveAll(j.fresh()), os.Mkdir(j.fresh(), 0o700)); err != nil {
		return err
	}
	x, err := git.NewIndex(ctx, j.Root, tree)
	if err != nil {
		return err
	}
	defer x.Close()
	if _, err := x.Run(ctx, "", "checkout-index", "-a", "-f", "--prefix="+j.fresh()+"/"); err != nil {
		return err
	}
	fresh := func(file string) string { return filepath.Join(j.fresh(), filepath.FromSlash(file)) }
	var there []string
	for _, file := range files {
		if info, gone := os.Lstat(fresh(file)); gone == nil && !info.IsDir() {
			there = append(there, file)
		} else if err := j.remove(file); err != nil {
			return err
		}
	}
	for _, file := range there {
		if err := j.place(fresh(file), file); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a file, and the folders that it leaves empty.
func (j *journal) remove(file string) error {
	path := j.path(file)
	if err := j.plain(file); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(path); dir != j.Root && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
	return nil
}

// place moves a file to its place in the project.
func (j *journal) place(from, file string) error {
	to := j.path(file)
	if err := j.plain(file); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	return copyFile(from, to)
}

// copyFile replaces a file or a link with a copy from another file system.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		return errors.Join(err, renameio.Symlink(target, to))
	}
	data, err := os.ReadFile(from) // file: in the folder of git
	return errors.Join(err, renameio.WriteFile(to, data, info.Mode().Perm(), renameio.WithTempDir(filepath.Dir(to))))
}

// plain refuses a file below a symbolic link.
func (j *journal) plain(file string) error {
	for dir := filepath.Dir(filepath.FromSlash(file)); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(j.Root, dir)); err == nil && !info.IsDir() {
			return fmt.Errorf("%q is not a folder", dir)
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return fmt.Errorf("%q is outside of the repository", file)
	}
	return nil
}

// TakeBack puts back what the undo has changed. It returns the files that somebody else has changed since; they stay.
func (j *journal) TakeBack(ctx context.Context) (left []string, err error) {
	unlikeThen, err := differing(ctx, j.Root, j.Then, j.Files)
	if err != nil {
		return nil, fmt.Errorf("take undo back: %w", err)
	}
	unlikeNow, err := differing(ctx, j.Root, j.Now, j.Files)
	if err != nil {
		return nil, fmt.Errorf("take undo back: %w", err)
	}
	var back []string
	for _, file := range j.Files {
		if !slices.Contains(unlikeThen, file) {
			back = append(back, file)
		} else if slices.Contains(unlikeNow, file) {
			left = append(left, file)
		}
	}
	if err := j.change(ctx, back, j.Now); err != nil {
		return nil, fmt.Errorf("take undo back: %w; git has what the files were: git ls-tree -r %s", err, j.Now)
	}
	return left, j.Close()
}

// close removes the journal: first what makes it one, so that a torn one counts as none.
func (j *journal) Close() error {
	if j == nil || j.dir == "" {
		return nil
	}
	err := os.RemoveAll(j.fresh())
	if gone := os.Remove(filepath.Join(j.dir, journalName)); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	if j.hold != nil {
		_ = j.hold.Close()
	}
	return errors.Join(err, os.RemoveAll(j.dir))
}

// Interrupted is an undo that did not end.
type Interrupted struct {
	// Done is true if the undo was recorded in git, so that only what follows is missing. Otherwise TakeBack is due.
	Done bool
	*journal
}

// FindInterrupted returns the undo in a project that did not end and has its journal in the folder dir; nil: there is
// none, or it had not begun to change anything.
func FindInterrupted(ctx context.Context, project, dir string) (*Interrupted, error) {
	text, err := os.ReadFile(filepath.Join(dir, journalName)) // file: in the folder of git
	j := &journal{dir: dir}
	if errors.Is(err, fs.ErrNotExist) {
		j.Root, _ = git.Root(project)
		return nil, j.Close()
	}
	if err == nil {
		err = json.Unmarshal(text, j)
	}
	if err == nil && len(j.Iterations) == 0 {
		err = errors.New("it names no iteration")
	}
	if err == nil {
		err = j.wait(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read journal of an undo %q: %w", dir, err)
	}
	if _, repo := git.Root(j.Root); !repo {
		return nil, j.Close() // what it is about is gone
	}
	i := &Interrupted{journal: j}
	if err := git.Unlocked(j.Root); err != nil {
		return nil, err
	}
	ref, err := undoneRef(ctx, j.Root, j.Iterations[0])
	if err != nil {
		return nil, err
	}
	if ref != j.Ref {
		i.Done = true
		return i, nil
	}
	since := "HEAD"
	if j.Head != "" {
		since = j.Head + "..HEAD"
	}
	out, err := command.Run(ctx, j.Root, "log", "--format=%B", since)
	if err != nil && j.Head != "" {
		return nil, err
	}
	k := j.Iterations[0]
	i.Done = slices.Contains(strings.Split(out, "\n"), fmt.Sprintf("%s: %s/%d", undoTrailer, k.Run, k.Iteration))
	return i, nil
}

// wait waits until what an earlier undo started has ended, and holds the lock of the journal.
func (j *journal) wait(ctx context.Context) error {
	f, err := os.OpenFile(filepath.Join(j.dir, holdName), os.O_CREATE|os.O_RDWR, 0o600) // file: in the folder of git
	if err != nil {
		return err
	}
	deadline := time.Now().Add(holdPatience)
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		if time.Now().After(deadline) {
			return errors.Join(errors.New("its git still runs"), f.Close())
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), f.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
	j.hold = f
	return nil
}
