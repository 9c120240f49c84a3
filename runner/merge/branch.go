package merge

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ralph/runner/git/command"
	"ralph/runner/slots"
)

// Branch is the run's own branch, ralph/RUN, and the user's checkout that follows it.
type Branch struct {
	Root  string // of the worktree in which results are joined
	User  string // root of the user's checkout
	Name  string // ralph/RUN
	Leave bool   // the user's checkout does not follow
	Note  string // path of a file that is there while the checkout is moved on; empty: it is not noted

	users string // the user's branch when the run began, "HEAD" if there was none
}

// ref is the branch's full name.
func (b *Branch) ref() string { return "refs/heads/" + b.Name }

// Open makes the branch where the user is, or finds it again.
func (b *Branch) Open(ctx context.Context) error {
	var err error
	if b.users, err = b.onBranch(ctx); err != nil {
		return err
	}
	if tip, _ := b.Tip(ctx); tip != "" {
		return nil
	}
	from, err := b.left(ctx)
	if err == nil {
		_, err = b.run(ctx, b.User, "update-ref", b.ref(), from, "")
	}
	if err != nil {
		return fmt.Errorf("make branch %s: %w", b.Name, err)
	}
	return nil
}

// left is where the run begins: the commit of the user, or what an earlier run has landed on top of it
// on a branch of its own.
func (b *Branch) left(ctx context.Context) (string, error) {
	head, err := b.run(ctx, b.User, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	out, err := b.run(ctx, b.User, "for-each-ref", "--sort=-committerdate", "--contains", head,
		"--format=%(objectname)", "refs/heads/ralph/")
	if tip, _, _ := strings.Cut(out, "\n"); err == nil && tip != "" {
		return tip, nil
	}
	return head, nil
}

func (b *Branch) onBranch(ctx context.Context) (string, error) {
	return b.run(ctx, b.User, "rev-parse", "--symbolic-full-name", "HEAD")
}

func (b *Branch) run(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := command.Run(ctx, dir, args...)
	return strings.TrimSpace(out), err
}

// Tip is the commit of the branch.
func (b *Branch) Tip(ctx context.Context) (string, error) {
	return b.run(ctx, b.User, "rev-parse", "--verify", "--quiet", b.ref()+"^{commit}")
}

func (b *Branch) contains(ctx context.Context, commit, in string) bool {
	_, err := b.run(ctx, b.User, "merge-base", "--is-ancestor", commit, in)
	return err == nil
}

// Refresh takes over what the user has committed meanwhile, if nothing of the run stands beside it.
func (b *Branch) Refresh(ctx context.Context) (tip string, err error) {
	tip, err = b.Tip(ctx)
	if err != nil {
		return "", fmt.Errorf("branch %s is gone: %w", b.Name, err)
	}
	head, err := b.run(ctx, b.User, "rev-parse", "HEAD")
	on, _ := b.onBranch(ctx)
	if err != nil || b.Leave || on != b.users || head == tip || !b.contains(ctx, tip, head) {
		return tip, nil //nolint:nilerr // a checkout that cannot be read is not followed
	}
	return head, b.Land(ctx, tip, head)
}

// ErrMoved says that somebody else has moved the branch.
var ErrMoved = errors.New("somebody else has moved the run's branch")

// Land moves the branch from one commit to another, if it is still there.
func (b *Branch) Land(ctx context.Context, from, to string) error {
	if _, err := b.run(ctx, b.User, "update-ref", "-m", "ralph: land", b.ref(), to, from); err != nil {
		if now, _ := b.Tip(ctx); now != from {
			return ErrMoved
		}
		return fmt.Errorf("land on %s: %w", b.Name, err)
	}
	return nil
}

// Follow moves the user's branch and files forward to the tip. why says what keeps them from it,
// for the user; empty: nothing.
func (b *Branch) Follow(ctx context.Context) (why string) {
	tip, err := b.Tip(ctx)
	on, err2 := b.onBranch(ctx)
	head, err3 := b.run(ctx, b.User, "rev-parse", "HEAD")
	switch {
	case b.Leave || errors.Join(err, err2, err3) != nil || head == tip:
		return ""
	case on != b.users:
		return "you are on another branch than when the run began"
	case !b.contains(ctx, head, tip):
		return "your branch has commits that the run does not have"
	}
	if err := b.begin(tip); err != nil {
		return err.Error()
	}
	defer b.end()
	if _, err := b.run(ctx, b.User, "merge", "--quiet", "--ff-only", "--no-autostash", tip); err != nil {
		return "your uncommitted changes are in the way"
	}
	return ""
}

// Behind counts the commits that the user's checkout does not have.
func (b *Branch) Behind(ctx context.Context) int {
	out, err := b.run(ctx, b.User, "rev-list", "--count", "HEAD.."+b.ref())
	n := 0
	if err == nil {
		_, _ = fmt.Sscan(out, &n)
	}
	return n
}

// Close deletes the branches of runs of which the user has all.
func (b *Branch) Close(ctx context.Context) {
	out, err := b.run(ctx, b.User, "for-each-ref", "--merged", "HEAD", "--format=%(objectname) %(refname)",
		"refs/heads/ralph/")
	for line := range strings.Lines(out) {
		oid, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err == nil && (name == b.ref() || ofRun().MatchString(name)) {
			_, _ = b.run(ctx, b.User, "update-ref", "-d", name, oid) // nothing is lost if it stays
		}
	}
}

// ofRun tells the branches of runs from those that people have made.
var ofRun = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^refs/heads/ralph/\d{8}-\d{6}-[0-9a-f]{4}$`) })

// pick puts a commit on top of another one. conflict names the files that do not fit.
func (b *Branch) pick(ctx context.Context, onto, commit string) (picked string, conflict []string, err error) {
	if err := b.checkout(ctx, onto); err != nil {
		return "", nil, err
	}
	if parent, err := b.run(ctx, b.Root, "rev-parse", commit+"^"); err == nil && parent == onto {
		return commit, nil, b.checkout(ctx, commit)
	}
	c := command.Call{Dir: b.Root, Env: command.Identity(ctx, b.Root)}
	if conflict, err = slots.Pick(ctx, c, commit); err != nil || len(conflict) > 0 {
		_, back := b.run(ctx, b.Root, "reset", "--quiet", "--hard", onto)
		return "", conflict, errors.Join(err, back)
	}
	if _, err = c.Run(ctx, "commit", "--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "--reuse-message",
		commit); err != nil {
		return "", nil, err
	}
	picked, err = b.run(ctx, b.Root, "rev-parse", "HEAD")
	return picked, nil, err
}

func (b *Branch) checkout(ctx context.Context, commit string) error {
	_, err := b.run(ctx, b.Root, "checkout", "--quiet", "--force", "--detach", commit)
	return err
}
