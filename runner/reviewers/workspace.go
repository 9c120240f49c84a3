package reviewers

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/git/replica"
	"ralph/runner/roles"
	"ralph/runner/sandbox"
	"ralph/runner/task"
	"ralph/runner/turn/protect"
	"ralph/state"
	"ralph/state/projectfs"
)

const (
	maxWatched  = 200_000  // files of the copy to compare
	maxEvidence = 20       // files of evidence
	maxFile     = 64 << 10 // bytes of a file of evidence to show
	maxCopied   = 16 << 20 // bytes of a file to copy
)

// workspace is where reviewers work (a copy of the project) and what ralph shows them.
type workspace struct {
	box sandbox.Contained // of dir
	roles.Case
	request  Request
	project  string // with the work: Request.Dir
	dir      string // a copy of it, or itself
	evidence string // the folder of evidence files, relative to the project
	copied   *replica.Replica
	before   git.Snapshot // of project
	tree     string       // git's tree of its files before the review; empty: git has none
	tools    toolLog
	plan     *protect.Bystander
	looked   git.Snapshot // of dir, when they began

	mu    sync.Mutex
	calls int
}

// Begin is called before a developer's turn. then is the phase that follows when the work is done; empty: the task is
// then done. Before the first attempt, it keeps the files as they are, for the diff that reviewers see.
func (p *Panel) Begin(ctx context.Context, t task.Task, r state.Reviewing) (now state.Reviewing, then string) {
	if len(t.Judges) > 0 && r.Judges == nil {
		r.Judges = t.Judges
	}
	if then = p.Plan(t, r).Next(""); then != "" && r.Base == "" {
		r.Base = p.base(ctx)
	}
	return r, then
}

// base keeps the files as they are now and returns the id of their tree; empty: outside git, or git failed.
func (p *Panel) base(ctx context.Context) string {
	snap, err := git.Observe(ctx, p.Dir)
	if err != nil || !snap.Repo {
		return ""
	}
	tree, err := snap.Tree(ctx)
	if err != nil {
		p.Log.Warn("reviewers will not see a diff of the change", "error", err)
	}
	return tree
}

// open copies the project as it is now. Outside git, reviewers work in the project itself.
func (p *Panel) open(ctx context.Context, s Request) (*workspace, error) {
	r := &workspace{request: s, project: s.Dir, dir: s.Dir, box: p.Sandbox,
		evidence: filepath.Join(state.DirName, "evidence", slug(s.Task.ID))}
	r.Case = roles.Case{Task: s.Task, Checks: s.Checks, Summary: s.Summary, Findings: s.Findings}
	for _, v := range s.Review.Verdicts {
		for _, reason := range v.Reasons {
			r.Before = append(r.Before, v.Name+": "+reason.String())
		}
	}
	r.readEvidence(p.Dir)
	var err error
	if r.before, err = git.Observe(ctx, s.Dir); err != nil && ctx.Err() == nil {
		return r, fmt.Errorf("read the state of the project: %w", err)
	}
	if r.before.Repo {
		tree, err := r.before.Tree(ctx)
		if err == nil {
			r.copied, err = replica.Make(ctx, replica.Home(s.Env), s.Dir, tree)
		}
		switch {
		case err == nil:
			r.dir, r.Copied, r.tree = r.copied.Dir, true, tree
			r.compare(ctx, s.Dir, tree)
			if r.box, err = p.Sandbox.For(r.dir); err != nil {
				return r, err
			}
		case ctx.Err() == nil:
			p.Log.Warn("cannot copy the project: reviewers work in the project itself", "error", err)
		}
	}
	if p.reports(s) && r.Copied {
		r.Head, r.Reports = roles.AIOSReview(s.Task), roles.AIOSReports
		p.handOff(ctx, s, roles.AIOSHandoff{From: "dev", To: "qa", Next: "review the story",
			Files: r.names(roles.AiosHandoffs)})
		r.before, err = git.Observe(ctx, s.Dir)
	}
	r.looked = r.look(ctx)
	r.plan = protect.Watch(s.Plan, s.LogDir, s.From.Iteration)
	return r, err
}

func (r *workspace) close() {
	if r.copied != nil {
		r.copied.Close()
	}
}

