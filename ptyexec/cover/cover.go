// Package cover creates harmless placeholders where a program must not create files. They
// exist as long as the program runs, so that a sandbox can mount something on them.
package cover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"ralph/state/projectfs"
)

// Places are what to create. Each path is absolute.
type Places struct {
	// Shared are harmless placeholders, which several programs may use. Nothing else exists there.
	Shared []Place `json:"shared,omitempty"`
	// Blanks are for one program only: they must not exist, and are removed whatever is in them.
	Blanks []Place `json:"blanks,omitempty"`
	Stages []Stage `json:"stages,omitempty"` // for one program only, too
	// Held is an existing file, locked and shared, while the program runs; empty: none.
	Held string `json:"held,omitempty"`
}

// Kind says what is created at a place.
type Kind int

// The kinds of places.
const (
	File   Kind = iota // read-only, or a copy of another file that its owner can write
	Dir                // with the sticky bit, which marks it as ours
	Socket             // which git does not see
)

// Place is one file, folder or socket.
type Place struct {
	Path string `json:"path"`
	Kind Kind   `json:"kind,omitempty"`
	Text string `json:"text,omitempty"` // of a file
	From string `json:"from,omitempty"` // the file to copy; empty: it is not a copy
}

// Encode returns the places for Make. Nil means no places.
func (p *Places) Encode() (string, error) {
	text, err := json.Marshal(p)
	return string(text), err
}

// Lease keeps places in existence while a program runs. Release ends it.
type Lease struct {
	places Places
	stages [][]original // what was in each of places.Stages
	held   *os.File
	locks  map[string]*os.File // the folders that places are in
}

const (
	patience = 2 * time.Second      // for a program that holds the lock of a folder
	pause    = 2 * time.Millisecond // between two attempts
)

// Make creates the places that Encode returned. Several processes may hold the same places, and
// the last one to release them removes them. So each holds a shared lock on their folders. The
// Lease is not nil, and must be released, also after an error.
func Make(text string) (*Lease, error) {
	h := &Lease{locks: map[string]*os.File{}}
	if err := json.Unmarshal([]byte(text), &h.places); err != nil {
		return h, err
	}
	if h.places.Held != "" {
		var err error
		if h.held, err = os.Open(h.places.Held); err == nil {
			err = syscall.Flock(int(h.held.Fd()), syscall.LOCK_SH)
		}
		if err != nil {
			return h, err
		}
	}
	for _, p := range h.places.Shared {
		if err := h.lock(p.Path, syscall.LOCK_SH, patience); err != nil {
			return h, err
		}
		if err := p.make(); err != nil && !errors.Is(err, fs.ErrExist) {
			return h, err
		}
	}
	for _, f := range h.places.Blanks {
		if err := f.make(); err != nil {
			return h, err
		}
	}
	for _, s := range h.places.Stages {
		was, err := s.make()
		if err != nil {
			return h, err
		}
		h.stages = append(h.stages, was)
	}
	return h, nil
}

func (f Place) make() error {
	switch f.Kind {
	case Dir:
		return os.Mkdir(f.Path, 0o755|os.ModeSticky)
	case Socket:
		return makeSocket(f.Path)
	}
	mode, text := fs.FileMode(0o444), []byte(f.Text)
	if f.From != "" {
		var err error
		if text, err = os.ReadFile(f.From); err != nil { // file: a place that the sandbox prepares
			return err
		}
		mode = 0o600
	}
	file, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) // file: a place that the sandbox prepares
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// lock locks the folder that a path is in.
func (h *Lease) lock(path string, how int, bound time.Duration) error {
	dir := filepath.Dir(path)
	if h.locks[dir] != nil {
		return nil
	}
	f, err := os.Open(dir) // file: a place that the sandbox prepares
	if err != nil {
		return err
	}
	for begun := time.Now(); ; time.Sleep(pause) {
		if err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err == nil {
			h.locks[dir] = f
			return nil
		}
		if time.Since(begun) >= bound {
			_ = f.Close()
			return fmt.Errorf("lock %q: %w", dir, err)
		}
	}
}

// Release removes what Make created, unless another process holds it. It may be called more than once.
func (h *Lease) Release() {
	for i, was := range h.stages {
		_ = h.places.Stages[i].release(was) // then the file is as it was
	}
	h.stages = nil
	for _, f := range h.places.Blanks {
		_ = os.Remove(f.Path)
	}
	h.places.Blanks = nil
	var mine []string // the folders that nobody else holds
	for dir, f := range h.locks {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			mine = append(mine, dir)
		}
	}
	slices.SortFunc(h.places.Shared, func(a, b Place) int { return strings.Compare(b.Path, a.Path) }) // what is in a folder first
	for _, p := range h.places.Shared {
		if slices.Contains(mine, filepath.Dir(p.Path)) && p.Unchanged() {
			_ = os.Remove(p.Path) // fails for a folder that is not empty
		}
	}
	for _, f := range h.locks {
		_ = f.Close()
	}
	h.locks = nil
	_ = h.held.Close() // a nil or closed file only gives an error
}

// Tidy removes places that were left behind, such as after a power failure, and that nobody holds. What a program
// made of the copies in its stages is lost.
func (p Places) Tidy() {
	for _, s := range p.Stages {
		_ = os.RemoveAll(s.Dir)
	}
	h := &Lease{places: Places{Shared: slices.Clone(p.Shared), Blanks: p.Blanks}, locks: map[string]*os.File{}}
	for _, place := range p.Shared {
		if place.Unchanged() {
			_ = h.lock(place.Path, syscall.LOCK_EX, 0)
		}
	}
	h.Release()
}

// Unchanged reports whether the place is there as Make makes it. A folder with nothing but an Ignore counts, too.
func (f Place) Unchanged() bool {
	info, err := os.Lstat(f.Path)
	switch {
	case err != nil:
		return false
	case f.Kind == Socket:
		return info.Mode().Type() == fs.ModeSocket
	case f.Kind == Dir && info.IsDir() && info.Mode()&fs.ModeSticky != 0:
		entries, err := os.ReadDir(f.Path)
		return err == nil && (len(entries) == 0 || len(entries) == 1 &&
			Ignore(filepath.Join(f.Path, entries[0].Name())).Unchanged())
	case f.Kind == Dir, !info.Mode().IsRegular(), info.Mode()&0o222 != 0, info.Size() != int64(len(f.Text)):
		return false
	}
	text, err := os.ReadFile(f.Path) // file: a place that the sandbox prepares
	return err == nil && string(text) == f.Text
}

// Is reports whether a path is a socket or an empty folder, as Make makes them.
func Is(path string) bool {
	return Place{Path: path, Kind: Socket}.Unchanged() || Place{Path: path, Kind: Dir}.Unchanged()
}

// IgnoreName is the name of git's file of ignored paths.
const IgnoreName = ".gitignore"

// Ignore is such a file at path. It makes git ignore everything in its folder, itself included.
func Ignore(path string) Place { return Place{Path: path, Text: "*\n"} }

func makeSocket(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) }

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
