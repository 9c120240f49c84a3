package gitkeep

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/ptyexec"
)

// A signal ends a process that is not busy. git may read for long.
func TestLsFiles_gitIsSlow_theProcessIsBusy(t *testing.T) {
	f := world.Folder{TB: t, Dir: t.TempDir()}
	let := filepath.Join(f.Dir, "let")
	f.Do(syscall.Mkfifo(let, 0o600))
	f.Do(os.WriteFile(f.Path("git"), []byte("#!/bin/sh\nexec cat "+let+"\n"), 0o700))
	t.Setenv("PATH", f.Dir+":"+os.Getenv("PATH"))
	listed := make(chan string, 1)
	go func() {
		out, err := lsFiles(f.Dir, f.Dir)
		if err != nil {
			out = err.Error()
		}
		listed <- out
	}()
	w, err := os.OpenFile(let, os.O_WRONLY, 0) // once git runs
	f.Do(err)
	if !ptyexec.Busy(time.Now()) {
		t.Error("not busy while git lists files")
	}
	_, err = w.WriteString("a")
	f.Do(err)
	f.Do(w.Close())
	if out := <-listed; out != "a" || ptyexec.Busy(time.Now()) {
		t.Errorf("%q, busy afterwards: %v", out, ptyexec.Busy(time.Now()))
	}
}
