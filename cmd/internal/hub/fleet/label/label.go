// Package label says what a worker has and what a turn needs, and matches the two.
package label

import (
	"fmt"
	"slices"
	"strings"
)

// Set is what a worker has or a turn needs: sorted, each label once.
type Set []string

// most is the largest number of labels in a set.
const most = 16

// Parse reads a list such as "gpu,linux".
func Parse(text string) (Set, error) {
	all := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '+' || r == ' ' })
	for _, label := range all {
		if len(label) > 32 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return nil, fmt.Errorf("the label %q: a label has up to 32 lower-case letters, digits and underscores",
				label)
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > most {
		return nil, fmt.Errorf("%d labels: there may be %d", len(all), most)
	}
	return all, nil
}

// Line is the line of offers that need these labels: the name of its consumer, and a part of its subject.
func (l Set) Line() string {
	if len(l) == 0 {
		return "any"
	}
	return "with-" + strings.Join(l, "-")
}

// Serves reports whether a worker with these labels may take offers from a line.
func (l Set) Serves(line string) bool {
	if line == "any" {
		return true
	}
	need, ok := strings.CutPrefix(line, "with-")
	return ok && !slices.ContainsFunc(strings.Split(need, "-"), func(label string) bool {
		return !slices.Contains(l, label)
	})
}