// compare sets Diff and Files to the changes for the task, without ralph's own files.
func (r *workspace) compare(ctx context.Context, dir, tree string) {
	base := r.request.Review.Base
	if base == "" {
		return
	}
	root, _ := command.Root(dir)
	diff := func(options ...string) string {
		args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"}, options...)
		out, err := command.Call{Dir: root}.Run(ctx,
			append(args, base, tree, "--", ".", ":(exclude,glob)**/"+state.DirName+"/**")...)
		if err != nil {
			return ""
		}
		return out
	}
	r.Diff = diff()
	r.Files = strings.Split(strings.TrimSpace(diff("--name-status")), "\n")
}

// names returns the changed files, except those in a folder.
func (r *workspace) names(except string) []string {
	var all []string
	for _, line := range r.Files {
		if _, name, _ := strings.Cut(line, "\t"); !strings.HasPrefix(name, path.Clean(except)+"/") {
			all = append(all, name)
		}
	}
	return all
}

// readEvidence reads the files that show the result: those in the task's evidence folder, and those that the task
// names.
func (r *workspace) readEvidence(dir string) {
	left := maxEvidence
	r.readFolder(dir, r.evidence, &left)
	named := filepath.FromSlash(r.request.Task.Evidence)
	if named == "" || !filepath.IsLocal(named) {
		return
	}
	info, err := projectfs.In(r.project).Lstat(filepath.Join(r.project, named))
	switch {
	case err != nil:
	case info.IsDir():
		r.readFolder(r.project, named, &left)
	case info.Mode().IsRegular():
		r.addEvidence(r.project, named, info)
	}
}

func (r *workspace) readFolder(dir, folder string, left *int) {
	_ = git.WalkFiles(filepath.Join(dir, folder), left, func(name string, info fs.FileInfo) error {
		r.addEvidence(dir, filepath.Join(folder, name), info)
		return nil
	})
}

func (r *workspace) addEvidence(dir, path string, info fs.FileInfo) {
	text := fmt.Sprintf("[%d bytes that are not text or too long: look at the file]", info.Size())
	if data, err := projectfs.In(dir).Read(filepath.Join(dir, path), maxFile); err == nil && utf8.Valid(data) {
		text = string(data)
	}
	r.Evidence = append(r.Evidence, roles.Evidence{Path: filepath.ToSlash(path), Text: text})
}

// Collect copies the evidence for a task from the worktree in which its developer worked.
func (p *Panel) Collect(from string, t task.Task) {
	folder := filepath.Join(state.DirName, "evidence", slug(t.ID))
	if t.ID == "" || from == p.Dir {
		return
	}
	if err := copyFiles(from, p.Dir, folder); err != nil {
		p.Log.Warn("cannot copy evidence", "error", err)
	}
}

// copyFiles copies the files of a folder from one project into another.
func copyFiles(from, to, folder string) error {
	theirs, ours := projectfs.In(from), projectfs.In(to)
	if _, err := theirs.ReadDir(filepath.Join(from, folder)); err != nil {
		return nil //nolint:nilerr // there are none
	}
	left := maxEvidence
	return git.WalkFiles(filepath.Join(from, folder), &left, func(name string, info fs.FileInfo) error {
		if !info.Mode().IsRegular() || info.Size() > maxCopied {
			return nil
		}
		data, err := theirs.Read(filepath.Join(from, folder, name), maxCopied)
		path := filepath.Join(to, folder, name)
		if err == nil {
			err = ours.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = ours.Write(path, data, 0o600)
		}
		return err
	})
}

// look returns the state of the files in the folder in which reviewers work. If it cannot be read, all have changed.
func (r *workspace) look(ctx context.Context) git.Snapshot {
	now, _ := git.ObserveFolder(context.WithoutCancel(ctx), r.dir, maxWatched)
	return now
}

// changed returns the files that reviewers changed in their copy, and those of the project that changed meanwhile.
func (r *workspace) changed(ctx context.Context) (own, disturbed []string) {
	own = r.looked.Compare(r.look(ctx)).Files
	if !r.Copied { // they worked in the project, so every change stays
		return nil, own
	}
	if now, err := git.Observe(ctx, r.project); err == nil {
		disturbed = r.before.Compare(now).Files
	}
	return own, disturbed
}

// alone calls a function while nothing else of the run executes.
func (r *workspace) alone(f func()) {
	if r.request.Exclusive == nil {
		f()
		return
	}
	r.request.Exclusive(f)
}

// called counts a call of an agent.
func (r *workspace) called() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls++; r.calls == 1 || r.request.Called == nil {
		return nil
	}
	var err error
	r.alone(func() { err = r.request.Called() })
	return err
}
