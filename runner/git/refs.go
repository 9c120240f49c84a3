package git

// This file compares the refs of a repository before and after a turn: they find
// commits, branches, tags, stash entries and worktrees that are gone, and bring HEAD back
// to the branch of the run.

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"ralph/logs/termtext"
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

// WithCommit returns the view after a commit on the branch that is checked out.
func (v RefsView) WithCommit(oid string) RefsView {
	v.heads, v.Head = maps.Clone(v.heads), oid
	v.heads[v.Branch] = oid
	return v
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

func (p putting) contains(ctx context.Context, commit, in string) bool {
	_, err := command.Line(ctx, p.root, "merge-base", "--is-ancestor", commit, in)
	return err == nil
}

// fresh reports whether no branch had any of the commits with which HEAD follows tip.
func (p putting) fresh(ctx context.Context, tip string) bool {
	args := []string{"rev-list", "--count", p.after.Head, "--not", tip}
	all, err1 := command.Line(ctx, p.root, args...)
	made, err2 := command.Line(ctx, p.root, slices.AppendSeq(args, maps.Values(p.before.heads))...)
	return err1 == nil && err2 == nil && all == made
}

// follow moves the branch to the commit at which HEAD is, and HEAD to the branch. No file changes. A branch that was
// renamed gets its name back.
func (p putting) follow(ctx context.Context, exists bool) error {
	if _, old := p.before.heads[p.after.Branch]; !exists && !old && p.after.Branch != "" {
		_, err := command.Line(ctx, p.root, "branch", "-m", p.after.Branch, p.branch)
		return err
	}
	ref := "refs/heads/" + p.branch
	if _, err := command.Line(ctx, p.root, "update-ref", "-m", "ralph: follow HEAD", ref, p.after.Head, p.after.heads[p.branch]); err != nil {
		return err
	}
	_, err := command.Line(ctx, p.root, "symbolic-ref", "-m", "ralph: back to "+p.branch, "HEAD", ref)
	return err
}

// known reports whether a branch had the commit of HEAD before, and still has it.
func (p putting) known(ctx context.Context) bool {
	out, err := command.Line(ctx, p.root, "for-each-ref", "--contains", p.after.Head, "--format=%(refname)", "refs/heads")
	if err != nil || out == "" {
		return false
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(p.before.heads)), func(was string) bool {
		return was == p.after.Head || p.contains(ctx, p.after.Head, was)
	})
}

// leave checks the branch out. It returns why git refuses; empty: it did not.
func (p putting) leave(ctx context.Context) (why string) {
	if tip := p.before.heads[p.branch]; p.after.heads[p.branch] == "" && tip != "" {
		if _, err := command.Line(ctx, p.root, "update-ref", "refs/heads/"+p.branch, tip, ""); err != nil {
			return fmt.Sprintf("the branch %s is gone: %v", p.branch, err)
		}
	}
	if _, err := command.Line(ctx, p.root, "checkout", "--quiet", "--no-overwrite-ignore", p.branch, "--"); err != nil {
		return fmt.Sprintf("HEAD is not on %s any more, and git cannot check it out: %v", p.branch, err)
	}
	return ""
}

