package crew

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs/lazy"
	"ralph/runner/git/command"
	"ralph/runner/slots"
)

// branch is the run's own branch, and the user's checkout that follows it.
type branch struct {
	Root  string // of the worktree in which results are merged
	User  string // root of the user's checkout
	Name  string // ralph/RUN, or another one
	Named bool   // by the user: it stays
	Leave bool   // the user's checkout does not follow
	Note  string // path of a file that exists while ralph moves the checkout

	users string // the user's branch when the run began, "HEAD" if there was none
}

// ref returns the branch's full name.
func (b *branch) ref() string { return "refs/heads/" + b.Name }

// Open creates the branch at the user's commit, or finds it again.
func (b *branch) Open(ctx context.Context) error {
	var err error
	if b.users, err = b.onBranch(ctx); err != nil {
		return err
	}
	if _, err := command.Line(ctx, b.User, "check-ref-format", b.ref()); err != nil {
		return &slots.UnfitError{Why: fmt.Sprintf("LAND_BRANCH: %q is no name for a branch", b.Name)}
	}
	if tip, _ := b.Tip(ctx); tip != "" {
		return b.continues(ctx, tip)
	}
	from, err := b.start(ctx)
	if err == nil {
		_, err = command.Line(ctx, b.User, "update-ref", b.ref(), from, "")
	}
	if err != nil {
		return fmt.Errorf("make branch %s: %w", b.Name, err)
	}
	return nil
}

// continues returns an error if the run cannot go on with a branch that the user has named.
func (b *branch) continues(ctx context.Context, tip string) error {
	if !b.Named {
		return nil
	}
	out, err := command.Run(ctx, b.User, "worktree", "list", "--porcelain")
	switch {
	case err != nil:
		return err
	case strings.Contains(out, "\nbranch "+b.ref()+"\n"):
		return &slots.UnfitError{Why: fmt.Sprintf("LAND_BRANCH: the branch %q is checked out; name another one, or check out "+
			"another one", b.Name)}
	case !b.contains(ctx, "HEAD", tip):
		return &slots.UnfitError{Why: fmt.Sprintf("LAND_BRANCH: the branch %q does not contain your commits; name another one, "+
			"or merge yours into it", b.Name)}
	}
	return nil
}

