package git

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"ralph/logs/termtext"
)

// LostBetween returns what before had and after does not have. tree is the tree of the files as they are now; it is called at
// most once, and only if commits are gone. first is what the repository had when the run began: the run may remove
// branches, tags, stash entries and worktrees of its own. If no branch has moved, Lost runs no git process.
//
// A commit is gone if its branch does not have it any more, and neither a rewritten form of it: see survives. Commits
// of any branch but the one that is checked out may also be on another branch, in a tag or on a remote.
func LostBetween(ctx context.Context, dir string, first, before, after RefsView, tree func() (string, error)) ([]Lost, error) {
	c := comparison{before: before, after: after, tree: sync.OnceValues(tree)}
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
	if strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@=", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// comparison compares two views.
type comparison struct {
	root          string
	before, after RefsView
	tree          func() (string, error)
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
	out, err := run(ctx, c.root, args...)
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
	if on, err := run(ctx, c.root, "for-each-ref", "--contains", old, "--count=1", "--format=%(refname:short)",
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
		base, err := run(ctx, c.root, "merge-base", old, target)
		if err != nil { // histories without a common commit
			if base, err = run(ctx, c.root, "hash-object", "-t", "tree", "-w", "/dev/null"); err != nil { // the empty tree
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
	if kind, err := run(ctx, c.root, "cat-file", "-t", base); err != nil || kind == "tree" {
		rng = tip
	}
	out, err := run(ctx, c.root, "log", "--no-merges", "--format=%an%x00%ae%x00%at%x01%ct%x01%s", rng)
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
	out, err := run(ctx, c.root, append(args, "--")...)
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
