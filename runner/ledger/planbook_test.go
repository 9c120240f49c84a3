package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
	"ralph/runner/task/store"
)

func TestChangedSince_onlyWhatTheRunWrote(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "fix_plan.md")
	if err := os.WriteFile(path, []byte("- [ ] one\n- [ ] two\n- [x] three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := NewPlanBook(dir, path, store.PlanOptions{})
	b.Changed = func() {}
	before, begun := b.Read(), time.Now()
	for i, s := range []task.State{task.Open, task.Done} { // the first has this state
		b.Mark(before.List.Tasks[i].ID, s)
	}
	if _, changed := b.Reopen(before.List.Tasks[2].ID, before, false); !changed {
		t.Fatal("it stays done")
	}
	open, done := task.Open, task.Done
	want := map[string]*task.State{before.List.Tasks[1].ID: &done, before.List.Tasks[2].ID: &open}
	if d := cmp.Diff(want, b.ChangedSince(begun)); d != "" {
		t.Error(d)
	}
	if late := b.ChangedSince(time.Now()); len(late) > 0 {
		t.Error(late)
	}
}
