package git

// The files refs*.go compare the refs of a repository before and after a turn: they find
// commits, branches, tags, stash entries and worktrees that are gone, and bring HEAD back
// to the branch of the run.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/git/command"
)

// RefsView is what a repository has at one moment.
type RefsView struct {
	Branch string // the one that is checked out; empty: HEAD is detached
	Head   string // commit; empty before the first one

	heads, tags map[string]string // name -> object
	elsewhere   map[string]bool   // branches that are checked out in another worktree
	stash       []refsEntry
	worktrees   map[string]refsEntry // by path
}

// refsEntry is an entry of the stash, or a worktree.
type refsEntry struct{ oid, text string }

// LookAtRefs returns the refs of the repository of dir. snap is its Snapshot at the same moment. It runs one git process, and
// a second one if the stash is not empty.
func LookAtRefs(ctx context.Context, dir string, snap Snapshot) (RefsView, error) {
	v := RefsView{Branch: snap.Branch, Head: snap.Head, heads: map[string]string{}, tags: map[string]string{},
		elsewhere: map[string]bool{}, worktrees: map[string]refsEntry{}}
	root, ok := Root(dir)
	if !ok || !snap.Repo {
		return v, nil
	}
	out, err := command.Run(ctx, root, "for-each-ref", "--format=%(objectname)%00%(refname)%00%(worktreepath)",
		"refs/heads", "refs/tags", "refs/stash")
	if err != nil {
		return v, fmt.Errorf("list refs: %w", err)
	}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(f) != 3 {
			return v, fmt.Errorf("list refs: unknown line %q", line)
		}
		if name, ok := strings.CutPrefix(f[1], "refs/heads/"); ok {
			v.heads[name] = f[0]
			v.elsewhere[name] = f[2] != "" && !sameFolder(f[2], root)
		} else if name, ok := strings.CutPrefix(f[1], "refs/tags/"); ok {
			v.tags[name] = f[0]
		} else if v.stash, err = stash(ctx, root); err != nil {
			return v, err
		}
	}
	v.readWorktrees(root)
	return v, nil
}

// sameFolder reports whether two paths lead to the same folder.
func sameFolder(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return a == b || err1 == nil && err2 == nil && os.SameFile(x, y)
}

// stash returns the entries of the stash, the newest first.
func stash(ctx context.Context, root string) (all []refsEntry, err error) {
	out, err := command.Run(ctx, root, "log", "--walk-reflogs", "--format=%H %gs", "refs/stash", "--")
	if err != nil {
		return nil, fmt.Errorf("list stash: %w", err)
	}
	for line := range strings.Lines(out) {
		oid, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all = append(all, refsEntry{oid, text})
	}
	return all, nil
}

// readWorktrees reads git's own files about the linked worktrees whose folders exist.
func (v *RefsView) readWorktrees(root string) {
	top := filepath.Join(command.CommonDir(root), "worktrees")
	all, _ := os.ReadDir(top) // none: nothing to lose
	for _, one := range all {
		dir := filepath.Join(top, one.Name())
		link, err := os.ReadFile(filepath.Join(dir, "gitdir")) // file: in the folder of git
		path := filepath.Dir(strings.TrimSpace(string(link)))
		if _, gone := os.Lstat(path); err != nil || gone != nil {
			continue
		}
		head, _ := os.ReadFile(filepath.Join(dir, "HEAD")) // file: in the folder of git; unreadable: the command says HEAD
		at := strings.TrimPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
		v.worktrees[path] = refsEntry{oid: at}
	}
}

// Has reports whether the view has what another one has lost.
func (v RefsView) Has(l Lost) bool {
	switch l.What {
	case LostTag:
		return v.tags[l.Name] == l.OID
	case LostStash:
		return slices.ContainsFunc(v.stash, refsEntry{oid: l.OID}.same)
	case LostWorktree:
		_, is := v.worktrees[l.Name]
		return is
	}
	return v.heads[l.Name] == l.OID
}

// KeepStash keeps the entries of the stash below refs/ralph/, so that git does not collect those that are dropped.
func (v RefsView) KeepStash(ctx context.Context, dir, run string) error {
	var in strings.Builder
	for _, e := range v.stash {
		fmt.Fprintf(&in, "update %s%s/stash/%.12s %s\n", KeptRefs, run, e.oid, e.oid)
	}
	return update(ctx, dir, in.String())
}

func update(ctx context.Context, dir, commands string) error {
	if commands == "" {
		return nil
	}
	if _, err := (command.Call{Dir: dir, Stdin: commands}).Run(ctx, "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("keep what is gone: %w", err)
	}
	return nil
}

