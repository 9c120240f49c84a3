package slots

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"ralph/runner/git/command"
	"ralph/runner/task"
)

// candidate returns the key of the work of one of several candidates for a task.
func candidate(key string, n int) string {
	if n == 0 {
		return key
	}
	return key + "-" + strconv.Itoa(n+1)
}

// LostRef returns the ref that keeps the work of a candidate that was not chosen.
func LostRef(run string, iteration int) string {
	return fmt.Sprintf("refs/ralph-candidates/%s/%d", run, iteration)
}

// Lines counts the lines that the work adds and removes. A binary file counts as one.
func (w Work) Lines(ctx context.Context, s *Slot) (n int, err error) {
	if w.Commit == "" {
		return 0, nil
	}
	out, err := command.Run(ctx, s.Root, "diff", "--numstat", w.Base, w.Commit)
	if err != nil {
		return 0, fmt.Errorf("measure the work of slot %d: %w", s.N, err)
	}
	for line := range strings.Lines(out) {
		var added, removed int
		if _, err := fmt.Sscan(line, &added, &removed); err != nil {
			added = 1
		}
		n += added + removed
	}
	return n, nil
}

// Choose makes the work of one candidate that of the task. lost are the others, by the refs that
// keep them from now on. It changes all refs or none.
func (h *Home) Choose(ctx context.Context, t task.Task, won Work, lost map[string]Work) (Work, error) {
	var lines strings.Builder
	key, kept := h.Key(t), won.Commit == "" || won.Key == h.Key(t)
	for ref, w := range lost {
		kept = kept || w.Key == key && w.Commit != ""
		if w.Commit == "" {
			continue
		}
		fmt.Fprintf(&lines, "update %s %s\n", ref, w.Commit)
		if w.Key != key || won.Commit == "" {
			fmt.Fprintf(&lines, "delete %s\n", Ref(w.Key))
		}
	}
	if earlier, err := command.Run(ctx, h.root, "rev-parse", "--verify", "--quiet", Ref(key)); err == nil && !kept {
		// The candidate that should have continued the earlier work had not begun.
		fmt.Fprintf(&lines, "update refs/ralph-candidates/earlier/%s %s\n", key, strings.TrimSpace(earlier))
	}
	if won.Commit != "" {
		fmt.Fprintf(&lines, "update %s %s\n", Ref(key), won.Commit)
		if won.Key != key {
			fmt.Fprintf(&lines, "delete %s\n", Ref(won.Key))
		}
	}
	if lines.Len() > 0 {
		if _, err := (command.Call{Dir: h.root, Stdin: lines.String()}).Run(ctx, "update-ref", "--stdin"); err != nil {
			return won, fmt.Errorf("keep the candidates of %q: %w", t.ID, err)
		}
	}
	won.Key = key
	return won, nil
}
