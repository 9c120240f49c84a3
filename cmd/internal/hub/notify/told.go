package notify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ralph/state"
)

const (
	toldEnd = ".told"
	kept    = 30 * 24 * time.Hour // how long it is known what was told
)

// told is what an address was told of a run. It is a file that a watcher keeps locked: of two, one waits, and then tells
// the rest.
type told struct {
	Seq  int64 // of the last event that was told, given up, or not wanted
	Died int64 // the last event before a death that was told; 0: none
	file *os.File
}

// openTold reads and locks the file; nil: another watcher has it.
func openTold(r *state.Reader, to, run string) (*told, error) {
	if !plain(run) {
		return nil, fmt.Errorf("%q is not the id of a run", run)
	}
	path := filepath.Join(r.HubDir(), digest(to)+"."+run+toldEnd)
	file, err := state.Project(r.Dir()).OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("read what was told: %w", err)
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil, file.Close()
	}
	t := &told{file: file}
	_, _ = fmt.Fscanf(file, "%d %d", &t.Seq, &t.Died) // an empty file: nothing was told
	return t, nil
}

// save writes the same bytes at the same place, so the file is never half of one and half of another.
func (t *told) save() error {
	_, err := t.file.WriteAt(fmt.Appendf(nil, "%019d %019d\n", t.Seq, t.Died), 0)
	return err
}

func (t *told) Close() { _ = t.file.Close() }

// forgetOld makes the folder where needed, and removes what is not needed any more.
func forgetOld(r *state.Reader) error {
	project := state.Project(r.Dir())
	if err := project.MkdirAll(r.HubDir(), 0o700); err != nil {
		return fmt.Errorf("follow the run: %w", err)
	}
	entries, err := project.ReadDir(r.HubDir())
	if err != nil {
		return fmt.Errorf("follow the run: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), toldEnd) && time.Since(info.ModTime()) > kept {
			_ = project.Remove(filepath.Join(r.HubDir(), e.Name())) // if it fails, the next one tries again
		}
	}
	return nil
}
