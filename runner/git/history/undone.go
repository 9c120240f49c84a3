package history

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"ralph/runner/git"
	"ralph/runner/git/command"
)

// Undone returns the undone iterations of a run: those undone in the work tree only, or by
// a commit in HEAD that was not reverted. kept are the states of all runs.
func Undone(ctx context.Context, dir, run string, kept []Kept) (map[int]bool, error) {
	undone := map[int]bool{}
	for _, k := range kept {
		if k.Undone && k.Run == run {
			undone[k.Iteration] = true
		}
	}
	root, _ := git.Root(dir)
	if _, err := (command.Call{Dir: root}).Run(ctx, "rev-parse", "-q", "--verify", "HEAD"); err != nil ||
		len(kept) == 0 {
		return undone, ctx.Err() // no commit yet
	}
	since := "HEAD"
	if kept[0].Head != "" {
		since = kept[0].Head + "..HEAD"
	}
	out, err := command.Call{Dir: root}.Run(ctx, "log", "-z", "--reverse", "--format=%H%n%B", since)
	if err != nil {
		return nil, fmt.Errorf("find undone iterations: %w", err)
	}
	commits := map[string]map[int]bool{} // what each says of iterations
	for _, record := range splitNul(out) {
		oid, text, _ := strings.Cut(record, "\n")
		says := map[int]bool{}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if n, ok := strings.CutPrefix(line, undoTrailer+": "+run+"/"); ok {
				if i, err := strconv.Atoi(n); err == nil {
					says[i] = true
				}
			}
			for i, was := range commits[strings.TrimSuffix(strings.TrimPrefix(line, "This reverts commit "), ".")] {
				says[i] = !was
			}
		}
		maps.Copy(undone, says)
		commits[oid] = says
	}
	return undone, nil
}
