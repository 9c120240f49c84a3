package slots

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/runner/git/command"
	"ralph/runner/task"
)

// begins is how the message of the commit begins with which a turn starts in a slot.
const begins = "ralph: a turn begins"

// Mark gives the slot a commit without a change for HEAD, which names the task. All worktrees share one stash. What the
// turn stashes from now on has this commit in its history, so Crossed can tell it from the entries of other tasks.
func (s *Slot) Mark(ctx context.Context, t task.Task) error {
	c := command.Call{Dir: s.Root, Env: command.Identity(ctx, s.Root)}
	if _, err := c.Run(ctx, "commit", "--quiet", "--allow-empty", "--only", "--no-verify", "--no-gpg-sign", "-m",
		s.mark(t)); err != nil {
		return fmt.Errorf("prepare slot %d: %w", s.N, err)
	}
	return nil
}

func (s *Slot) mark(t task.Task) string {
	return begins + ", task " + s.home.Key(t)
}

// Crossing is what two turns exchanged through the stash.
type Crossing struct {
	Foreign []string // entries of others whose files are in the slot now
	Files   []string // those files
	Own     []string // entries of this turn that neither the stash nor the slot has now
}

// Turn is a turn in a slot, as Crossed has to know it.
type Turn struct {
	Task  task.Task
	Run   time.Time // when the run began
	Began time.Time
	Base  string   // the commit with which it began
	Tip   string   // the commit with all that has landed
	Users []string // stash entries of the user that are gone
}

// Crossed finds entries of the stash that the turn applied, and that were not of its task. If the stash has not changed
// since the turn began, it runs no git process.
func (s *Slot) Crossed(ctx context.Context, t Turn) (x Crossing, err error) {
	info, err := os.Stat(filepath.Join(command.CommonDir(s.Root), "refs"))
	if err == nil && info.ModTime().Before(t.Began) { // git renames refs/stash into this folder
		return x, nil
	}
	made, err := s.stashed(ctx, t.Run, t.Users)
	if err != nil || len(made) == 0 {
		return x, err
	}
	reflog, err := command.Run(ctx, s.Root, "log", "--walk-reflogs", "--format=%H", "HEAD")
	if err != nil {
		return x, fmt.Errorf("find stash entries: %w", err)
	}
	landed := t.Base
	if _, err := command.Run(ctx, s.Root, "merge-base", "--is-ancestor", t.Tip, "HEAD"); err == nil {
		landed = t.Tip // the turn has taken over what others have landed
	}
	been := strings.Fields(reflog)
	list, _ := command.Run(ctx, s.Root, "log", "--walk-reflogs", "--format=%H", "refs/stash", "--") // no stash: none
	for _, e := range made {
		files, err := s.has(ctx, e, landed)
		if err != nil {
			return x, err
		}
		mark, err := command.Line(ctx, s.Root, "log", "-1", "--format=%s", "--grep=^"+begins+", task ", e.parents[0])
		if err != nil {
			return x, fmt.Errorf("find stash entries: %w", err)
		}
		key, _, _ := strings.Cut(strings.TrimPrefix(mark, begins+", task "), "-")
		switch mine := mark == s.mark(t.Task) || mark == "" && slices.Contains(been, e.parents[0]); {
		case !mine && len(files) > 0 && key != s.home.Key(t.Task):
			x.Foreign, x.Files = append(x.Foreign, e.oid), append(x.Files, files...)
		case mine && len(files) == 0 && e.made >= t.Began.Unix() && !strings.Contains(list, e.oid):
			x.Own = append(x.Own, e.oid)
		}
	}
	slices.Sort(x.Files)
	x.Files = slices.Compact(x.Files)
	return x, nil
}

// stashEntry is the commit of an entry: its parents are HEAD, the index and, if there were any, untracked files.
type stashEntry struct {
	oid     string
	parents []string
	made    int64 // Unix seconds
}

