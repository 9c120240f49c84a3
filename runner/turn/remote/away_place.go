package remote

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"ralph/runner/git/command"
)

// maxSlots limits how many turns of one project this machine carries out at the same time.
const maxSlots = 64

// maxHas limits how many commits a worker names to the run.
const maxHas = 100

const refs = "refs/ralph-away/"

// outside is a folder in which git finds no repository. The home folder may be in one.
const outside = "/"

// place is where this machine keeps one project, and the worktree of one turn.
type place struct {
	top  string // of the project
	repo string
	n    int
	dir  string // of the turn
	root string // of the worktree
	lock *flock.Flock

	ahead time.Duration // how far the clock of this machine is ahead of the run's
}

// openPlace finds a slot that no other turn uses. It is free again when this process ends.
func openPlace(ctx context.Context, cache, name string) (*place, error) {
	if ok, err := regexp.MatchString(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,150}$`, name); err != nil || !ok {
		return nil, fmt.Errorf("the project name %q is not valid: use letters, digits, dots, dashes and underscores",
			name)
	}
	p := &place{top: filepath.Join(cache, "ralph", "away", name)}
	p.repo = filepath.Join(p.top, "repo")
	if err := os.MkdirAll(p.repo, 0o700); err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	err := p.alone(ctx, func() error {
		if _, err := os.Stat(filepath.Join(p.repo, ".git", "HEAD")); err == nil {
			return nil
		}
		_, err := command.Run(ctx, outside, "init", "--quiet", p.repo)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	for p.n = 1; p.n <= maxSlots; p.n++ {
		p.dir = filepath.Join(p.top, strconv.Itoa(p.n))
		if err := os.MkdirAll(filepath.Join(p.dir, "tmp"), 0o700); err != nil {
			return nil, fmt.Errorf("open slot: %w", err)
		}
		p.lock = flock.New(filepath.Join(p.dir, "lock"))
		if ok, err := p.lock.TryLock(); err != nil {
			return nil, fmt.Errorf("open slot: %w", err)
		} else if ok {
			for _, name := range []string{"index", "index.lock"} { // of a git that was killed; see left
				_ = os.Remove(filepath.Join(p.dir, name))
			}
			return p, nil
		}
	}
	return nil, fmt.Errorf("all %d slots of this project are in use on this machine", maxSlots)
}

// alone runs f while no other turn changes the repository.
func (p *place) alone(ctx context.Context, f func() error) error {
	lock := flock.New(filepath.Join(p.top, "lock"))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return err
	}
	defer lock.Unlock()
	return f()
}

// has returns commits that the repository has.
func (p *place) has(ctx context.Context) ([]string, error) {
	out, err := command.Run(ctx, p.repo, "for-each-ref", "--sort=-committerdate", "--count="+strconv.Itoa(maxHas),
		"--format=%(objectname)", refs)
	return strings.Fields(out), err
}

// prepare checks out the commit of the parcel and adds the user's files.
func (p *place) prepare(ctx context.Context, parcel Parcel, pack string) error {
	if filepath.Base(parcel.Name) != parcel.Name || !filepath.IsLocal(parcel.Name) || !local(parcel.Inside) {
		return fmt.Errorf("the run sent the folder %q, which leads out of the worktree",
			filepath.Join(parcel.Name, parcel.Inside))
	}
	p.root = filepath.Join(p.dir, parcel.Name)
	err := p.alone(ctx, func() error {
		if err := Unpack(ctx, p.repo, pack, parcel.Head); err != nil {
			return err
		}
		_, err := command.Run(ctx, p.repo, "update-ref", refs+strconv.Itoa(p.n), parcel.Head)
		return err
	})
	if err != nil {
		return err
	}
	if err := p.checkout(ctx, parcel.Head); err != nil {
		return err
	}
	_ = os.RemoveAll(filepath.Join(p.root, parcel.Inside, ".ralph"))
	if _, err := command.Run(ctx, p.root, "reset", "--quiet", "--hard"); err != nil {
		return err
	}
	return p.fill(parcel.Files)
}

func (p *place) checkout(ctx context.Context, head string) error {
	if _, err := os.Stat(filepath.Join(p.root, ".git")); err != nil {
		return p.alone(ctx, func() error {
			_ = os.RemoveAll(p.root) // left by a killed turn
			_, err := command.Run(ctx, p.repo, "worktree", "add", "--force", "--force", "--detach", "--quiet",
				p.root, head)
			return err
		})
	}
	meta := command.MetaDir(p.root)
	for _, name := range []string{"index.lock", "HEAD.lock"} { // of git processes that were killed
		_ = os.Remove(filepath.Join(meta, name))
	}
	_, err := command.Run(ctx, p.root, "checkout", "--quiet", "--force", "--detach", head)
	if err == nil {
		_, err = command.Run(ctx, p.root, "clean", "-ffdq")
	}
	return err
}

// fill writes the user's files into the worktree.
func (p *place) fill(files []File) error {
	tree, err := os.OpenRoot(p.root) // it follows no link that leads out
	if err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	defer tree.Close()
	for _, f := range files {
		if !filepath.IsLocal(f.Path) || f.Path == ".git" || strings.HasPrefix(f.Path, ".git/") {
			return fmt.Errorf("write files: %q is outside the worktree", f.Path)
		}
		if err := tree.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return fmt.Errorf("write files: %w", err)
		}
		if err := tree.WriteFile(f.Path, f.Data, fs.FileMode(f.Mode)&0o777|0o600); err != nil {
			return fmt.Errorf("write files: %w", err)
		}
	}
	return nil
}

// left makes a commit of the worktree as it is, on top of its HEAD, and moves no branch.
func (p *place) left(ctx context.Context) (head, commit string, err error) {
	head, err = command.Run(ctx, p.root, "rev-parse", "HEAD")
	if err != nil {
		return "", "", err
	}
	head = strings.TrimSpace(head)
	index := filepath.Join(p.dir, "index")
	defer os.Remove(index)
	c := command.Call{Dir: p.root, Env: append(command.Identity(ctx, p.root), "GIT_INDEX_FILE="+index)}
	var tree string
	for _, args := range [][]string{{"read-tree", "HEAD"}, {"add", "--all"}, {"write-tree"}} {
		if tree, err = c.Run(ctx, args...); err != nil {
			return "", "", err
		}
	}
	commit, err = c.Run(ctx, "commit-tree", strings.TrimSpace(tree), "-p", head, "-m", "what the turn left")
	return head, strings.TrimSpace(commit), err
}

func local(path string) bool { return path == "" || filepath.IsLocal(path) }
