package intact

import (
	"context"

	"ralph/runner/audit"
	"ralph/runner/git/hidden"
)

// Hidden returns what git hides now and did not hide when the view was taken.
func Hidden(ctx context.Context, v hidden.View, head string, rules bool) (hidden.View, []audit.Hidden, error) {
	now, entries, err := v.Since(ctx, head, rules)
	var all []audit.Hidden
	for _, e := range entries {
		all = append(all, audit.Hidden(e))
	}
	return now, all, err
}
