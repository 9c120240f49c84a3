package rewrite_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ralph/runner/task/rewrite"
	"ralph/state/projectfs"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFile_manyWriters_noChangeIsLost(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "stories")
	if err := os.Mkdir(plan, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(plan, "1.md")
	write(t, file, "")
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if err := rewrite.File(projectfs.In(plan), plan, file, func(text string) string { return text + "x" }); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got, _ := os.ReadFile(file); string(got) != strings.Repeat("x", 20) {
		t.Errorf("%q", got)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestFile_somebodyElseWritesMeanwhile_theChangeBeginsAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "1.md")
	write(t, file, "a")
	calls := 0
	err := rewrite.File(projectfs.In(filepath.Dir(file)), file, file, func(text string) string {
		if calls++; calls == 1 {
			write(t, file, "person")
		}
		return text + " and review"
	})
	if got, _ := os.ReadFile(file); err != nil || string(got) != "person and review" || calls != 2 {
		t.Errorf("%q after %d calls, %v", got, calls, err)
	}
}

func TestReplace_fails_namesThePlanAndNotTheTemporaryFile(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "gone", "plan.md")
	if err := rewrite.Replace(projectfs.In(filepath.Dir(plan)), plan, nil, nil); err == nil || err.Error() != "write plan: open "+plan+": no such file or directory" {
		t.Error(err)
	}
}
