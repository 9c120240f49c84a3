package logs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func poll(t *testing.T, tail *Tail) []string {
	t.Helper()
	lines, err := tail.Poll()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range lines {
		all = append(all, string(l))
	}
	return all
}

func wantLines(t *testing.T, tail *Tail, want ...string) {
	t.Helper()
	if got := poll(t, tail); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("Poll() = %q, want %q", got, want)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestTail_fileGrows_givesCompleteLinesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	tail := NewTail(path, -1)
	wantLines(t, tail)
	appendTo(t, path, "one\r\ntw")
	wantLines(t, tail, "one")
	appendTo(t, path, "o\n\nthree\n")
	wantLines(t, tail, "two", "", "three")
	wantLines(t, tail)
}

func TestTail_startsNearTheEnd_atTheStartOfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, "aaaa\nbbbb\ncccc\n")
	wantLines(t, NewTail(path, 7), "cccc")
	wantLines(t, NewTail(path, 5), "cccc")
	wantLines(t, NewTail(path, 0))
	wantLines(t, NewTail(path, 1000), "aaaa", "bbbb", "cccc")
}

func TestTail_rotated_restOfTheOldFileComesFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, "one\n")
	tail := NewTail(path, -1)
	wantLines(t, tail, "one")
	appendTo(t, path, "two\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, "three\n")
	wantLines(t, tail, "two", "three")
}

func TestTail_truncated_startsOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, "one\ntwo\n")
	tail := NewTail(path, -1)
	poll(t, tail)
	if err := os.WriteFile(path, []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantLines(t, tail, "new")
}

func TestTail_removedAndCreatedAgain_continues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, "one\n")
	tail := NewTail(path, -1)
	poll(t, tail)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantLines(t, tail)
	appendTo(t, path, "two\n")
	wantLines(t, tail, "two")
}

func TestTail_hugeLine_isCutAndTheNextIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, strings.Repeat("x", 9<<20)+"\nnext\n")
	tail := NewTail(path, -1)
	var all []string
	for len(all) < 2 {
		got := poll(t, tail)
		all = append(all, got...)
	}
	if len(all[0]) != maxTailLine || all[1] != "next" {
		t.Errorf("got lines of %d and %q", len(all[0]), all[1])
	}
}

func TestFile_aboveItsSize_rotatesAndKeepsTheNewest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.log")
	f, err := OpenFile(path, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := append(bytes.Repeat([]byte("x"), 1023), '\n')
	for range 5 * 1024 {
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > 1<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("stat = %v, %v, want at most 1 MiB with mode 0600", info, err)
	}
	eventually(t, "at most two old files", func() bool {
		old, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "live-*.log"))
		return len(old) == 2
	})
}

func TestFile_written_isOnDiskSoonWithoutAFlush(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.log")
	f, err := OpenFile(path, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := f.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		eventually(t, line, func() bool {
			data, _ := os.ReadFile(path)
			return strings.HasSuffix(string(data), line)
		})
	}
}

func TestFile_flushByItselfFails_isReportedOnceByTheNextCall(t *testing.T) {
	f, err := OpenFile(filepath.Join(t.TempDir(), "live.log"), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.file.Close() // the write fails, as on a full disk
	if _, err := f.Write([]byte("lost\n")); err != nil {
		t.Fatal(err)
	}
	f.flushLater()
	if err := f.Flush(); err == nil {
		t.Error("the flush that failed is not reported")
	}
	if err := f.Flush(); err != nil {
		t.Errorf("it is reported twice: %v", err)
	}
}

func TestFile_removedWhileOpen_reopenStartsANewOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.log")
	f, err := OpenFile(path, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _ = f.Write([]byte("one\n"))
	if err := errors.Join(f.Flush(), os.Remove(path), f.Reopen()); err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte("two\n"))
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "two\n" {
		t.Errorf("the new file holds %q", data)
	}
}

func TestOpenFile_symlink_isRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.log")
	if err := os.Symlink(filepath.Join(t.TempDir(), "outside"), path); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(path, 1, 1); err == nil {
		t.Error("a symbolic link was opened")
	}
}

func TestPrune_tooMuch_removesTheOldestRunFilesOnly(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, age time.Duration) {
		path := filepath.Join(dir, name)
		at := time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, make([]byte, 1000), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	write("ralph.log", 9*time.Hour)
	write("r1/1.raw", 3*time.Hour)
	write("r2/1.raw", 2*time.Hour)
	write("r2/2.raw", time.Hour)
	if err := Prune(dir, 3000); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); got != "ralph.log r1/1.raw r2/1.raw r2/2.raw" {
		t.Errorf("at the bound: %s", got)
	}
	if err := Prune(dir, 2500); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); got != "ralph.log r2/1.raw r2/2.raw" {
		t.Errorf("above the bound: %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "r1")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the empty folder is left")
	}
	if err := Prune(filepath.Join(dir, "missing"), 0); err != nil {
		t.Error(err)
	}
}

func tree(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range found {
			if info, _ := os.Stat(path); info.Mode().IsRegular() {
				rel, _ := filepath.Rel(dir, path)
				names = append(names, rel)
			}
		}
	}
	return strings.Join(names, " ")
}

func TestNewLogger_oneLineARecordWithItsKeys(t *testing.T) {
	var buf bytes.Buffer
	NewLogger(&buf, false).Info("iteration ended", KeyRule, "continue")
	NewLogger(&buf, false).Debug("hidden")
	if got := buf.String(); !strings.Contains(got, "[INFO]  ralph: iteration ended: rule=continue\n") || strings.Contains(got, "hidden") {
		t.Errorf("logged %q", got)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(fmt.Errorf("never: %s", what))
}
