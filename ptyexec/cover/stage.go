package cover

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// Stage is a folder for one program that stands for the folder of a file: the program may
// do anything in it, also replace its copy of the file. What it made of the copy goes into
// the file when the program has ended, unless somebody has changed the file meanwhile.
type Stage struct {
	Dir  string `json:"dir"` // must not exist; removed whatever is in it
	File string `json:"file"`
	To   string `json:"to,omitempty"` // where it goes instead, if it is another text; empty: into File
}

// mostStaged is how many bytes of a file come back.
const mostStaged = 16 << 20

// staged is a Stage while the program runs.
type staged struct {
	Stage
	root *os.Root // the program may have put something else at Dir
	was  []byte   // in the file
	mode os.FileMode
}

func (s Stage) make() (*staged, error) {
	info, err := os.Stat(s.File)
	if err != nil {
		return nil, err
	}
	st := &staged{Stage: s, mode: info.Mode().Perm()}
	if st.was, err = os.ReadFile(s.File); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		return nil, err
	}
	if st.root, err = os.OpenRoot(s.Dir); err != nil {
		return nil, err
	}
	return st, st.root.WriteFile(filepath.Base(s.File), st.was, st.mode)
}

// release writes the copy back. A copy that is gone or empty changes nothing.
func (s *staged) release() error {
	defer os.RemoveAll(s.Dir)
	defer s.root.Close()
	now, err := s.read()
	if err != nil || len(bytes.TrimSpace(now)) == 0 || bytes.Equal(now, s.was) {
		return err
	}
	if s.To != "" {
		return renameio.WriteFile(s.To, now, s.mode, renameio.WithTempDir(filepath.Dir(s.To)))
	}
	if file, err := os.ReadFile(s.File); err != nil || !bytes.Equal(file, s.was) {
		return err
	}
	return renameio.WriteFile(s.File, now, s.mode, renameio.WithTempDir(filepath.Dir(s.File)))
}

// read never blocks, and follows no link out of the folder.
func (s *staged) read() ([]byte, error) {
	f, err := s.root.OpenFile(filepath.Base(s.File), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostStaged {
		return nil, fmt.Errorf("%s of %d bytes: %w", info.Mode(), info.Size(), errors.ErrUnsupported)
	}
	return io.ReadAll(f)
}
