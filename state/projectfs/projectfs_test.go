package projectfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// planted is what a test puts in the place of a file or a folder: the error names it.
var planted = map[string]func(path, outside string) error{
	"a symbolic link":             func(path, outside string) error { return os.Symlink(filepath.Join(outside, "file"), path) },
	"a symbolic link to a folder": func(path, outside string) error { return os.Symlink(outside, path) },
	"a symbolic link to nothing":  func(path, outside string) error { return os.Symlink(filepath.Join(outside, "none"), path) },
	"a symbolic link inside":      func(path, _ string) error { return os.Symlink("other", path) },
	"a FIFO":                      func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	"a socket":                    func(path, _ string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
	"a folder":                    func(path, _ string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) },
	"a file with a second name":   func(path, outside string) error { return os.Link(filepath.Join(outside, "file"), path) },
	"larger than 1 KiB":           func(path, _ string) error { return sparse(path, 3<<30) },
}

func sparse(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// place makes a project that is reached through a link, with a file outside and something planted at a name.
func place(t *testing.T, name string, plant func(path, outside string) error) (d Dir, path, outside string) {
	t.Helper()
	base := t.TempDir()
	real, project, outside := filepath.Join(base, "real"), filepath.Join(base, "project"), filepath.Join(base, "outside")
	path = filepath.Join(project, name)
	for _, err := range []error{os.Mkdir(outside, 0o700), os.MkdirAll(real, 0o700), os.Symlink("real", project),
		os.WriteFile(filepath.Join(outside, "file"), []byte("mine"), 0o600),
		os.WriteFile(filepath.Join(real, "other"), []byte("other"), 0o600),
		os.MkdirAll(filepath.Dir(path), 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := plant(path, outside); err != nil {
		t.Fatal(err)
	}
	return In(project), path, outside
}

// unchanged checks that nothing was written outside of the project.
func unchanged(t *testing.T, outside string) {
	t.Helper()
	entries, err := os.ReadDir(outside)
	data, readErr := os.ReadFile(filepath.Join(outside, "file"))
	if err != nil || readErr != nil || len(entries) != 1 || string(data) != "mine" {
		t.Errorf("outside: %v, %q, %v, %v", entries, data, err, readErr)
	}
}

// soon fails if f does not return.
func soon(t *testing.T, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("hangs")
		return nil
	}
}

func operations(d Dir, path string) map[string]func() error {
	closed := func(f *os.File, err error) error {
		if err != nil {
			return err
		}
		_, err = f.WriteString("x")
		return errors.Join(err, f.Close())
	}
	return map[string]func() error{
		"read":   func() error { _, err := d.Read(path, 1<<10); return err },
		"write":  func() error { return d.Write(path, []byte("x"), 0o600) },
		"append": func() error { return closed(d.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)) },
		"trunc":  func() error { return closed(d.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)) },
		"rdwr":   func() error { return closed(d.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)) },
	}
}

func TestOperations_somethingElseInPlaceOfTheFile_areRefused(t *testing.T) {
	for is, plant := range planted {
		for operation := range operations(Dir{}, "") {
			switch {
			case is == "larger than 1 KiB" && operation != "read",
				is == "a file with a second name" && operation == "read",
				is == "a file with a second name" && operation == "write", is == "a socket" && operation == "write":
				continue // a write puts another file in its place
			}
			d, path, outside := place(t, "docs/file", plant)
			err := soon(t, operations(d, path)[operation])
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Path != path || !strings.HasPrefix(is, strings.Fields(refused.Is)[0]) ||
				strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), `project/docs/file" is `+refused.Is) {
				t.Errorf("%s, %s: %v", operation, is, err)
			}
			if errors.Is(err, fs.ErrNotExist) != (is == "a socket") || (Refused(err) == nil) != (is == "a socket") {
				t.Errorf("%s, %s: missing: %v", operation, is, err)
			}
			unchanged(t, outside)
		}
	}
}

func TestOperations_somethingElseInPlaceOfAFolder_areRefused(t *testing.T) {
	for is, plant := range planted {
		if is == "a folder" || is == "larger than 1 KiB" || is == "a file with a second name" {
			continue
		}
		d, folder, outside := place(t, "docs/folder", plant)
		path := filepath.Join(folder, "file")
		all := operations(d, path)
		all["mkdir"] = func() error { return d.MkdirAll(path, 0o700) }
		all["readdir"] = func() error { _, err := d.ReadDir(folder); return err }
		all["lstat"] = func() error { _, err := d.Lstat(path); return err }
		all["remove"] = func() error { return d.Remove(path) }
		all["rename to"] = func() error { return d.Rename(d.Path("other"), path) }
		all["rename from"] = func() error { return d.Rename(path, d.Path("other")) }
		if is != "a socket" { // as if it were missing
			all["remove all"] = func() error { return d.RemoveAll(path) }
			all["clear"] = func() error { return d.Clear(path) }
		}
		for operation, do := range all {
			err := soon(t, do)
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Path != folder || refused.Want != "a folder" {
				t.Errorf("%s, %s: %v", operation, is, err)
			}
		}
		unchanged(t, outside)
	}
}

