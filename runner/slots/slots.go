// Package slots keeps the git worktrees in which turns work beside the user's checkout. There is
// one folder per slot in the user's cache, which the next task and the next run use again.
package slots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/git/replica"
	plans "ralph/runner/task/store"
)

// Home has the worktrees of one project.
type Home struct {
	Dir  string     // the folder of all of them, whose name is different for each project
	Plan plans.File // of the project; zero: none

	project, root string // of the user, with symbolic links resolved
}

// Slot is one worktree. Slot 0 is the one in which results are merged.
type Slot struct {
	N    int
	Dir  string // the project in it
	Root string // of the worktree

	home    *Home
	top     string
	copied  []string
	leftOut []string
	start   git.DirtyFiles // uncommitted files when the turn began
}

// Copied returns the user's files that Begin has put into the worktree, relative to Root. Some may be gone.
func (s *Slot) Copied() []string { return slices.Compact(slices.Sorted(slices.Values(s.copied))) }

// LeftOut returns those of the user's files that Begin has not put into the worktree, because they are not plain files.
func (s *Slot) LeftOut() []string { return slices.Compact(slices.Sorted(slices.Values(s.leftOut))) }

// UnfitError says in one line why worktrees cannot work here.
type UnfitError struct{ Why string }

// Error implements error.
func (e *UnfitError) Error() string { return e.Why }

// HomeOf returns the home of a project's worktrees, for a program with this environment.
func HomeOf(env []string, project string, plan plans.File) (*Home, error) {
	root, ok := git.Root(project)
	if !ok {
		return nil, &UnfitError{"worktrees need a git repository; make one with: " +
			"git init && git add -A && git commit -m start"}
	}
	project, err := filepath.EvalSymlinks(project)
	if err != nil {
		return nil, err
	}
	cache := replica.CacheDir(env)
	if cache == "" {
		return nil, &UnfitError{"there is no cache folder for worktrees: HOME is not set"}
	}
	sum := sha256.Sum256([]byte(project))
	name := filepath.Base(project) + "-" + hex.EncodeToString(sum[:4])
	return &Home{Dir: filepath.Join(cache, "ralph", "slots", name), Plan: plan, project: project, root: root}, nil
}

// Check returns an error if worktrees of this repository cannot work.
func (h *Home) Check(ctx context.Context, setup string) error {
	if _, err := command.Run(ctx, h.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return &UnfitError{"worktrees need a first commit; make one with: git add -A && git commit -m start"}
	}
	if _, err := command.Run(ctx, h.root, "rev-parse", "--verify", "--quiet", "refs/heads/ralph"); err == nil {
		return &UnfitError{"the branch ralph is in the way of the branch ralph/RUN, on which tasks land; " +
			"rename it with: git branch -m ralph NAME"}
	}
	if on, err := command.Run(ctx, h.root, "config", "--type=bool", "extensions.worktreeConfig"); err == nil && on == "true\n" {
		if _, err := command.Run(ctx, h.root, "config", "--local", "core.worktree"); err == nil {
			return &UnfitError{"git takes the wrong folder for a worktree here, because core.worktree is set for all of them; " +
				`move it with: git config --worktree core.worktree "$(git config core.worktree)" && ` +
				"git config --local --unset core.worktree"}
		}
	}
	if err := h.missing(ctx); err != nil {
		return err
	}
	name, err := Submodule(ctx, h.root)
	if name != "" && setup == "" {
		return &UnfitError{fmt.Sprintf("the submodule %q would be empty in a worktree; "+
			"fill it with WORKTREE_SETUP, "+
			"such as: git submodule update --init", name)}
	}
	return err
}

