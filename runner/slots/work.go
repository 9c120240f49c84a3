package slots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/task"
)

// Work is unmerged work on a task: one commit, which a ref keeps.
type Work struct {
	Key    string // names the ref
	Base   string // the parent of Commit, on which the work began
	Commit string // empty: nothing was done
	// Refused are files that were left out, because they look like secrets or do not belong
	// in a commit.
	Refused []git.Refusal
	// Submodules are those that it changes. A worktree has its own repository of each, so their new commits, and what is
	// not committed there, would stay behind if the work landed.
	Submodules []string
}

// Files returns the files that the work changes, relative to the repository.
func (w Work) Files(ctx context.Context, s *Slot) ([]string, error) {
	out, err := command.Run(ctx, s.Root, "diff", "--name-only", "-z", w.Base, w.Commit)
	return command.Entries(out), err
}

// refs is the prefix of refs that keep unfinished work.
const refs = "refs/ralph-work/"

// Ref returns the ref that keeps the unfinished work on a task.
func Ref(key string) string { return refs + key }

// Key returns the name of a task in refs.
func (h *Home) Key(t task.Task) string {
	sum := sha256.Sum256([]byte(h.Plan.Name + "\x00" + t.ID + "\x00" + t.Title))
	return hex.EncodeToString(sum[:8])
}

// record notes the work in a slot, for the run after one that was killed.
type record struct {
	Task  string         `json:"task"`
	Key   string         `json:"key"`
	Base  string         `json:"base"`
	Start git.DirtyFiles `json:"start"` // uncommitted files when it began
}

func (s *Slot) recordFile() string { return filepath.Join(s.top, "job.json") }

// Begun says what a turn finds in its slot.
type Begun struct {
	Base string // commit
	// Resumed is true if earlier work on the task is in the slot.
	Resumed bool
	Kept    string // the commit with that work
	// Conflict names files in which earlier work on the task conflicts with what has landed since.
	// They contain both, between conflict markers.
	Conflict []string
}

// Begin checks a commit out in the slot, applies the unfinished work on the task, and adds the user's own files that
// git does not have.
func (s *Slot) Begin(ctx context.Context, t task.Task, tip string) (b Begun, err error) {
	if err := s.clear(ctx, tip); err != nil {
		return b, fmt.Errorf("prepare slot %d: %w", s.N, err)
	}
	b.Base = tip
	key := s.home.Key(t)
	if b.Kept = s.Saved(ctx, key); b.Kept != "" {
		b.Resumed = true
		if b.Conflict, err = s.resume(ctx, key); err != nil {
			return b, fmt.Errorf("prepare slot %d: resume the work on %q: %w", s.N, t.ID, err)
		}
	}
	err = s.copyFiles(ctx)
	snap, seen := git.Observe(ctx, s.Dir)
	if err := errors.Join(err, seen); err != nil {
		return b, fmt.Errorf("prepare slot %d: %w", s.N, err)
	}
	s.start = snap.Changes()
	if err := git.SaveJSON(s.recordFile(), record{Task: t.ID, Key: key, Base: tip, Start: s.start}); err != nil {
		return b, fmt.Errorf("prepare slot %d: %w", s.N, err)
	}
	return b, nil
}

// Prepare checks a commit out in the slot and adds the user's own files that git does not have.
func (s *Slot) Prepare(ctx context.Context, commit string) error {
	err := s.clear(ctx, commit)
	if err == nil {
		err = s.copyFiles(ctx)
	}
	if err != nil {
		return fmt.Errorf("prepare slot %d: %w", s.N, err)
	}
	return nil
}

// clear checks a commit out and removes everything else except what git ignores: installed packages, caches.
func (s *Slot) clear(ctx context.Context, commit string) error {
	err := errors.Join(os.RemoveAll(s.recordFile()), os.RemoveAll(s.Temp()), os.MkdirAll(s.Temp(), 0o700),
		os.RemoveAll(filepath.Join(s.Dir, ".ralph")))
	if err == nil {
		_, err = command.Run(ctx, s.Root, "checkout", "--quiet", "--force", "--detach", commit)
	}
	if err == nil {
		_, err = command.Run(ctx, s.Root, "clean", "-ffdq")
	}
	return err
}

