package history

import (
	"context"
	"fmt"
	"strings"

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

// Changes returns the names of the files that the iterations of a run changed, as often as they did. With lines, a regular
// expression, it returns only those in which lines that match were added or removed.
func Changes(ctx context.Context, dir, run, lines string) (files []string, err error) {
	all, err := List(ctx, dir, run)
	for _, k := range all {
		if k.Base == "" || k.Undone {
			continue
		}
		options := []string{"--name-only", "-z"}
		if lines != "" {
			options = append(options, "-G", lines)
		}
		out, err := Diff(ctx, dir, [2]string{k.Base, k.OID}, options...)
		if err != nil {
			return nil, err
		}
		files = append(files, strings.FieldsFunc(out, func(r rune) bool { return r == 0 })...)
	}
	return files, err
}
