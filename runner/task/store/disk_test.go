package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ralph/state/projectfs"
)

func TestRead_fileThatKeepsChanging_isRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fix_plan.md")
	if err := os.WriteFile(path, bytes.Repeat([]byte("- [ ] a task\n"), 1<<19), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	defer writer.Wait()
	defer close(stop)
	writer.Go(func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = f.Close() }()
		for line := []byte("- [ ] one more\n"); ; {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := f.Write(line); err != nil {
				t.Error(err)
				return
			}
			if info, err := f.Stat(); err == nil && info.Size() > MaxSize/2 {
				_ = f.Truncate(MaxSize / 4)
			}
		}
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		_, err := readStable(projectfs.In(filepath.Dir(path)), path)
		switch {
		case err != nil && (!errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), `fix_plan.md" changes while it is read`)):
			t.Fatal(err)
		case err != nil:
			return
		}
	}
	t.Error("never refused")
}

func TestRead_fileThatChangedOnce_isReadAsItIsNow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prd.json")
	for _, text := range []string{"{}", "", `{"userStories": []}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if data, err := readStable(projectfs.In(filepath.Dir(path)), path); err != nil || string(data) != text {
			t.Errorf("%q, %v", data, err)
		}
	}
}