// resume applies the unfinished work.
func (s *Slot) resume(ctx context.Context, key string) (conflict []string, err error) {
	c := command.Call{Dir: s.Root, Env: command.Identity(ctx, s.Root)}
	conflict, err = Pick(ctx, c, Ref(key))
	if err != nil {
		return nil, err
	}
	_, err = c.Run(ctx, "add", "--all")
	if err == nil {
		_, err = c.Run(ctx, "commit", "--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "-m",
			"unfinished work")
	}
	return conflict, err
}

// Pick applies a commit to the worktree and its index. It returns the files with conflicts, which have conflict
// markers.
func Pick(ctx context.Context, c command.Call, commit string) (conflict []string, err error) {
	_, err = c.Run(ctx, "cherry-pick", "--no-commit", "--no-gpg-sign", commit)
	if err == nil {
		return nil, nil
	}
	out, asked := c.Run(ctx, "diff", "--name-only", "--diff-filter=U", "-z")
	if conflict = command.Entries(out); asked != nil || len(conflict) == 0 {
		return nil, err
	}
	return conflict, nil
}

// Save makes one commit of everything that was done in the slot since Begin, without the plan, and keeps
// it in the task's ref. message is for a commit to which the agent gave none.
func (s *Slot) Save(ctx context.Context, message string) (Work, error) {
	j, err := git.PeekJSON[record](s.recordFile())
	if err != nil || j.Base == "" {
		return Work{}, err
	}
	w, err := s.save(ctx, *j, message)
	if err != nil {
		return w, fmt.Errorf("keep the work of slot %d: %w", s.N, err)
	}
	return w, os.Remove(s.recordFile())
}

func (s *Slot) save(ctx context.Context, j record, message string) (Work, error) {
	w := Work{Key: j.Key, Base: j.Base}
	s.unlock() // an agent that was killed may have left a git's lock, and nothing else of it is left
	snap, err := git.Observe(ctx, s.Dir)
	if err != nil {
		return w, err
	}
	left := git.UserFiles{Files: j.Start}.LeftOver(snap.Changes())
	left = slices.DeleteFunc(left, func(f string) bool { return slices.Contains(s.planPaths(), f) })
	if len(left) > 0 {
		for _, what := range []string{"merge", "cherry-pick", "rebase"} { // the agent may have left one unfinished
			_, _ = command.Run(ctx, s.Root, what, "--quit")
		}
		done, err := git.Commit(ctx, s.Dir, git.CommitRequest{Files: left, Message: leftOver})
		if err != nil {
			return w, err
		}
		w.Refused = done.Refused
	}
	// After a reset below the base, the work is what was done since their last common commit: it must not take back
	// what others have landed.
	if common, err := command.Line(ctx, s.Root, "merge-base", j.Base, "HEAD"); err == nil { // else HEAD has no history
		w.Base, j.Base = common, common
	}
	tree, err := s.tree(ctx, j)
	if err == nil {
		w.Submodules, err = s.submodules(ctx, j.Base, tree, left)
	}
	if err != nil {
		return w, err
	}
	if was, err := command.Line(ctx, s.Root, "rev-parse", j.Base+"^{tree}"); err != nil || was == tree {
		_, _ = command.Run(ctx, s.Root, "update-ref", "-d", Ref(j.Key)) // the agent undid the earlier work
		return w, err
	}
	if w.Commit, err = git.CommitTree(ctx, s.Root, tree, j.Base, s.message(ctx, j, message)); err != nil {
		return w, err
	}
	_, err = command.Run(ctx, s.Root, "update-ref", Ref(j.Key), w.Commit)
	return w, err
}