// start is where the run begins: the commit of the user, or what an earlier run has landed on top of it
// on a branch of its own.
func (b *branch) start(ctx context.Context) (string, error) {
	head, err := command.Line(ctx, b.User, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	out, err := command.Line(ctx, b.User, "for-each-ref", "--sort=-committerdate", "--contains", head,
		"--format=%(objectname)", "refs/heads/ralph/")
	if tip, _, _ := strings.Cut(out, "\n"); err == nil && tip != "" {
		return tip, nil
	}
	return head, nil
}

func (b *branch) onBranch(ctx context.Context) (string, error) {
	return command.Line(ctx, b.User, "rev-parse", "--symbolic-full-name", "HEAD")
}

// Tip returns the commit of the branch.
func (b *branch) Tip(ctx context.Context) (string, error) {
	return command.Line(ctx, b.User, "rev-parse", "--verify", "--quiet", b.ref()+"^{commit}")
}

func (b *branch) contains(ctx context.Context, commit, in string) bool {
	_, err := command.Line(ctx, b.User, "merge-base", "--is-ancestor", commit, in)
	return err == nil
}

// Refresh moves the branch forward to what the user has committed meanwhile, unless the run has commits that the user
// does not have.
func (b *branch) Refresh(ctx context.Context) (tip string, err error) {
	tip, err = b.Tip(ctx)
	if err != nil {
		return "", fmt.Errorf("branch %s is gone: %w", b.Name, err)
	}
	head, err := command.Line(ctx, b.User, "rev-parse", "HEAD")
	on, _ := b.onBranch(ctx)
	if err != nil || b.Leave || on != b.users || head == tip || !b.contains(ctx, tip, head) {
		return tip, nil //nolint:nilerr // the branch does not follow a checkout that git cannot read
	}
	return head, b.Land(ctx, tip, head)
}

// errMoved is the error if somebody else has moved the branch.
var errMoved = errors.New("somebody else has moved the run's branch")

// Land moves the branch from one commit to another, if it still points to the first.
func (b *branch) Land(ctx context.Context, from, to string) error {
	if _, err := command.Line(ctx, b.User, "update-ref", "-m", "ralph: land", b.ref(), to, from); err != nil {
		if now, _ := b.Tip(ctx); now != from {
			return errMoved
		}
		return fmt.Errorf("land on %s: %w", b.Name, err)
	}
	return nil
}

// Follow moves the user's branch and files forward to the tip. why tells the user what prevents that; empty: nothing.
func (b *branch) Follow(ctx context.Context) (why string) {
	tip, err := b.Tip(ctx)
	on, err2 := b.onBranch(ctx)
	head, err3 := command.Line(ctx, b.User, "rev-parse", "HEAD")
	switch {
	case b.Leave || errors.Join(err, err2, err3) != nil || head == tip:
		return ""
	case on != b.users:
		return "you are on another branch than when the run began"
	case !b.contains(ctx, head, tip):
		return "your branch has commits that the run does not have"
	}
	if err := os.WriteFile(b.Note, []byte(tip), 0o600); err != nil { // file: in the cache
		return err.Error()
	}
	defer os.Remove(b.Note) // on an error, Recover finds nothing to do
	if _, err := command.Line(ctx, b.User, "merge", "--quiet", "--ff-only", "--no-autostash", tip); err != nil {
		return "your uncommitted changes conflict with it"
	}
	return ""
}

// Behind counts the commits that the user's checkout does not have.
func (b *branch) Behind(ctx context.Context) int {
	out, err := command.Line(ctx, b.User, "rev-list", "--count", "HEAD.."+b.ref())
	n := 0
	if err == nil {
		_, _ = fmt.Sscan(out, &n)
	}
	return n
}

// Close deletes the branches of runs whose commits the user has.
func (b *branch) Close(ctx context.Context) {
	out, err := command.Line(ctx, b.User, "for-each-ref", "--merged", "HEAD", "--format=%(objectname) %(refname)",
		"refs/heads/ralph/")
	for line := range strings.Lines(out) {
		oid, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err == nil && (name == b.ref() && !b.Named || ofRun().MatchString(name)) {
			_, _ = command.Line(ctx, b.User, "update-ref", "-d", name, oid) // nothing is lost if it stays
		}
	}
}

// ofRun matches the branches of runs, but not those that people made.
var ofRun = lazy.Regexp(`^refs/heads/ralph/\d{8}-\d{6}-[0-9a-f]{4}$`)

// pick applies a commit on top of another one. conflict names the files with conflicts.
func (b *branch) pick(ctx context.Context, onto, commit string) (picked string, conflict []string, err error) {
	if err := b.checkout(ctx, onto); err != nil {
		return "", nil, err
	}
	if parent, err := command.Line(ctx, b.Root, "rev-parse", commit+"^"); err == nil && parent == onto {
		return commit, nil, b.checkout(ctx, commit)
	}
	c := command.Call{Dir: b.Root, Env: command.Identity(ctx, b.Root)}
	if conflict, err = slots.Pick(ctx, c, commit); err != nil || len(conflict) > 0 {
		_, back := command.Line(ctx, b.Root, "reset", "--quiet", "--hard", onto)
		return "", conflict, errors.Join(err, back)
	}
	if _, err = c.Run(ctx, "commit", "--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "--reuse-message",
		commit); err != nil {
		return "", nil, err
	}
	picked, err = command.Line(ctx, b.Root, "rev-parse", "HEAD")
	return picked, nil, err
}

func (b *branch) checkout(ctx context.Context, commit string) error {
	_, err := command.Line(ctx, b.Root, "checkout", "--quiet", "--force", "--detach", commit)
	return err
}

// Recover restores the user's checkout if ralph was killed while git moved it. It restores the files that git had
// already changed, and leaves all others as they are.
func (b *branch) Recover(ctx context.Context) error {
	b.unlock()
	tip, err := os.ReadFile(b.Note) // file: in the cache
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	command.Unlock(b.User, "index", "HEAD", "ORIG_HEAD", "MERGE_HEAD")
	if on, err := b.onBranch(ctx); err == nil && on != "HEAD" {
		command.Unlock(b.User, on)
	}
	if err == nil {
		err = b.restore(ctx, string(tip))
	}
	if err != nil {
		return fmt.Errorf("restore the checkout after a kill: %w", err)
	}
	_ = os.Remove(b.Note)
	return nil
}

// restore restores the files that are already as in the tip.
func (b *branch) restore(ctx context.Context, tip string) error {
	out, err := command.Run(ctx, b.User, "diff-tree", "-r", "-z", "--no-renames", "HEAD", tip)
	if err != nil {
		return err
	}
	fields := strings.Split(out, "\x00")
	var back, added []string
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(fields[i]) // :mode mode oid oid status
		if len(f) < 5 {
			break
		}
		name := fields[i+1]
		now, err := command.Line(ctx, b.User, "hash-object", "--", name)
		_, gone := os.Lstat(filepath.Join(b.User, name))
		switch {
		case f[4] == "A" && err == nil && now == f[3]:
			added = append(added, name)
		case f[4] == "D" && gone != nil, f[4] != "A" && err == nil && now == f[3]:
			back = append(back, name)
		}
	}
	if all := slices.Concat(back, added); len(all) > 0 {
		_, err = command.Run(ctx, b.User, append([]string{"--literal-pathspecs", "reset", "-q", "HEAD", "--"}, all...)...)
	}
	if err == nil && len(back) > 0 {
		_, err = command.Run(ctx, b.User, append([]string{"--literal-pathspecs", "checkout", "-q", "HEAD", "--"}, back...)...)
	}
	for _, name := range added {
		err = errors.Join(err, os.Remove(filepath.Join(b.User, name)))
	}
	return err
}

// unlock removes the locks of ralph's own refs that a kill left.
func (b *branch) unlock() {
	common := command.CommonDir(b.User)
	for _, pattern := range []string{"refs/ralph-work/*.lock", "refs/heads/ralph/*.lock"} {
		all, _ := fs.Glob(os.DirFS(common), pattern)
		for _, lock := range all {
			_ = os.Remove(filepath.Join(common, lock))
		}
	}
}