// LostBetween returns what before had and after does not have. tree is the tree of the files as they are now; it is called at
// most once, and only if commits are gone. first is what the repository had when the run began: the run may remove
// branches, tags, stash entries and worktrees of its own. If no branch has moved, Lost runs no git process.
//
// A commit is gone if its branch does not have it any more, and neither a rewritten form of it: see survives. Commits
// of any branch but the one that is checked out may also be on another branch, in a tag or on a remote.
func LostBetween(ctx context.Context, dir string, first, before, after RefsView, tree func() (string, error)) ([]Lost, error) {
	c := comparison{after: after, tree: sync.OnceValues(tree)}
	c.root, _ = Root(dir)
	var all []Lost
	for _, name := range slices.Sorted(maps.Keys(before.heads)) {
		old, now := before.heads[name], after.heads[name]
		if now == old || now != "" && before.elsewhere[name] && after.elsewhere[name] {
			continue // whoever works in that worktree moved it
		}
		lost, err := c.branch(ctx, name, old, now)
		if err != nil {
			return nil, err
		}
		_, users := first.heads[name]
		if lost.What == LostCommits || lost.What != "" && users {
			all = append(all, lost)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.tags)) {
		old, now := before.tags[name], after.tags[name]
		switch {
		case old == now || first.tags[name] != old:
		case now == "":
			all = append(all, Lost{What: LostTag, Name: name, OID: old,
				Text: fmt.Sprintf("the tag %s is gone; to restore it: git tag %s %.12s", name, refsQuote(name), old)})
		default:
			all = append(all, Lost{What: LostTag, Name: name, OID: old, Harmless: true,
				Text: fmt.Sprintf("the tag %s was moved; to move it back: git tag -f %s %.12s", name, refsQuote(name), old)})
		}
	}
	for _, e := range before.stash {
		if slices.ContainsFunc(first.stash, e.same) && !slices.ContainsFunc(after.stash, e.same) {
			all = append(all, Lost{What: LostStash, OID: e.oid,
				Text: fmt.Sprintf("your stash entry %q is gone; to restore it: git stash store -m %s %.12s", e.text,
					refsQuote(e.text), e.oid)})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before.worktrees)) {
		_, users := first.worktrees[path]
		if _, is := after.worktrees[path]; users && !is {
			all = append(all, Lost{What: LostWorktree, Name: path,
				Text: fmt.Sprintf("the worktree %s is gone; to make it again, without its uncommitted changes: "+
					"git worktree add %s %s", path, refsQuote(path), refsQuote(before.worktrees[path].oid))})
		}
	}
	return all, nil
}

// MovedRefs names the branches and tags that were made, moved or deleted between two views, without the branch that is
// checked out and those of other worktrees.
func MovedRefs(before, after RefsView) (all []string) {
	for _, side := range [][2]map[string]string{{before.heads, after.heads}, {before.tags, after.tags}} {
		both := map[string]string{}
		maps.Copy(both, side[0])
		maps.Copy(both, side[1])
		for _, name := range slices.Sorted(maps.Keys(both)) {
			if side[0][name] != side[1][name] && name != after.Branch && !before.elsewhere[name] && !after.elsewhere[name] {
				all = append(all, name)
			}
		}
	}
	return all
}

func (e refsEntry) same(o refsEntry) bool { return e.oid == o.oid }

// StillLost returns those of the losses that nobody has repaired.
func StillLost(ctx context.Context, dir string, all []Lost, now RefsView, tree func() (string, error)) ([]Lost, error) {
	var left []Lost
	for _, l := range all {
		was := RefsView{Branch: now.Branch}
		switch l.What {
		case LostCommits, LostBranch:
			was.heads = map[string]string{l.Name: l.OID}
		case LostTag:
			was.tags = map[string]string{l.Name: l.OID}
		case LostStash:
			was.stash = []refsEntry{{oid: l.OID}}
		case LostWorktree:
			was.worktrees = map[string]refsEntry{l.Name: {}}
		default:
			left = append(left, l)
			continue
		}
		lost, err := LostBetween(ctx, dir, was, was, now, tree)
		if err != nil {
			return nil, err
		}
		if len(lost) > 0 {
			left = append(left, l)
		}
	}
	return left, nil
}

// KeepLost keeps the objects of the losses below refs/ralph/, so that git does not collect them.
func KeepLost(ctx context.Context, dir, run string, all []Lost) error {
	var in strings.Builder
	for _, l := range all {
		if l.OID != "" {
			fmt.Fprintf(&in, "update %s%s/lost/%.12s %s\n", KeptRefs, run, l.OID, l.OID)
		}
	}
	return update(ctx, dir, in.String())
}

// refsQuote quotes a word for the shell if it needs that.
func refsQuote(word string) string {
	quoted, _ := syntax.Quote(word, syntax.LangBash) // fails only for a null byte
	return quoted
}

// comparison compares two views.
type comparison struct {
	root  string
	after RefsView
	tree  func() (string, error)
}

