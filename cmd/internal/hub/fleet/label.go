package fleet

// This file says what a worker has and what a turn needs, and matches the two.

import (
	"slices"
	"strings"

	"ralph/state/option"
)

// Labels is what a worker has or a turn needs: sorted, each label once.
type Labels []string

// ParseLabels reads a list such as "gpu,linux".
func ParseLabels(text string) (Labels, error) { return option.Labels(text) }

// Line is the line of offers that need these labels: the name of its consumer, and a part of its subject.
func (l Labels) Line() string {
	if len(l) == 0 {
		return "any"
	}
	return "with-" + strings.Join(l, "-")
}

// Serves reports whether a worker with these labels may take offers from a line.
func (l Labels) Serves(line string) bool {
	if line == "any" {
		return true
	}
	need, ok := strings.CutPrefix(line, "with-")
	return ok && !slices.ContainsFunc(strings.Split(need, "-"), func(label string) bool {
		return !slices.Contains(l, label)
	})
}
