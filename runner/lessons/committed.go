package lessons

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ralph/runner/git/command"
	"ralph/state/projectfs"
)

const (
	gitTimeout = 20 * time.Second
	maxFiles   = 200 // of a plan that is a folder
)

// committed are files of a plan, by their paths below the folder of the plan.
type committed map[string]string

// planOn returns the plan as it is committed on a branch, because the user has already checked out another one. nil:
// git does not have it, or it has uncommitted changes, which the checkout kept.
func planOn(project, branch, plan string) committed {
	ctx, done := context.WithTimeout(context.Background(), gitTimeout)
	defer done()
	rel, err := filepath.Rel(project, plan)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	git := func(args ...string) string {
		var out string
		if err == nil {
			out, err = command.Run(ctx, project, args...)
		}
		return out
	}
	ref := "refs/heads/" + branch
	changed := git("status", "--porcelain", "--", rel)
	names := strings.FieldsFunc(git("ls-tree", "-r", "-z", "--name-only", ref, "--", rel), func(r rune) bool {
		return r == 0
	})
	if err != nil || changed != "" || len(names) == 0 {
		return nil
	}
	files := committed{}
	for _, name := range names[:min(len(names), maxFiles)] {
		below, outside := filepath.Rel(filepath.Dir(rel), filepath.FromSlash(name))
		if outside == nil && filepath.IsLocal(below) {
			files[below] = git("show", ref+":./"+name)
		}
	}
	if err != nil {
		return nil
	}
	return files
}

// into writes the files into a folder.
func (c committed) into(in projectfs.Dir, dir string) error {
	for name, text := range c {
		path := filepath.Join(dir, name)
		if err := in.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("keep the plan: %w", err)
		}
		if err := in.Write(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("keep the plan: %w", err)
		}
	}
	return nil
}