// PutBackBranch brings HEAD back to a branch, if that loses nothing, and returns what it did. why says what prevents it, and
// how a person can do it; empty: HEAD is on the branch now. It starts no git process if HEAD is there.
//
// The branch follows HEAD if that is a fast-forward with commits of this turn. Otherwise HEAD returns to the branch, but
// only if every commit that it leaves was on some branch before, and still is.
func PutBackBranch(ctx context.Context, dir, branch string, before, after RefsView) (did, why string, err error) {
	if branch == "" || after.Branch == branch {
		return "", "", nil
	}
	root, _ := Root(dir)
	p := putting{root: root, branch: branch, before: before, after: after}
	where := "on the branch " + after.Branch
	if after.Branch == "" {
		where = "detached"
	}
	did = fmt.Sprintf("HEAD was %s at the end of the turn; ralph put it back on %s", where, branch)
	tip, exists := after.heads[branch]
	if !exists {
		tip = before.heads[branch]
	}
	switch {
	case after.Head == "": // an orphan branch without a commit
		why = p.leave(ctx)
	case tip == "" || after.Head == tip || p.contains(ctx, tip, after.Head) && p.fresh(ctx, tip):
		err = p.follow(ctx, exists)
		if after.Head != tip {
			did += fmt.Sprintf(", which now has its new commits, up to %.7s", after.Head)
		}
	case p.known(ctx):
		why = p.leave(ctx)
	default:
		why = "HEAD is " + where + ", with commits that do not follow those of " + branch
	}
	if err != nil {
		why = fmt.Sprintf("HEAD is %s and could not be put back on %s: %v", where, branch, err)
	}
	if why != "" && after.Branch == "" && after.Head != "" {
		why += fmt.Sprintf("; to keep its commits: git branch ralph-rescue/%.7s %[1]s", after.Head)
	}
	return did, why, ctx.Err()
}

// putting is HEAD on its way back to a branch.
type putting struct {
	root, branch  string
	before, after RefsView
}

// run runs git and returns what it prints, without the blanks around it.
func run(ctx context.Context, root string, args ...string) (string, error) {
	out, err := command.Run(ctx, root, args...)
	return strings.TrimSpace(out), err
}

func (p putting) contains(ctx context.Context, commit, in string) bool {
	_, err := run(ctx, p.root, "merge-base", "--is-ancestor", commit, in)
	return err == nil
}

// fresh reports whether no branch had any of the commits with which HEAD follows tip.
func (p putting) fresh(ctx context.Context, tip string) bool {
	args := []string{"rev-list", "--count", p.after.Head, "--not", tip}
	all, err1 := run(ctx, p.root, args...)
	for _, was := range p.before.heads {
		args = append(args, was)
	}
	made, err2 := run(ctx, p.root, args...)
	return err1 == nil && err2 == nil && all == made
}

// follow moves the branch to the commit at which HEAD is, and HEAD to the branch. No file changes. A branch that was
// renamed gets its name back.
func (p putting) follow(ctx context.Context, exists bool) error {
	if _, old := p.before.heads[p.after.Branch]; !exists && !old && p.after.Branch != "" {
		_, err := run(ctx, p.root, "branch", "-m", p.after.Branch, p.branch)
		return err
	}
	ref := "refs/heads/" + p.branch
	if _, err := run(ctx, p.root, "update-ref", "-m", "ralph: follow HEAD", ref, p.after.Head, p.after.heads[p.branch]); err != nil {
		return err
	}
	_, err := run(ctx, p.root, "symbolic-ref", "-m", "ralph: back to "+p.branch, "HEAD", ref)
	return err
}

// known reports whether a branch had the commit of HEAD before, and still has it.
func (p putting) known(ctx context.Context) bool {
	out, err := run(ctx, p.root, "for-each-ref", "--contains", p.after.Head, "--format=%(refname)", "refs/heads")
	if err != nil || out == "" {
		return false
	}
	for _, was := range p.before.heads {
		if was == p.after.Head || p.contains(ctx, p.after.Head, was) {
			return true
		}
	}
	return false
}

// leave checks the branch out. It returns why git refuses; empty: it did not.
func (p putting) leave(ctx context.Context) (why string) {
	if tip := p.before.heads[p.branch]; p.after.heads[p.branch] == "" && tip != "" {
		if _, err := run(ctx, p.root, "update-ref", "refs/heads/"+p.branch, tip, ""); err != nil {
			return fmt.Sprintf("the branch %s is gone: %v", p.branch, err)
		}
	}
	if _, err := run(ctx, p.root, "checkout", "--quiet", "--no-overwrite-ignore", p.branch, "--"); err != nil {
		return fmt.Sprintf("HEAD is not on %s any more, and git cannot check it out: %v", p.branch, err)
	}
	return ""
}