// branch compares one branch that moved or is gone. A zero Lost means that nothing is lost.
func (c *comparison) branch(ctx context.Context, name, old, now string) (Lost, error) {
	mine := name == c.after.Branch && now != "" // HEAD may be on a branch without commits
	args := []string{"rev-list", "--no-merges", "--format=%h%x00%s%x00%an%x00%ae%x00%at", old, "--not"}
	if mine {
		args = append(args, now)
	} else {
		args = append(args, "--branches", "--remotes", "--tags")
	}
	out, err := command.Line(ctx, c.root, args...)
	if err != nil {
		return Lost{}, fmt.Errorf("find lost commits of %s: %w", name, err)
	}
	var gone []commit
	if all := commits(out); len(all) > 0 {
		if gone, err = c.missing(ctx, all, old, now); err != nil {
			return Lost{}, fmt.Errorf("find lost commits of %s: %w", name, err)
		}
	}
	l := Lost{What: LostCommits, Name: name, OID: old, Gone: now == ""}
	switch {
	case len(gone) > 0:
	case now != "":
		return Lost{}, nil
	default:
		l.What, l.Harmless = LostBranch, true
		l.Text = fmt.Sprintf("the branch %s is gone, but not its commits; to restore it: git branch %s %.12s", name, refsQuote(name), old)
		return l, nil
	}
	var names []string
	for _, g := range gone {
		l.Commits = append(l.Commits, g.oid)
		names = append(names, fmt.Sprintf("%s %q", g.short, g.subject))
	}
	listed, restore := termtext.Some(names, 5), fmt.Sprintf("git branch ralph-rescue/%.7s %[1]s", old)
	if now == "" {
		restore = fmt.Sprintf("git branch %s %.12s", refsQuote(name), old)
	}
	where := "are on no branch any more"
	if now == "" {
		where += ", because the branch is gone"
	}
	if on, err := command.Line(ctx, c.root, "for-each-ref", "--contains", old, "--count=1", "--format=%(refname:short)",
		"refs/heads", "refs/remotes", "refs/tags"); err == nil && on != "" {
		where, restore = "are not on it any more, only on "+on, fmt.Sprintf("git merge %.12s", old)
	}
	l.Text = fmt.Sprintf("commits of %s %s: %s; to bring them back: %s", name, where, listed, restore)
	return l, nil
}

// commit is a commit, or what identifies a rewritten form of it.
type commit struct{ oid, short, subject, author string }

// commits reads what rev-list prints.
func commits(out string) (all []commit) {
	oid := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "commit "); ok && !strings.Contains(id, "\x00") {
			oid = id
		} else if f := strings.SplitN(line, "\x00", 3); len(f) == 3 {
			all = append(all, commit{oid, f[0], f[1], f[2]})
		}
	}
	return all
}

// missing returns those of the commits whose changes are gone. They were reachable from old. A branch that is there
// may have them in another form; one that is gone may have been merged in one commit into the one that is checked out.
func (c *comparison) missing(ctx context.Context, all []commit, old, now string) ([]commit, error) {
	targets := []string{now}
	if here := c.after.Head; now != here {
		targets = append(targets, here)
	}
	for _, target := range targets {
		if target == "" {
			continue
		}
		base, err := command.Line(ctx, c.root, "merge-base", old, target)
		if err != nil { // histories without a common commit
			if base, err = command.Line(ctx, c.root, "hash-object", "-t", "tree", "-w", "/dev/null"); err != nil { // the empty tree
				return nil, err
			}
		}
		rewritten, err := c.rewritten(ctx, base, target)
		if err != nil {
			return nil, err
		}
		if target == c.after.Head { // with what is not committed
			if target, err = c.tree(); err != nil {
				return nil, err
			}
		}
		was, err := c.patch(ctx, "diff", base, old)
		if err != nil {
			return nil, err
		}
		is, err := c.patch(ctx, "diff", base, target)
		if err != nil {
			return nil, err
		}
		var left []commit
		for _, one := range all {
			did, err := c.patch(ctx, "diff-tree", "--root", "-p", "--no-commit-id", one.oid)
			if err != nil {
				return nil, err
			}
			if !did.survives(was, is, rewritten[one.author] || rewritten[one.author+one.subject]) {
				left = append(left, one)
			}
		}
		if all = left; len(all) == 0 {
			break
		}
	}
	return all, nil
}

