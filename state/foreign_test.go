package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestReadFile_whatIsNoFile_isRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(path("plan"), []byte("- [ ] one\n"), 0o600), os.Symlink("plan", path("link")),
		syscall.Mkfifo(path("pipe"), 0o600), os.Symlink("/dev/zero", path("endless")), os.Mkdir(path("folder"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"plan": "", "link": "", "pipe": "not a regular file", "endless": "not a regular file", "folder": "not a regular file", "none": "no such file",
	} {
		done := make(chan error, 1)
		go func() {
			_, err := ReadFile(path(name), 100)
			done <- err
		}()
		select {
		case err := <-done:
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: hangs", name)
		}
	}
	if _, err := ReadFile(path("plan"), 9); err == nil {
		t.Error("a file above the limit was read")
	}
}

func TestRunFiles_replacedByTheAgent_areWrittenInTheProjectOnly(t *testing.T) {
	for name, replace := range map[string]func(path, outside string) error{
		"link": func(path, outside string) error { return os.Symlink(outside, path) },
		"name": func(path, outside string) error { return os.Link(outside, path) },
		"pipe": func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"dir":  func(path, _ string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			w := acquire(t, filepath.Join(base, DirName))
			outside := filepath.Join(base, "outside")
			if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(w.RunDir("r"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{w.RawPath("r", 1), w.PromptPath("r", 1)} {
				if err := replace(path, outside); err != nil {
					t.Fatal(err)
				}
			}
			raw, err := RunLogs{w.RunDir("r")}.OpenRaw(1)
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			if _, err := raw.WriteString("printed"); err != nil {
				t.Error(err)
			}
			if err := (RunLogs{w.RunDir("r")}).SavePrompt(1, "asked"); err != nil {
				t.Error(err)
			}
			for path, want := range map[string]string{outside: "mine", w.RawPath("r", 1): "printed", w.PromptPath("r", 1): "asked"} {
				if data, _ := os.ReadFile(path); string(data) != want {
					t.Errorf("%s holds %q, want %q", filepath.Base(path), data, want)
				}
			}
		})
	}
}

// A call can replace the folders of the logs, too.
func TestRunFiles_foldersReplacedByLinks_leadNowhere(t *testing.T) {
	for _, name := range []string{dirLogs, dirLogs + "/r"} {
		base := t.TempDir()
		dir, outside := filepath.Join(base, DirName), filepath.Join(base, "outside")
		if err := os.MkdirAll(outside, 0o700); err != nil {
			t.Fatal(err)
		}
		w := acquire(t, dir)
		_ = os.RemoveAll(filepath.Join(dir, name))
		if err := os.Symlink(outside, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		path, err := RunLogs{w.RunDir("r")}.Keep("1.plan.md", "kept")
		if data, _ := os.ReadFile(path); err != nil || string(data) != "kept" {
			t.Errorf("%s: %q in %s, %v", name, data, path, err)
		}
		if entries, _ := os.ReadDir(outside); len(entries) > 0 {
			t.Errorf("%s: written outside: %v", name, entries)
		}
	}
}

func TestOpenRaw_twiceForOneIteration_appends(t *testing.T) {
	w := acquire(t, filepath.Join(t.TempDir(), DirName))
	for range 2 {
		f, err := RunLogs{w.RunDir("r")}.OpenRaw(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if data, _ := os.ReadFile(w.RawPath("r", 1)); string(data) != "xx" {
		t.Errorf("raw output is %q", data)
	}
}

func TestAcquire_foldersAreLinks_isRefused(t *testing.T) {
	for _, name := range append(folders(), "") {
		dir, outside := filepath.Join(t.TempDir(), DirName), t.TempDir()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(outside, path)); err != nil {
			t.Fatal(err)
		}
		if entries, _ := os.ReadDir(outside); len(entries) > 0 {
			t.Errorf("%s: written outside: %v", name, entries)
		}
		if w, _, err := Acquire(dir, Owner{PID: os.Getpid()}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s: %v", name, err)
			_ = w.Release()
		}
	}
}

func TestEnsure_foldersReplacedByLinks_areMadeAgain(t *testing.T) {
	for _, name := range []string{"", dirLogs, dirControl, fileLock} {
		dir := filepath.Join(t.TempDir(), DirName)
		outside := t.TempDir()
		w := acquire(t, dir)
		path := filepath.Join(dir, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, path); err != nil {
			t.Fatal(err)
		}
		if lost, err := w.Ensure(); !lost || err != nil {
			t.Errorf("%q: Ensure() = %v, %v, want lost", name, lost, err)
		}
		if err := Send(dir, RequestStop); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if q, err := w.TakeRequests(); len(q) != 1 || err != nil {
			t.Errorf("%q: %v, %v", name, q, err)
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Errorf("%q: written outside of the project: %v", name, left)
		}
	}
}

func TestEnsure_filesReplacedByLinks_isToldOnceOfAll(t *testing.T) {
	dir, victim := filepath.Join(t.TempDir(), DirName), filepath.Join(t.TempDir(), "victim")
	w := acquire(t, dir)
	for _, name := range []string{fileStatus, fileCalls, fileBreaker} {
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, name)), os.Symlink(victim, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SaveStatus(Status{}); err != nil { // while the agent works
		t.Fatal(err)
	}
	if lost, err := w.Ensure(); !lost || err != nil {
		t.Errorf("lost %v, %v", lost, err)
	}
	if err := errors.Join(w.SaveBreaker(Breaker{}), w.SaveStatus(Status{})); err != nil {
		t.Fatal(err)
	}
	if lost, err := w.Ensure(); lost || err != nil {
		t.Errorf("told twice: %v, %v", lost, err)
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("written outside of the project")
	}
}

func TestAcquire_lockIsALinkOrAPipe_isReplaced(t *testing.T) {
	for name, put := range map[string]func(path, victim string) error{
		"link":          func(path, victim string) error { return os.Symlink(victim, path) },
		"dangling link": func(path, victim string) error { return os.Symlink(victim+"-none", path) },
		"pipe":          func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir, victim := filepath.Join(root, ".ralph"), filepath.Join(root, "victim")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{".lock", ".gitignore"} {
				if err := put(filepath.Join(dir, file), victim); err != nil {
					t.Fatal(err)
				}
			}
			w, _, err := Acquire(dir, Owner{PID: os.Getpid(), RunID: "run", StartedAt: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if _, alive := Open(dir).Owner(); !alive {
				t.Error("the lock is not seen")
			}
			if err := w.Release(); err != nil {
				t.Error(err)
			}
			if data, err := os.ReadFile(victim); string(data) != "precious" {
				t.Errorf("the link was followed: %q, %v", data, err)
			}
			if _, err := os.Stat(victim + "-none"); err == nil {
				t.Error("the dangling link was followed")
			}
		})
	}
}

func TestHoldLock_fileDeleted_keepsOthersOutAndIsToldByEnsure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	w, _, err := Acquire(dir, Owner{PID: os.Getpid(), RunID: "run", StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.HoldLock(); err != nil {
		t.Fatal(err)
	}
	if lost, err := w.Ensure(); lost || err != nil {
		t.Errorf("nothing was lost: %v, %v", lost, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := w.HoldLock(); err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, _, err := Acquire(dir, Owner{PID: 1, RunID: "other"}); !errors.As(err, &locked) {
		t.Errorf("a second runner: %v", err)
	}
	if lost, err := w.Ensure(); !lost || err != nil {
		t.Errorf("lost %v, %v", lost, err)
	}
	if lost, err := w.Ensure(); lost || err != nil {
		t.Errorf("told twice: %v, %v", lost, err)
	}
	if err := w.Release(); err != nil {
		t.Error(err)
	}
}

// What a clone brings along, or an earlier agent left, in the place of a file.
func TestAcquire_filesAreLinksOrPipes_setsThemAsideAndNamesEachOnce(t *testing.T) {
	dir, outside := filepath.Join(t.TempDir(), DirName), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, dirLogs), 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{fileBranch, fileEvents, fileLive, fileStatus, fileCalls, LessonsFile, dirLogs + "/ralph.log"}
	for i, name := range names {
		path := filepath.Join(dir, name)
		err := os.Symlink(filepath.Join(outside, "none"), path)
		if i%2 == 1 {
			err = errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w, aside, err := Acquire(dir, Owner{PID: os.Getpid(), RunID: "run", StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	if len(aside) != len(names) {
		t.Errorf("%d of %d: %v", len(aside), len(names), errors.Join(aside...))
	}
	for _, name := range names {
		if text := errors.Join(aside...).Error(); strings.Count(text, name+`"`) != 1 {
			t.Errorf("%s is not named once: %s", name, text)
		}
		if kept, err := filepath.Glob(filepath.Join(dir, name+".corrupt-*")); err != nil || len(kept) != 1 {
			t.Errorf("%s: %v, %v", name, kept, err)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("written outside: %v", entries)
	}
}

func TestEvents_pipeInPlace_areRefusedAtOnce(t *testing.T) {
	r := Open(filepath.Join(t.TempDir(), DirName))
	if err := errors.Join(os.Mkdir(r.Dir(), 0o755), syscall.Mkfifo(r.EventsPath(), 0o600)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := r.LastEvent("r"); done <- err }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), `events.jsonl" is a FIFO`) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("hangs")
	}
}
