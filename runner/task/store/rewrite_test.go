package store

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ralph/state/projectfs"
)

func rewriteWrite(t *testing.T, path, text string) {
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
	rewriteWrite(t, file, "")
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if err := RewriteFile(projectfs.In(plan), plan, file, func(text string) string { return text + "x" }); err != nil {
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
	rewriteWrite(t, file, "a")
	calls := 0
	err := RewriteFile(projectfs.In(filepath.Dir(file)), file, file, func(text string) string {
		if calls++; calls == 1 {
			rewriteWrite(t, file, "person")
		}
		return text + " and review"
	})
	if got, _ := os.ReadFile(file); err != nil || string(got) != "person and review" || calls != 2 {
		t.Errorf("%q after %d calls, %v", got, calls, err)
	}
}

func TestReplace_fails_namesThePlanAndNotTheTemporaryFile(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "gone", "plan.md")
	if err := replaceFile(projectfs.In(filepath.Dir(plan)), plan, nil, nil); err == nil || err.Error() != "write plan: open "+plan+": no such file or directory" {
		t.Error(err)
	}
}
