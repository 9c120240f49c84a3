package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRemembered_changeOfTheSameSizeAndTime_isSeen(t *testing.T) {
	f := File{Path: filepath.Join(t.TempDir(), "fix_plan.md"), Name: "fix_plan.md"}.Remembered()
	then := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		text string
		done int
	}{{"- [ ] a\n", 0}, {"- [ ] a\n", 0}, {"- [x] a\n", 1}, {"- [ ] a\n", 0}, {"- [x] a\n- [x] b\n", 2}} {
		if err := os.WriteFile(f.Path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f.Path, then, then); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time from memory
			if got := Read(f); got.Done != c.done {
				t.Errorf("%q: %d done", c.text, got.Done)
			}
		}
	}
	other := f
	other.OptionalSections = []string{"Later"}
	if err := os.WriteFile(f.Path, []byte("# Later\n- [ ] a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, required := Read(f), Read(other); all.Total != 1 || required.Total != 0 {
		t.Errorf("%d and %d required tasks", all.Total, required.Total)
	}
}