func TestClear_whatIsNoPlainFile_goesAndNothingOutside(t *testing.T) {
	for is, plant := range planted {
		d, path, outside := place(t, "docs/file", plant)
		if err := d.Clear(path); err != nil {
			t.Errorf("%s: %v", is, err)
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) == (is == "larger than 1 KiB") {
			t.Errorf("%s: %v", is, err)
		}
		unchanged(t, outside)
	}
	d, path, outside := place(t, "docs/file", func(path, outside string) error {
		return errors.Join(os.Mkdir(path, 0o700), os.Symlink(outside, filepath.Join(path, "link")))
	})
	if err := errors.Join(d.RemoveAll(path), d.RemoveAll(path), d.Clear(path)); err != nil {
		t.Error(err)
	}
	unchanged(t, outside)
}

func TestWrite_plainFile_isReplacedAtOnceAndLeavesNothingElse(t *testing.T) {
	d := In(filepath.Join(t.TempDir(), "new"))
	path := d.Path("a/b/file")
	if err := d.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := d.Write(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if data, err := d.Read(path, 3); err != nil || string(data) != text {
			t.Errorf("%q, %v", data, err)
		}
	}
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	p, err := d.Replace(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WriteString("never"); err != nil {
		t.Error(err)
	}
	p.Discard()
	if p, err = d.Replace(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.KeepMode(), p.Commit()); err != nil {
		t.Error(err)
	}
	p.Discard()
	entries, err := d.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != "file" {
		t.Errorf("%v, %v", entries, err)
	}
	if info, err := d.Lstat(path); err != nil || info.Mode() != 0o604 || info.Size() != 0 || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("%v, %v", info, err)
	}
}

// The folder is replaced between the begin and the end of a write: the write ends in the folder in which it began.
func TestCommit_folderReplacedMeanwhile_writesNothingElsewhere(t *testing.T) {
	d, path, outside := place(t, "docs/file", func(path, _ string) error { return os.WriteFile(path, []byte("old"), 0o600) })
	p, err := d.Replace(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Discard()
	if err := errors.Join(os.Rename(filepath.Dir(path), d.Path("moved")), os.Symlink(outside, filepath.Dir(path)), p.Commit()); err != nil {
		t.Error(err)
	}
	unchanged(t, outside)
}

func TestPaths_outsideOfTheProject_areRefused(t *testing.T) {
	d := In(filepath.Join(t.TempDir(), "project"))
	for _, path := range []string{d.root, d.root + "/../file", "/etc/passwd", d.root + "2/file", "file", ""} {
		if _, err := d.Read(path, 1); err == nil || !strings.Contains(err.Error(), "project") {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, err := d.Read(d.Path("missing/file"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := d.RemoveAll(d.Path("missing/file")); err != nil {
		t.Error(err)
	}
}

func TestFS_glob_followsNoLink(t *testing.T) {
	d, _, _ := place(t, "docs/link", planted["a symbolic link to a folder"])
	for pattern, want := range map[string]int{"docs/*": 1, "docs/link": 1, "docs/*/file": 0, "docs/link/file": 0, "oth*": 1, "other": 1, "none": 0} {
		if found, err := fs.Glob(d.FS(d.root), pattern); err != nil || len(found) != want {
			t.Errorf("%s: %v, %v", pattern, found, err)
		}
	}
	var walked []string
	err := fs.WalkDir(d.FS(d.root), ".", func(path string, _ fs.DirEntry, err error) error {
		walked = append(walked, path)
		return err
	})
	if got := strings.Join(walked, " "); err != nil || got != ". docs docs/link other" {
		t.Errorf("%s, %v", got, err)
	}
}

// The next writer of a file removes what a killed one has left, and nothing of a living one.
func TestReplace_afterAKilledWriter_leavesNothing(t *testing.T) {
	dir := t.TempDir()
	d, path := In(dir), filepath.Join(dir, "f")
	if err := os.WriteFile(filepath.Join(dir, ".f"+Temporary+"0"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	living, err := d.Replace(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer living.Discard()
	if _, err := living.WriteString("second"); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(path, []byte("first"), 0o600); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "first" {
		t.Errorf("%q", text)
	}
	err = living.Commit()
	text, _ := os.ReadFile(path)
	entries, _ := os.ReadDir(dir)
	info, _ := os.Stat(path)
	if err != nil || string(text) != "second" || len(entries) != 1 || info.Mode() != 0o600 {
		t.Errorf("%v, %q, %v, %v", err, text, entries, info.Mode())
	}
}

func TestWrite_manyAtOnce_allSucceedAndLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	d, path := In(dir), filepath.Join(dir, "f")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if err := d.Write(path, []byte("whole"), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	text, _ := os.ReadFile(path)
	if entries, _ := os.ReadDir(dir); string(text) != "whole" || len(entries) != 1 {
		t.Errorf("%q, %v", text, entries)
	}
}