// submodules returns the submodules among what differs between two trees, and among these uncommitted changes.
func (s *Slot) submodules(ctx context.Context, before, after string, uncommitted []string) (all []string, err error) {
	for _, of := range [][]string{{"ls-files", "-s", "-z"}, {"diff-tree", "-r", "-z", before, after}} {
		out, err := command.Run(ctx, s.Root, of...)
		if err != nil {
			return nil, err
		}
		fields := strings.FieldsFunc(out, func(r rune) bool { return r == '\x00' || r == '\t' }) // each entry, then its path
		for i := 0; i+1 < len(fields); i += 2 {
			changed := of[0] == "diff-tree" || slices.Contains(uncommitted, fields[i+1])
			if changed && strings.Contains(fields[i], "160000 ") {
				all = append(all, fields[i+1])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

const leftOver = "ralph: what the agent left uncommitted"

// message returns the agent's message if it made one commit, else the given one. The last paragraph, the trailers,
// always comes from the given one.
func (s *Slot) message(ctx context.Context, j record, given string) string {
	out, err := command.Run(ctx, s.Root, "log", "--format=%B%x00", "--no-merges", j.Base+"..HEAD")
	if err != nil {
		return given
	}
	var said []string
	for text := range strings.SplitSeq(out, "\x00") {
		if text = strings.TrimSpace(text); text != "" && text != leftOver && text != "unfinished work" && !strings.HasPrefix(text, begins) {
			said = append(said, text)
		}
	}
	_, trailers, _ := strings.Cut(given, "\n\n")
	if len(said) == 1 {
		return said[0] + "\n\n" + trailers + "\n"
	}
	return given
}

// tree writes the tree of the slot, with the plan and the user's uncommitted files as they are in Base.
func (s *Slot) tree(ctx context.Context, j record) (string, error) {
	x, err := git.NewIndex(ctx, s.Root, "HEAD")
	if err != nil {
		return "", err
	}
	defer x.Close()
	if paths := append(s.planPaths(), j.Start.Names()...); len(paths) > 0 {
		if _, err := x.Run(ctx, "", append([]string{"--literal-pathspecs", "rm", "-r", "-q", "--cached",
			"--ignore-unmatch", "--"}, paths...)...); err != nil {
			return "", err
		}
		was, err := x.Run(ctx, "", append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", j.Base, "--"}, paths...)...)
		if err != nil {
			return "", err
		}
		if was != "" {
			if _, err := x.Run(ctx, was, "update-index", "-z", "--index-info"); err != nil {
				return "", err
			}
		}
	}
	return x.Tree(ctx)
}

// planPaths returns the plan's files, relative to the repository.
func (s *Slot) planPaths() []string {
	f := s.Plan()
	if f.Path == "" {
		return nil
	}
	var paths []string
	for _, path := range append([]string{f.Path}, s.planFiles()...) {
		if rel, err := filepath.Rel(s.Root, path); err == nil && filepath.IsLocal(rel) {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}

// Salvage keeps what a killed run left in the slot.
func (s *Slot) Salvage(ctx context.Context) error {
	_, err := s.Save(ctx, "unfinished work of a run that was killed\n\nRalph-Task: unknown")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Recall finds work that is still kept although it has landed, because ralph was killed in between. It returns the ids
// of its tasks, by their keys.
func (h *Home) Recall(ctx context.Context, tip string) (map[string]string, error) {
	const format = "%(trailers:key=Ralph-Run,valueonly)%x00%(trailers:key=Ralph-Iteration,valueonly)%x00" +
		"%(trailers:key=Ralph-Task,valueonly)"
	landed := map[string]string{}
	out, err := command.Run(ctx, h.root, "for-each-ref", "--format=%(objectname) %(refname)", refs)
	if err != nil {
		return nil, fmt.Errorf("read unfinished work: %w", err)
	}
	for line := range strings.Lines(out) {
		oid, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		said, err := command.Run(ctx, h.root, "log", "-1", "--format="+format, oid)
		if err != nil {
			return nil, fmt.Errorf("read unfinished work: %w", err)
		}
		f := strings.Split(strings.TrimSpace(said), "\x00")
		if len(f) != 3 || f[0] == "" || f[1] == "" {
			continue
		}
		run, iteration := strings.TrimSpace(f[0]), strings.TrimSpace(f[1])
		found, err := command.Run(ctx, h.root, "log", "-1", "--format=%H", "--extended-regexp", "--all-match",
			"--grep=^Ralph-Run: "+regexp.QuoteMeta(run)+"$", "--grep=^Ralph-Iteration: "+iteration+"$", tip)
		if err == nil && found != "" {
			landed[strings.TrimPrefix(name, refs)] = strings.TrimSpace(f[2])
		}
	}
	return landed, nil
}

// Landed removes the ref of the work on a task, which is now on a branch.
func (h *Home) Landed(ctx context.Context, key string) error {
	_, err := command.Run(ctx, h.root, "update-ref", "-d", Ref(key))
	return err
}
