package state

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// State files may hold anything that an agent wrote. It must not lead out of the project.

func TestStatus_runIDThatIsNotAPathSegment_isUnusable(t *testing.T) {
	for _, id := range []string{"../../../outside/evil", "a/b", "..", ".", "a b", "\x1b[2J", "20261120-131810\n", "é", strings.Repeat("a", 65)} {
		dir := t.TempDir()
		data, err := json.Marshal(Status{RunID: id, Status: StatusRunning})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fileStatus), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir).Status()
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || s.RunID != "" {
			t.Errorf("%q: Status() = %+v, %v", id, s, err)
		}
		w, aside, err := Acquire(dir, Owner{PID: os.Getpid()})
		if err != nil || len(aside) != 1 {
			t.Fatalf("%q: %q set aside, %v", id, aside, err)
		}
		if err := w.Release(); err != nil {
			t.Error(err)
		}
	}
}

// The monitor also takes run ids from events.jsonl.
func TestRunPaths_anyRun_stayInsideOfTheLogs(t *testing.T) {
	r := Open("/p/.ralph")
	for _, run := range []string{"", ".", "..", "../../../etc", "/etc", "a/b", "a\x00b", "20261120-131810-00ff"} {
		for _, path := range []string{r.RunDir(run), filepath.Dir(r.RawPath(run, 1))} {
			if filepath.Dir(path) != r.LogsDir() || strings.Contains(path, "\x00") {
				t.Errorf("run %q is kept in %q", run, path)
			}
		}
	}
	if got := r.RunDir("20261120-131810-00ff"); filepath.Base(got) != "20261120-131810-00ff" {
		t.Error(got)
	}
}

func TestOwner_invalidRunID_isNotReported(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	acquire(t, dir)
	data, _ := json.Marshal(Owner{PID: os.Getpid(), RunID: "\x1b]0;evil\a"})
	if err := os.WriteFile(filepath.Join(dir, fileLock), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if owner, alive := Open(dir).Owner(); !alive || owner.RunID != "" {
		t.Errorf("Owner() = %+v, %v", owner, alive)
	}
	_, _, err := Acquire(dir, Owner{PID: 2})
	if err == nil || strings.Contains(err.Error(), "evil") {
		t.Errorf("Acquire() = %v", err)
	}
}

func TestSession_idThatIsAnOption_isUnusable(t *testing.T) {
	for id, good := range map[string]bool{
		"3f0c6b2e-1d0a-4c7e-9f59-0a1b2c3d4e5f": true, "ses_e0876c0b5ffear04gFoZhCxyxS": true, "T-7c1d": true, "a.b/c:d": true,
		"--dangerously-skip-permissions": false, "-c": false, "a\x1b[2J": false, "a b": false, "{}": false,
	} {
		dir := t.TempDir()
		data, _ := json.Marshal(Session{SessionID: id})
		if err := os.WriteFile(filepath.Join(dir, fileSession), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(dir).Session(); (err == nil) != good || good != (s.SessionID == id) {
			t.Errorf("%q: Session() = %+v, %v", id, s, err)
		}
	}
}
