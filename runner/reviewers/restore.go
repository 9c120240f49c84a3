package reviewers

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ralph/runner/git/command"
	"ralph/runner/turn/edits"
	"ralph/state"
	"ralph/state/projectfs"
)

// toolLog records when the tools of reviewers ran, for each call. A reviewer can write only while one of them runs; a
// person made every other change. The zero value is empty. It is safe for concurrent use.
type toolLog struct {
	mu  sync.Mutex
	all []*edits.Tools
}

// begin starts the record of a call.
func (h *toolLog) begin() *edits.Tools {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := &edits.Tools{}
	h.all = append(h.all, t)
	return t
}

// couldWrite reports whether a tool was running at a time.
func (h *toolLog) couldWrite(at time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.all, func(t *edits.Tools) bool { return t.CouldWrite(at) })
}

// putBack restores the files of the project that a reviewer's tool could have written, and keeps what was written in
// the log folder. It returns what it did with each; it did nothing with a file that is not in the map.
func (p *Panel) putBack(ctx context.Context, r *workspace, files []string) map[string]string {
	did := map[string]string{}
	root, _ := command.Root(r.project)
	if r.tree == "" || root == "" {
		return did
	}
	for _, file := range files {
		path := filepath.Join(root, filepath.FromSlash(file))
		plan := r.request.Plan.Path
		if path == plan || strings.HasPrefix(path, plan+string(filepath.Separator)) {
			continue // people and `ralph task` change the plan too: see protect.Bystander
		}
		at, there := edits.ChangedAt(path)
		if _, err := projectfs.In(root).Lstat(path); projectfs.Refused(err) != nil || !r.tools.couldWrite(at) {
			continue
		}
		kept, err := p.aside(r, root, file)
		if err == nil {
			err = restore(ctx, root, r.tree, file)
		}
		switch {
		case err != nil:
			p.Log.Warn("cannot undo what a reviewer wrote", "file", file, "error", err)
		case there && kept != "":
			did[file] = "; ralph restored it and kept the other version in " + kept
		default:
			did[file] = "; ralph restored it"
		}
	}
	return did
}

// aside copies the text of a file into the log folder and returns the path of the copy; empty if there is no text.
func (p *Panel) aside(r *workspace, root, file string) (kept string, err error) {
	in := projectfs.In(root)
	path := in.Path(file)
	info, err := in.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil //nolint:nilerr // a link, or nothing: there is no text
	}
	if info.Size() > maxCopied || r.request.LogDir == "" {
		return "", fmt.Errorf("cannot keep a copy of its %d bytes", info.Size())
	}
	data, err := in.Read(path, maxCopied)
	if err != nil {
		return "", err
	}
	logs := state.RunLogs{Dir: r.request.LogDir}
	return logs.Keep(fmt.Sprintf("%d.%s-%s", r.request.From.Iteration, "review", slug(file)), string(data))
}

// restore gives a file the content that it has in a tree.
func restore(ctx context.Context, root, tree, file string) error {
	call := command.Call{Dir: root}
	if out, err := call.Run(ctx, "ls-tree", "-z", "--name-only", tree, "--", ":(literal)"+file); err != nil ||
		out == "" {
		if err != nil {
			return err
		}
		in := projectfs.In(root)
		return in.Remove(in.Path(file)) // the file is new
	}
	_, err := call.Run(ctx, "restore", "--quiet", "--source="+tree, "--worktree", "--", ":(literal)"+file)
	return err
}
