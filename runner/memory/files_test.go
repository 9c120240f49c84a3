package memory

import (
	"path/filepath"
	"strings"
	"testing"
)

// The plan, and the files where progress and lessons are noted, change in most turns: else each
// lesson concerned all of them.
func TestLearn_filesOfEachTurn_saySoLittle_thatNoLessonIsAboutThem(t *testing.T) {
	for _, absolute := range []bool{false, true} {
		p := newProject(t, nil)
		b := Open(p.dir, LessonOptions{Learn: true})
		for i, file := range []string{"src/a.go", "web/b.ts", "src/c.go"} {
			said := ""
			if i == 0 {
				said = "<learning>Dates are in UTC.</learning>"
			}
			r := result(i+1, said, "docs/prd/app.json", "progress.txt", "MEMORY.md", "fix_plan.md", file)
			r.Task.ID = string(rune('A' + i))
			r.Proof.After.List.Path = "docs/prd"
			if absolute {
				r.Proof.After.List.Path = filepath.Join(p.dir, "docs/prd")
			}
			b.For(r.Task)
			if _, err := b.Learn(r, now); err != nil {
				t.Fatal(err)
			}
		}
		all, err := Load(p.dir)
		if err != nil || len(all) != 1 || strings.Join(all[0].Paths, " ") != "src/a.go" {
			t.Errorf("%+v, %v", all, err)
		}
	}
}
