package remote

// This file is the worker's end of `ralph turn --away`: it carries out a turn for a run on
// another machine. It keeps the project and its worktrees in the user's cache.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

const lockPoll = 20 * time.Millisecond

// Host is the machine that carries turns out.
type Host struct {
	Ralph string // its version
	Cache string // the user's cache folder
	Env   []string
	// Worker makes a worker with this environment.
	Worker func(env []string) *turn.Worker
}

// Turn carries out one turn. When in ends, so does its agent. If this machine cannot serve the run, Turn tells the run
// why and returns a *BadAssignmentError.
func (h Host) Turn(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, w := NewReader(in, MaxParcel), NewWriter(out)
	p, err := h.greet(ctx, r, w)
	if err != nil {
		_ = w.Send(Line{Hello: &Hello{Protocol: Protocol, Ralph: h.Ralph, Error: err.Error()}})
		return &BadAssignmentError{Why: err.Error()}
	}
	parcel, pack, err := receive(r)
	if err != nil || parcel == nil { // the run has gone
		return err
	}
	p.ahead = ahead(parcel.Now)
	go obey(r, cancel)
	end := End{}
	err = p.prepare(ctx, *parcel, pack)
	if err == nil {
		end, err = h.carryOut(ctx, p, *parcel, w)
	}
	back := ""
	if err == nil {
		late, done := stop.Outlast(ctx)
		defer done()
		if end.Head, end.Left, err = p.left(late); err == nil {
			back, err = Pack(late, p.root, []string{end.Head, end.Left}, []string{parcel.Head})
		}
	}
	if err != nil {
		end.Error, end.Head, end.Left = err.Error(), "", ""
	}
	if sent := w.SendPack(back); sent != nil {
		return errors.Join(err, sent)
	}
	return errors.Join(err, w.Send(Line{End: &end}))
}

// greet answers the run's hello.
func (h Host) greet(ctx context.Context, r *Reader, w *Writer) (*place, error) {
	l, err := r.Next()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read assignment: %w", err)
	case l.Hello == nil:
		return nil, errors.New("read assignment: the first line is not a greeting; only a run of ralph can use --away")
	}
	if err := Greet(*l.Hello, h.Ralph); err != nil {
		return nil, err
	}
	p, err := openPlace(ctx, h.Cache, l.Hello.Repo)
	if err != nil {
		return nil, err
	}
	has, err := p.has(ctx)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // empty: nobody knows
	return p, w.Send(Line{Hello: &Hello{Protocol: Protocol, Ralph: h.Ralph, Has: has, Host: host}})
}

// receive reads what the turn needs; nil: the run wants no turn.
func receive(r *Reader) (*Parcel, string, error) {
	var pack strings.Builder
	for {
		l, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, "", nil
		case err != nil:
			return nil, "", err
		case l.Pack != nil:
			if err := Collect(&pack, l.Pack); err != nil {
				return nil, "", err
			}
		case l.Do != "": // the run cancelled the turn
			return nil, "", nil
		case l.Parcel != nil:
			return l.Parcel, pack.String(), nil
		}
	}
}

// ahead returns by how much the clock here is ahead of the run's. It ignores less than a minute, because the message
// takes time, too.
func ahead(now time.Time) time.Duration {
	if by := time.Since(now); by.Abs() > time.Minute {
		return by
	}
	return 0
}

// obey ends the turn as the lines that follow its assignment say, and when they end. A newer run may send other lines,
// and more in a line.
func obey(r *Reader, cancel context.CancelCauseFunc) {
	for {
		text, err := r.message()
		var control struct{ Do string }
		_ = json.Unmarshal(text, &control) // a line that cannot be read asks for nothing
		switch control.Do {
		case "skip":
			cancel(&stop.Stopped{By: state.RequestSkip})
		case "abort":
			cancel(&stop.Stopped{By: state.RequestAbort})
		}
		if err != nil {
			cancel(&stop.Stopped{By: state.RequestAbort})
			return
		}
	}
}

// carryOut carries out the turn itself.
func (h Host) carryOut(ctx context.Context, p *place, parcel Parcel,
	w *Writer) (end End, err error) {
	a, err := p.localize(parcel)
	if err != nil {
		return end, err
	}
	tmp := filepath.Join(p.dir, "tmp")
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o700)); err != nil {
		return end, fmt.Errorf("prepare slot: %w", err)
	}
	worker := h.Worker(append(h.Env, "RALPH_SLOT="+strconv.Itoa(p.n), "TMPDIR="+tmp))
	worker.ClockOffset = p.ahead
	defer worker.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tell := func(e state.Event) {
		if err := w.Send(Line{Event: &e}); err != nil {
			cancel(err) // nobody is listening any more
		}
	}
	if err := (slots.Setup{Line: parcel.Setup, Root: p.root, Done: filepath.Join(p.dir, "setup")}).Run(ctx, worker, a, tell); err != nil {
		return end, err
	}
	res, err := worker.Run(ctx, a, tell)
	return End{Result: &res}, err
}

// localize returns the assignment with the paths of this machine.
func (p *place) localize(parcel Parcel) (turn.Assignment, error) {
	a := parcel.Assignment
	a.Dir = filepath.Join(p.root, parcel.Inside)
	a.LogDir = filepath.Join(p.dir, "logs")
	_ = os.RemoveAll(a.LogDir) // left by the previous turn
	if err := os.MkdirAll(a.LogDir, 0o700); err != nil {
		return a, fmt.Errorf("prepare slot: %w", err)
	}
	within := func(path string) (string, error) {
		if !local(path) {
			return "", fmt.Errorf("the assignment names %q, which is outside the worktree", path)
		}
		return filepath.Join(p.root, path), nil
	}
	var err error
	if a.Plan.Path != "" {
		if a.Plan.Path, err = within(a.Plan.Path); err != nil {
			return a, err
		}
	}
	for i, path := range a.Protect {
		if a.Protect[i], err = within(path); err != nil {
			return a, err
		}
	}
	if a.Sandbox.On() {
		a.Sandbox, err = a.Sandbox.For(a.Dir)
	}
	return a, err
}

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
	command.Unlock(p.root, "index", "HEAD")
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
	if head, err = command.Line(ctx, p.root, "rev-parse", "HEAD"); err != nil {
		return "", "", err
	}
	x, err := git.NewIndex(ctx, p.root, "HEAD")
	if err != nil {
		return "", "", err
	}
	defer x.Close()
	tree := ""
	if _, err = x.Run(ctx, "", "add", "--all"); err == nil {
		tree, err = x.Tree(ctx)
	}
	if err == nil {
		commit, err = git.CommitTree(ctx, p.root, tree, head, "what the turn left")
	}
	return head, commit, err
}

func local(path string) bool { return path == "" || filepath.IsLocal(path) }
