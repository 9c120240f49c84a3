package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/runner/git"
	"ralph/runner/git/command"
)

// Cut is an iteration that was cut off and that the resumed run repeats.
type Cut struct {
	Run       string
	Iteration int
	// Killed is the last sign of life of a killed runner; zero: it recorded its end itself.
	Killed time.Time
}

// Begun returns the state in which the iteration began, so that diff and undo also cover what the interrupted call did,
// but not what people have changed since. The zero State: it was not kept.
func Begun(ctx context.Context, dir string, c Cut) (git.State, error) {
	all, err := List(ctx, dir, c.Run)
	if err != nil || len(all) == 0 {
		return git.State{}, err
	}
	root, _ := git.Root(dir)
	last := all[len(all)-1]
	base, left := last.OID, last.OID
	ended := func(k Kept) bool { return k.Iteration == c.Iteration && !k.Start && !k.Undone }
	if i := slices.IndexFunc(all, ended); i >= 0 {
		base, left = all[i].Base, all[i].OID
	} else if c.Killed.IsZero() {
		return git.State{}, nil
	}
	edited, err := edited(ctx, root, left)
	if err != nil {
		return git.State{}, err
	}
	if left == base { // nothing recorded what the killed call left, so go by the times of files
		ended := c.Killed.Add(git.KillGrace)
		edited = slices.DeleteFunc(edited, func(path string) bool { return !git.ChangedSince(root, path, ended) })
	}
	s := git.State{Run: c.Run, Iteration: c.Iteration, Start: true, Base: base}
	if len(edited) > 0 {
		if err := git.KeepFiles(ctx, root, edited, nil, s); err != nil {
			return git.State{}, err
		}
		out, err := command.Call{Dir: root}.Run(ctx, "rev-parse",
			fmt.Sprintf("%s%s/%d-start", git.KeptRefs, c.Run, c.Iteration))
		if err != nil {
			return git.State{}, fmt.Errorf("find where iteration %d began: %w", c.Iteration, err)
		}
		s.Base = out[:len(base)]
	}
	// The resumed run keeps its own start under the same name. Without a second ref, git would collect this one.
	_, err = command.Call{Dir: root}.Run(ctx, "update-ref",
		fmt.Sprintf("%s%s/%d-begun", git.KeptRefs, c.Run, c.Iteration), s.Base)
	return s, err
}

// edited returns the files of the work tree that differ from a kept state.
func edited(ctx context.Context, root, kept string) ([]string, error) {
	changed, err := command.Call{Dir: root}.Run(ctx, "diff", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--name-only", "-z", kept, "--")
	if err != nil {
		return nil, fmt.Errorf("compare with a kept state: %w", err)
	}
	untracked, err := command.Call{Dir: root}.Run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, fmt.Errorf("compare with a kept state: %w", err)
	}
	files := slices.DeleteFunc(append(splitNul(changed), splitNul(untracked)...),
		func(f string) bool { return strings.HasSuffix(f, "/") }) // a nested repository
	return differing(ctx, root, kept, files)
}
