package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
)

func TestParse_linesThatLookAlmostLikeBoxes_areReported(t *testing.T) {
	text := "- [ ] good\n-[ ] no space\n- [] empty\n- [ x] blank before\n- [~] other mark\n* [x] done\n" +
		"- [2026-01-29] date\n- [](url) link\n- [#12] issue\n- [-]: x\n```\n-[ ] in code\n```\n<!-- - [] hidden -->\ntext - [] within\n1.[ ] numbered\n"
	list, err := Parse("fix_plan.md", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{2, 3, 4, 16}, list.Odd); d != "" {
		t.Error(d)
	}
	if list.Total() != 3 {
		t.Errorf("%d tasks, want 3", list.Total())
	}
}

// A task with a mark that nobody knows is still a task, and can be opened.
func TestSet_boxWithAnUnknownMark_isOpenedAndRestored(t *testing.T) {
	for _, mark := range []string{"~", "?", "-", "✓"} {
		path := filepath.Join(t.TempDir(), "fix_plan.md")
		text := "- [" + mark + "] T1: a\n- [ ] b\n"
		write(t, path, text)
		read := func() string {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		list, err := Load(File{Path: path})
		if err != nil || list.Total() != 2 || list.Tasks[0].State != task.Blocked || list.Tasks[0].Word != mark {
			t.Fatalf("%+v, %v", list.Tasks, err)
		}
		odd := list.Tasks[0]
		if err := Set(File{Path: path}, odd, task.Open); err != nil || read() != "- [ ] T1: a\n- [ ] b\n" {
			t.Errorf("%s: %q, %v", mark, read(), err)
		}
		if err := Restore(File{Path: path}, odd, odd); err != nil || read() != text {
			t.Errorf("%s: %q, %v", mark, read(), err)
		}
	}
}
