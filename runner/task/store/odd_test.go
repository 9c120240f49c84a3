package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse_linesThatLookAlmostLikeBoxes_areReported(t *testing.T) {
	text := "- [ ] good\n-[ ] no space\n- [] empty\n- [ x] blank before\n- [~] other mark\n* [x] done\n" +
		"- [2026-01-29] date\n- [](url) link\n- [#12] issue\n- [-]: x\n```\n-[ ] in code\n```\n<!-- - [] hidden -->\ntext - [] within\n1.[ ] numbered\n"
	list, err := Parse("fix_plan.md", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{2, 3, 4, 5, 16}, list.Odd); d != "" {
		t.Error(d)
	}
	if list.Total() != 2 {
		t.Errorf("%d tasks, want 2", list.Total())
	}
}
