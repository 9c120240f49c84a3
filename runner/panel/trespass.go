package panel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ralph/runner/git/command"
	"ralph/runner/turn/edits"
	"ralph/state"
)

// hands are the tools of reviewers, of each call. A reviewer can write only while one of them runs; whatever
// changes at another time is a person's. The zero value has none. It is safe for concurrent use.
type hands struct {
	mu  sync.Mutex
	all []*edits.Tools
}

// of begins a call.
func (h *hands) of() *edits.Tools {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := &edits.Tools{}
	h.all = append(h.all, t)
	return t
}

// could reports whether a tool could write at a time.
func (h *hands) could(at time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.all, func(t *edits.Tools) bool { return t.Could(at) })
}

// putBack makes files of the project what they were before the review, if a reviewer's tool could have
// written them, and keeps the other text. It says what it did about each; a file that is not in the answer
// is as it is.
func (p *Panel) putBack(ctx context.Context, r *room, files []string) map[string]string {
	did := map[string]string{}
	root, _ := command.Root(r.project)
	if r.tree == "" || root == "" {
		return did
	}
	for _, file := range files {
		path := filepath.Join(root, filepath.FromSlash(file))
		if path == r.sitting.Plan || strings.HasPrefix(path, r.sitting.Plan+string(filepath.Separator)) {
			continue // changed by people and by `ralph task`, and kept by other means
		}
		at, there := written(path)
		if !r.hands.could(at) || !inside(root, path) {
			continue
		}
		kept, err := p.aside(r, file, path)
		if err == nil {
			err = restore(ctx, root, r.tree, file)
		}
		switch {
		case err != nil:
			p.Log.Warn("what a reviewer wrote is still there", "file", file, "error", err)
		case there && kept != "":
			did[file] = "; it is as before again, and the other text is in " + kept
		default:
			did[file] = "; it is as before again"
		}
	}
	return did
}

// written is when a path changed last: no program can set that time. If it is gone, the time of its folder.
func written(path string) (at time.Time, there bool) {
	var st unix.Stat_t
	there = unix.Lstat(path, &st) == nil
	if !there && unix.Lstat(filepath.Dir(path), &st) != nil {
		return time.Time{}, false
	}
	return time.Unix(st.Ctim.Unix()), there
}

// aside keeps the text of a file, and returns where; empty if there is none.
func (p *Panel) aside(r *room, file, path string) (kept string, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil //nolint:nilerr // a link, or nothing: there is no text
	}
	if info.Size() > maxCopied || r.sitting.LogDir == "" {
		return "", fmt.Errorf("there is no place to keep its %d bytes", info.Size())
	}
	data, err := readPlain(path)
	if err != nil {
		return "", err
	}
	logs := state.RunLogs{Dir: r.sitting.LogDir}
	return logs.Keep(fmt.Sprintf("%d.%s-%s", r.sitting.From.Iteration, "review", slug(file)), string(data))
}

// restore makes a file what it is in a tree.
func restore(ctx context.Context, root, tree, file string) error {
	call := command.Call{Dir: root}
	if out, err := call.Run(ctx, "ls-tree", "-z", "--name-only", tree, "--", ":(literal)"+file); err != nil || out == "" {
		if err != nil {
			return err
		}
		return os.Remove(filepath.Join(root, filepath.FromSlash(file))) // there was none
	}
	_, err := call.Run(ctx, "restore", "--quiet", "--source="+tree, "--worktree", "--", ":(literal)"+file)
	return err
}