// Partial reports whether a repository is a partial clone, which may lack objects.
func Partial(ctx context.Context, root string) bool {
	out, err := command.Run(ctx, root, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	return err == nil && out != "" // git says with an error that there is no such setting
}

// Submodule returns the first submodule in the index of a repository; empty: it has none.
func Submodule(ctx context.Context, root string) (string, error) {
	out, err := command.Run(ctx, root, "ls-files", "-s", "-z")
	for entry := range strings.SplitSeq(out, "\x00") {
		if sub, name, _ := strings.Cut(entry, "\t"); strings.HasPrefix(sub, "160000 ") {
			return name, err
		}
	}
	return "", err
}

// missing returns an error for a partial clone that lacks files of HEAD: ralph's git fetches nothing.
func (h *Home) missing(ctx context.Context) error {
	if !Partial(ctx, h.root) {
		return nil
	}
	out, err := command.Run(ctx, h.root, "rev-list", "--objects", "--no-walk", "--missing=print", "HEAD")
	if err != nil {
		return err
	}
	if missing := strings.Count("\n"+out, "\n?"); missing > 0 {
		return &UnfitError{fmt.Sprintf("this partial clone lacks %d objects of HEAD, which a worktree needs; "+
			"fetch them with: git archive HEAD > /dev/null", missing)}
	}
	return nil
}

// Numbers returns the numbers of all slots up to this one, and of those that exist beyond it.
func (h *Home) Numbers(last int) (all []int) {
	for n := range last + 1 {
		all = append(all, n)
	}
	entries, _ := os.ReadDir(h.Dir) // no folder: no slots
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > last {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// Open makes the worktree of a slot at HEAD, or finds it again. A new one gets its files only with Begin or Prepare, so that slots
// are filled side by side.
func (h *Home) Open(ctx context.Context, n int) (*Slot, error) {
	top := filepath.Join(h.Dir, strconv.Itoa(n))
	s := &Slot{N: n, home: h, top: top, Root: filepath.Join(top, filepath.Base(h.root))}
	inside, err := filepath.Rel(h.root, h.project)
	if err == nil {
		s.Dir = filepath.Join(s.Root, inside)
		err = os.MkdirAll(s.Temp(), 0o700)
	}
	if err != nil {
		return nil, &UnfitError{fmt.Sprintf("slot %d cannot be made: %v", n, err)}
	}
	left, err := os.ReadDir(s.Root)
	switch {
	case errors.Is(err, syscall.ENOTDIR), err == nil && len(left) > 0 && !s.ours(ctx):
		return nil, &UnfitError{fmt.Sprintf("%q is where slot %d belongs, "+
			"but it is no worktree of this repository; remove it", s.Root, n)}
	case err == nil && len(left) > 0:
		s.unlock()
		return s, nil
	}
	if _, err := command.Run(ctx, h.root, "worktree", "add", "--force", "--detach", "--no-checkout", "--quiet", s.Root, "HEAD"); err != nil {
		return nil, fmt.Errorf("open slot %d: %w", n, err)
	}
	return s, nil
}

// ours is true if the folder is a worktree of the user's repository.
func (s *Slot) ours(ctx context.Context) bool {
	mine, err1 := command.Run(ctx, s.Root, "rev-parse", "--path-format=absolute", "--git-common-dir")
	users, err2 := command.Run(ctx, s.home.root, "rev-parse", "--path-format=absolute", "--git-common-dir")
	return err1 == nil && err2 == nil && mine == users
}

// unlock removes the locks of killed git processes. No other process uses the slot: the run
// holds the project's lock.
func (s *Slot) unlock() {
	command.Unlock(s.Root, "index", "HEAD")
}

// Temp returns the slot's own folder for temporary files.
func (s *Slot) Temp() string { return filepath.Join(s.top, "tmp") }

// Env returns an environment for programs in the slot.
func (s *Slot) Env(env []string) []string {
	return append(slices.Clone(env), "RALPH_SLOT="+strconv.Itoa(s.N), "TMPDIR="+s.Temp())
}

// Path returns the path in the slot of a file of the user's project. A plan outside the project gets a
// place in the slot, too.
func (s *Slot) Path(path string) string {
	if path == "" {
		return ""
	}
	for _, dir := range []string{s.home.project, s.home.root} {
		if rel, err := filepath.Rel(dir, resolved(path)); err == nil && filepath.IsLocal(rel) {
			if dir == s.home.root {
				return filepath.Join(s.Root, rel)
			}
			return filepath.Join(s.Dir, rel)
		}
	}
	return filepath.Join(s.Dir, ".ralph", "outside", filepath.Base(path))
}

// resolved returns the path with the links of its folder resolved.
func resolved(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

// Plan returns the plan in the slot.
func (s *Slot) Plan() plans.File {
	f := s.home.Plan
	if f.Path == "" {
		return f
	}
	f.Path, f.Edits = s.Path(f.Path), ""
	if rel, err := filepath.Rel(s.Dir, f.Path); err == nil && filepath.IsLocal(rel) {
		f.Name = filepath.ToSlash(rel)
	}
	return f
}
