package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"ralph/runner/git"
)

// Diff returns the patch from one kept state, or commit, to another. options
// are those of git diff.
func Diff(ctx context.Context, dir string, states [2]string, options ...string) (string, error) {
	root, _ := git.Root(dir)
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"}, options...)
	out, err := git.Call{Dir: root}.Run(ctx, append(args, states[0], states[1], "--")...)
	if err != nil {
		return "", fmt.Errorf("compare states: %w", err)
	}
	return out, nil
}

// Checkout writes the files of a kept state into the empty or missing folder
// dest, outside of the repository's work tree. The repository's own index and
// files stay as they are.
func Checkout(ctx context.Context, dir, oid, dest string) error {
	root, _ := git.Root(dir)
	temp, err := os.MkdirTemp("", "ralph-index-")
	if err != nil {
		return fmt.Errorf("check out: %w", err)
	}
	defer os.RemoveAll(temp)
	c := git.Call{Dir: root, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(temp, "index")}}
	if _, err := c.Run(ctx, "read-tree", oid); err != nil {
		return fmt.Errorf("check out: %w", err)
	}
	if _, err := c.Run(ctx, "checkout-index", "--all", "--quiet", "--prefix="+dest+"/"); err != nil {
		return fmt.Errorf("check out: %w", err)
	}
	return nil
}

// Bisect finds the first of the states, oldest first, that is bad, given that
// the first is good and the last is bad, which it does not ask again. It asks
// log2 times; an error of bad ends it.
func Bisect(states []Kept, bad func(Kept) (bool, error)) (Kept, error) {
	good, last := 0, len(states)-1
	for last-good > 1 {
		middle := (good + last) / 2
		is, err := bad(states[middle])
		if err != nil {
			return Kept{}, err
		}
		if is {
			last = middle
		} else {
			good = middle
		}
	}
	return states[last], nil
}