// stashed returns the entries that were made since then, dropped or not, and those of the user. They are loose objects:
// git has had no time to pack them.
func (s *Slot) stashed(ctx context.Context, since time.Time, users []string) (all []stashEntry, err error) {
	var in strings.Builder
	objects := filepath.Join(command.CommonDir(s.Root), "objects")
	dirs, err := os.ReadDir(objects)
	if err != nil {
		return nil, fmt.Errorf("find stash entries: %w", err)
	}
	for _, dir := range dirs {
		info, err := dir.Info()
		if err != nil || len(dir.Name()) != 2 || info.ModTime().Before(since) {
			continue
		}
		files, _ := os.ReadDir(filepath.Join(objects, dir.Name())) // git may remove it
		for _, f := range files {
			if info, err := f.Info(); err == nil && !info.ModTime().Before(since) && !strings.HasPrefix(f.Name(), "tmp_") {
				fmt.Fprintln(&in, dir.Name()+f.Name())
			}
		}
	}
	out, err := command.Call{Dir: s.Root, Stdin: in.String()}.Run(ctx, "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, fmt.Errorf("find stash entries: %w", err)
	}
	args := append([]string{"log", "--no-walk=unsorted", "--format=%H %P%x00%ct %s"}, users...)
	for line := range strings.Lines(out) {
		if oid, is, _ := strings.Cut(strings.TrimSpace(line), " "); is == "commit" {
			args = append(args, oid)
		}
	}
	if len(args) == 3 {
		return nil, nil
	}
	if out, err = command.Run(ctx, s.Root, append(args, "--")...); err != nil {
		return nil, fmt.Errorf("find stash entries: %w", err)
	}
	for line := range strings.Lines(out) {
		ids, subject, _ := strings.Cut(strings.TrimSpace(line), "\x00")
		f := strings.Fields(ids)
		at, subject, _ := strings.Cut(subject, " ")
		made, _ := strconv.ParseInt(at, 10, 64)
		if len(f) > 2 && (strings.HasPrefix(subject, "WIP on ") || strings.HasPrefix(subject, "On ")) {
			all = append(all, stashEntry{f[0], f[1:], made})
		}
	}
	return all, nil
}

// has returns the files of an entry that the slot has as the entry has them, and that have not landed so: none if the
// slot has left one of the entry's files as it was, because then it has not applied the entry. What never lands does not
// count: the plan and the user's uncommitted files are in every slot. Neither does an empty file.
func (s *Slot) has(ctx context.Context, e stashEntry, landed string) (files []string, err error) {
	trees := [][]string{{e.parents[0], e.oid}}
	if len(e.parents) > 2 {
		trees = append(trees, []string{"--root", e.parents[2]})
	}
	never := append(s.planPaths(), s.start.Names()...)
	for _, tree := range trees {
		args := append([]string{"diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", "--diff-filter=d"}, tree...)
		out, err := command.Run(ctx, s.Root, args...)
		if err != nil {
			return nil, fmt.Errorf("compare stash entry %.12s: %w", e.oid, err)
		}
		f := strings.Split(out, "\x00")
		for i := 0; i+1 < len(f); i += 2 {
			is, path := strings.Fields(f[i]), f[i+1]
			if len(is) < 4 || slices.Contains(never, path) {
				continue
			}
			now, empty := s.blob(ctx, path)
			was, _ := command.Line(ctx, s.Root, "rev-parse", "--verify", "--quiet", landed+":"+path) // a new file
			switch {
			case was == is[3]:
			case was == now:
				return nil, nil
			case now == is[3] && !empty:
				files = append(files, path)
			}
		}
	}
	return files, nil
}

// blob returns the id that git gives to a file or a link of the slot; empty: there is none.
func (s *Slot) blob(ctx context.Context, path string) (id string, empty bool) {
	c, args := command.Call{Dir: s.Root}, []string{"hash-object", "--", path}
	info, err := os.Lstat(filepath.Join(s.Root, path))
	if err == nil && info.Mode().Type() == os.ModeSymlink {
		args = []string{"hash-object", "--stdin"}
		c.Stdin, err = os.Readlink(filepath.Join(s.Root, path))
	} else if err != nil || !info.Mode().IsRegular() { // git would wait for the writer of a pipe
		return "", false
	}
	if err != nil {
		return "", false
	}
	id, _ = c.Run(ctx, args...)
	return strings.TrimSpace(id), info.Size() == 0
}

// Reject takes work back that Save has kept: the next turn of the task begins with what was kept before, if anything.
func (s *Slot) Reject(ctx context.Context, w Work, before string) error {
	args := []string{"update-ref", Ref(w.Key), before}
	if before == "" {
		args = []string{"update-ref", "-d", Ref(w.Key)}
	}
	_, err := command.Run(ctx, s.Root, args...)
	return err
}

// Saved returns the commit of the kept work on the task of the slot's turn; empty: there is none.
func (s *Slot) Saved(ctx context.Context, key string) string {
	kept, _ := command.Line(ctx, s.Root, "rev-parse", "--verify", "--quiet", Ref(key)) // none
	return kept
}