// rewritten returns the authors of the new commits, who and when: amend, rebase and cherry-pick keep them, and change
// the time of the commit. Within a second, only the subject shows it, so then it is part of the key.
func (c *comparison) rewritten(ctx context.Context, base, tip string) (map[string]bool, error) {
	rng := base + ".." + tip
	if kind, err := command.Line(ctx, c.root, "cat-file", "-t", base); err != nil || kind == "tree" {
		rng = tip
	}
	out, err := command.Line(ctx, c.root, "log", "--no-merges", "--format=%an%x00%ae%x00%at%x01%ct%x01%s", rng)
	authors := map[string]bool{}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x01", 3)
		if len(f) != 3 {
			continue
		}
		written, _ := strconv.Atoi(f[0][strings.LastIndexByte(f[0], 0)+1:])
		committed, _ := strconv.Atoi(f[1])
		if committed > written {
			authors[f[0]] = true
		}
		authors[f[0]+f[2]] = true
	}
	return authors, err
}

// patch is what a diff changes: lines with their sign, and what is no text, by file.
type patch map[string]map[string]bool

func (c *comparison) patch(ctx context.Context, args ...string) (patch, error) {
	args = append([]string{args[0], "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--full-index", "--ignore-submodules=dirty"}, args[1:]...)
	out, err := command.Line(ctx, c.root, append(args, "--")...)
	return parsePatch(out), err
}

func parsePatch(text string) patch {
	p, modes := patch{}, map[string]string{}
	file, index, inHunk := "", "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch name, head := strings.CutPrefix(line, "diff --git "); {
		case head:
			file, inHunk = name, false
			p[file] = map[string]bool{}
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && telling(line):
			p[file][line[:1]+strings.TrimSpace(line[1:])] = true
		case inHunk || file == "":
		case strings.HasPrefix(line, "index "):
			index = line
		case strings.HasPrefix(line, "Binary files "):
			_, to, _ := strings.Cut(index, "..")
			p[file]["binary "+to] = true
		case strings.HasPrefix(line, "new mode "), strings.HasPrefix(line, "deleted file "), strings.HasPrefix(line, "new file "):
			modes[file] = line
		}
	}
	for file, lines := range p {
		if len(lines) == 0 { // an empty file, or only its mode changed
			lines[file+modes[file]] = true
		}
	}
	return p
}

// telling reports whether a line of a hunk has words: a brace is in every file.
func telling(line string) bool {
	return len(line) > 1 && (line[0] == '+' || line[0] == '-') && strings.ContainsFunc(line, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	})
}

// lines returns all lines of the patch, whatever their file: it may have been renamed.
func (p patch) lines() map[string]bool {
	all := map[string]bool{}
	for _, lines := range p {
		maps.Copy(all, lines)
	}
	return all
}

// survives reports whether the changes of a commit are still there. was is what its branch had changed, is what the
// branch and the files change now, both since the last common commit. At least half of what the commit added, and what
// was not replaced later, must be in both; a commit that added nothing, half of what it removed. If the branch has the
// commit in a rewritten form, its lines may have been edited: then each of its files must still be changed.
func (p patch) survives(was, is patch, rewritten bool) bool {
	before, now := was.lines(), is.lines()
	var live, left [2]int // of what it removed, of all else
	touched := true
	for file, lines := range p {
		mine := false
		for line := range lines {
			if !before[line] {
				continue
			}
			mine = true
			kind := 1
			if line[0] == '-' {
				kind = 0
			}
			live[kind]++
			if now[line] {
				left[kind]++
			}
		}
		_, is := is[file]
		touched = touched && (is || !mine)
	}
	kind := 1
	if live[1] == 0 {
		kind = 0
	}
	return live[kind] == 0 || left[kind]*2 >= live[kind] || rewritten && touched
}
