package cover

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"ralph/state/projectfs"
)

// Stage is a folder for one program that stands for a folder of ours: the program may do
// anything in it, also replace its copies of the files. What it made of a copy goes into
// the file when the program has ended, unless somebody has changed the file meanwhile.
type Stage struct {
	Dir  string `json:"dir"` // must not exist; removed whatever is in it
	File string `json:"file"`
	To   string `json:"to,omitempty"` // where it goes instead, if it is another text; empty: into File
	// Notes are more files in the folder of File. They may be missing, and the program may create them.
	Notes []string `json:"notes,omitempty"`
}

// Notes are the files of these names, if the folder is the project's .ralph. A link is left out: it could
// lead anywhere.
func Notes(folder string, names []string) (all []string) {
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() || filepath.Base(folder) != ".ralph" {
		return nil
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
			all = append(all, path)
		}
	}
	return all
}

// mostStaged is how many bytes of a staged file are copied back at most.
const mostStaged = 16 << 20

// original is a staged file as it was before the program started.
type original struct {
	path, to string
	text     []byte // nil: the file is missing
	mode     os.FileMode
}

// make makes the folder, and returns what its files were.
func (s Stage) make() (was []original, err error) {
	files := append([]string{s.File}, s.Notes...)
	if slices.Contains(s.Notes, s.File) {
		files = s.Notes
	}
	for i, path := range files {
		o := original{path: path, to: path, mode: 0o644}
		if i == 0 && s.To != "" {
			o.to = s.To
		}
		info, err := os.Lstat(path)
		if err == nil {
			o.mode = info.Mode().Perm()
			o.text, err = os.ReadFile(path) // file: a place that the sandbox prepares
		}
		if err != nil && (i == 0 && len(s.Notes) == 0 || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		was = append(was, o)
	}
	err = os.Mkdir(s.Dir, 0o700)
	for _, o := range was {
		if err == nil && o.text != nil {
			err = os.WriteFile(s.at(o), o.text, o.mode) // file: a place that the sandbox prepares
		}
	}
	return was, err
}

// at is where the program has its copy.
func (s Stage) at(o original) string { return filepath.Join(s.Dir, filepath.Base(o.path)) }

// release writes the copies back. A copy that is gone or empty changes nothing.
func (s Stage) release(was []original) (err error) {
	defer os.RemoveAll(s.Dir)
	for _, o := range was {
		err = errors.Join(err, s.back(o))
	}
	return err
}

func (s Stage) back(o original) error {
	now, err := projectfs.Above(s.at(o)).Read(s.at(o), mostStaged)
	if errors.Is(err, fs.ErrNotExist) && o.text == nil {
		return nil
	}
	if err != nil || len(bytes.TrimSpace(now)) == 0 || bytes.Equal(now, o.text) {
		return err
	}
	if o.to == o.path {
		file, err := os.ReadFile(o.path) // file: a place that the sandbox prepares
		if missing := errors.Is(err, fs.ErrNotExist); missing != (o.text == nil) || err != nil && !missing ||
			!bytes.Equal(file, o.text) {
			return err
		}
	}
	return renameio.WriteFile(o.to, now, o.mode, renameio.WithTempDir(filepath.Dir(o.to)))
}
