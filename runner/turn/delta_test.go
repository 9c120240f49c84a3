package turn

import (
	"testing"

	"ralph/runner/git"
)

func TestOf_thereAndBack_areTwoChanges(t *testing.T) {
	there := []git.Text{{Path: "a", Before: "1", After: "2", Existed: true, Exists: true}}
	back := []git.Text{{Path: "a", Before: "2", After: "1", Existed: true, Exists: true}}
	fresh := []git.Text{{Path: "a", After: "2", Exists: true}}
	seen := map[string]bool{}
	for _, texts := range [][]git.Text{there, back, fresh, append(back, there...)} {
		seen[deltaOf(1, texts)] = true
	}
	if len(seen) != 4 || seen[""] || deltaOf(1, there) != deltaOf(1, []git.Text{there[0]}) {
		t.Errorf("%v", seen)
	}
}

func TestOf_noTexts_isUnknown(t *testing.T) {
	if got := deltaOf(0, nil) + deltaOf(2, make([]git.Text, 1)); got != "" {
		t.Errorf("got %q", got)
	}
}
