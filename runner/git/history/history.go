package history

import (
	"context"
	"fmt"
	"sort"

	"ralph/runner/git"
	"ralph/runner/git/command"
)

// Diff returns the patch between two kept states or commits. options are those of git
// diff.
func Diff(ctx context.Context, dir string, states [2]string, options ...string) (string, error) {
	root, _ := git.Root(dir)
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"}, options...)
	out, err := command.Call{Dir: root}.Run(ctx, append(args, states[0], states[1], "--")...)
	if err != nil {
		return "", fmt.Errorf("compare states: %w", err)
	}
	return out, nil
}

// Bisect returns the first bad state. states are in order, oldest first. The first must be good and the last bad;
// Bisect does not test these two. It stops if bad returns an error.
func Bisect(states []Kept, bad func(Kept) (bool, error)) (Kept, error) {
	var failed error
	first := 1 + sort.Search(len(states)-2, func(i int) bool {
		if failed != nil {
			return true
		}
		is, err := bad(states[i+1])
		failed = err
		return is
	})
	if failed != nil {
		return Kept{}, failed
	}
	return states[first], nil
}
