// Package cover creates harmless placeholders where a program must not create files. They
// exist as long as the program runs, so that a sandbox can mount something on them.
package cover

import (
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
)

// Places are what to create. Each path is absolute, and nothing exists there yet.
type Places struct {
	Dirs    []string `json:"dirs,omitempty"`    // with the sticky bit, which marks them as ours
	Sockets []string `json:"sockets,omitempty"` // git does not see them
	Files   []File   `json:"files,omitempty"`
	// Blanks are for one program only: they must not exist, and are removed whatever is in them.
	Blanks []File  `json:"blanks,omitempty"`
	Stages []Stage `json:"stages,omitempty"` // for one program only, too
	// Held is an existing file, locked and shared, while the program runs; empty: none.
	Held string `json:"held,omitempty"`
}

// File is a read-only file, or a copy of another file that its owner can write.
type File struct {
	Path string `json:"path"`
	Text string `json:"text,omitempty"`
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
	stages []*staged
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
	for _, dir := range h.places.Dirs {
		if err := h.lock(dir, syscall.LOCK_SH, patience); err != nil {
			return h, err
		}
		if err := makeDir(dir); err != nil {
			return h, err
		}
	}
	for _, path := range h.places.Sockets {
		if err := h.lock(path, syscall.LOCK_SH, patience); err != nil {
			return h, err
		}
		if err := makeSocket(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return h, err
		}
	}
	for _, f := range h.places.Files {
		if err := h.lock(f.Path, syscall.LOCK_SH, patience); err != nil {
			return h, err
		}
		if err := f.make(); err != nil && !errors.Is(err, fs.ErrExist) {
			return h, err
		}
	}
	for _, f := range h.places.Blanks {
		if err := f.make(); err != nil {
			return h, err
		}
	}
	for _, s := range h.places.Stages {
		st, err := s.make()
		if err != nil {
			return h, err
		}
		h.stages = append(h.stages, st)
	}
	return h, nil
}

func makeDir(path string) error {
	err := os.Mkdir(path, 0o755|os.ModeSticky)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (f File) make() error {
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
	for _, s := range h.stages {
		_ = s.release() // then the file is as it was
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
	h.places.remove(func(path string) bool { return slices.Contains(mine, filepath.Dir(path)) })
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
	h := &Lease{places: p, locks: map[string]*os.File{}}
	all := slices.Concat(p.Dirs, p.Sockets)
	for _, f := range p.Files {
		all = append(all, f.Path)
	}
	for _, path := range all {
		if Is(path) || p.isFile(path) {
			_ = h.lock(path, syscall.LOCK_EX, 0)
		}
	}
	h.Release()
}

func (p Places) isFile(path string) bool {
	return slices.ContainsFunc(p.Files, func(f File) bool { return f.Path == path && f.Unchanged() })
}

// remove removes the places that are unchanged since they were made.
func (p Places) remove(mine func(path string) bool) {
	for _, f := range p.Files {
		if mine(f.Path) && f.Unchanged() {
			_ = os.Remove(f.Path)
		}
	}
	for _, path := range p.Sockets {
		if mine(path) && Is(path) {
			_ = os.Remove(path)
		}
	}
	dirs := slices.SortedStableFunc(slices.Values(p.Dirs), func(a, b string) int { return strings.Compare(b, a) })
	for _, dir := range dirs {
		if mine(dir) && Is(dir) {
			_ = os.Remove(dir) // fails for a folder that is not empty
		}
	}
}

// Unchanged reports whether the file is there as Make makes it.
func (f File) Unchanged() bool {
	info, err := os.Lstat(f.Path)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o222 != 0 || info.Size() != int64(len(f.Text)) {
		return false
	}
	text, err := os.ReadFile(f.Path) // file: a place that the sandbox prepares
	return err == nil && string(text) == f.Text
}

// Is reports whether a path is a socket or an empty folder, as Make makes them. A folder
// with nothing but an Ignore is empty, too.
func Is(path string) bool {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return false
	case info.Mode().Type() == fs.ModeSocket:
		return true
	case !info.IsDir() || info.Mode()&fs.ModeSticky == 0:
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && (len(entries) == 0 || len(entries) == 1 &&
		Ignore(filepath.Join(path, entries[0].Name())).Unchanged())
}

// IgnoreName is the name of git's file of ignored paths.
const IgnoreName = ".gitignore"

// Ignore is such a file at path. It makes git ignore everything in its folder, itself included.
func Ignore(path string) File { return File{Path: path, Text: "*\n"} }
