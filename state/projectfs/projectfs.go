// Package projectfs reads and writes the files of a project. Whoever wrote the project, and each agent that works in
// it, can put anything in the place of a file: a link that leads out of the project, a pipe that nobody writes to, a
// device that never ends. So each folder below the project's own is opened relative to its parent and without
// following a link, and only plain files are read or written. It is not for files elsewhere, such as those that a user
// names on the command line.
package projectfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Dir is the folder of a project; a link may lead to it. The paths that its methods take begin with the path that In
// was given. The zero value is the current folder.
type Dir struct{ root string }

// In returns the Dir of a project's folder, which need not exist.
func In(root string) Dir { return Dir{root} }

// Above returns the Dir of the folder above the one that a file is in: neither the file nor its folder may be a link.
func Above(path string) Dir { return Dir{filepath.Dir(filepath.Dir(path))} }

// Path returns the path of a file that is named relative to the project, with slashes.
func (d Dir) Path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// RefusedError says what is in the place of a file or a folder. If that is a socket, the error is fs.ErrNotExist, too:
// a sandbox puts sockets where files are missing.
type RefusedError struct {
	Path string // of what is in the way, which may be a folder above the file
	Is   string // such as "a symbolic link"
	Want string // what is allowed there
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%q is %s; ralph uses only %s here", e.Path, e.Is, e.Want)
}

// Unwrap returns fs.ErrNotExist for a socket.
func (e *RefusedError) Unwrap() error {
	if e.Is == socket {
		return fs.ErrNotExist
	}
	return nil
}

// IsLink reports whether err is about a symbolic link.
func IsLink(err error) bool {
	e := Refused(err)
	return e != nil && e.Is == link
}

// InPlaceOfFolder reports whether something else is where a folder belongs.
func InPlaceOfFolder(err error) bool {
	e := Refused(err)
	return e != nil && e.Want == folder
}

// Refused returns the RefusedError in err; nil if there is none. A socket is none: it stands for a missing file.
func Refused(err error) *RefusedError {
	if e := (*RefusedError)(nil); errors.As(err, &e) && e.Is != socket {
		return e
	}
	return nil
}

const (
	file   = "a plain file"
	folder = "a folder"
	link   = "a symbolic link"
	fifo   = "a FIFO"
	socket = "a socket"
	device = "a device"
)

func kind(st *unix.Stat_t) string {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return link
	case unix.S_IFSOCK:
		return socket
	case unix.S_IFIFO:
		return fifo
	case unix.S_IFDIR:
		return folder
	case unix.S_IFREG:
		return file
	}
	return device
}

// Read reads a plain file of at most limit bytes.
func (d Dir) Read(path string, limit int64) ([]byte, error) {
	f, err := d.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll reads an open file of at most limit bytes.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	tooLarge := &RefusedError{f.Name(), fmt.Sprintf("larger than %s", size(limit)), "smaller files"}
	info, err := f.Stat()
	if err == nil && info.Size() > limit {
		err = tooLarge
	}
	if err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err = data.ReadFrom(io.LimitReader(f, limit+1)); err == nil && int64(data.Len()) > limit {
		err = tooLarge
	}
	if err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return strconv.FormatInt(bytes>>20, 10) + " MiB"
	case bytes >= 1<<10 && bytes%(1<<10) == 0:
		return strconv.FormatInt(bytes>>10, 10) + " KiB"
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

// Open opens a plain file for reading.
func (d Dir) Open(path string) (*os.File, error) { return d.OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile for a plain file. A file that has a second name elsewhere, a hard link, is not opened for
// writing.
func (d Dir) OpenFile(path string, flags int, perm fs.FileMode) (*os.File, error) {
	at, base, err := d.parent(path)
	if err != nil {
		return nil, err
	}
	defer at.close()
	return at.openFile(base, path, flags, perm)
}

// OpenFD opens a plain file for reading with as few system calls as possible: for readers of thousands of files.
func (d Dir) OpenFD(path string) (fd int, st unix.Stat_t, err error) {
	at, base, err := d.parent(path)
	if err != nil {
		return -1, st, err
	}
	defer at.close()
	return at.open(base, path, unix.O_RDONLY, 0)
}

// Write replaces a plain file, or the socket for a missing one, at once: a reader sees the old or the new content, also
// after a power failure.
func (d Dir) Write(path string, data []byte, perm fs.FileMode) error {
	return d.write(path, data, perm, false)
}

// Update is Write, but keeps the permissions of the file that it replaces.
func (d Dir) Update(path string, data []byte, perm fs.FileMode) error {
	return d.write(path, data, perm, true)
}

func (d Dir) write(path string, data []byte, perm fs.FileMode, keepMode bool) error {
	p, err := d.Replace(path, perm)
	if err != nil {
		return err
	}
	defer p.Discard()
	_, err = p.Write(data)
	if err == nil && keepMode {
		err = p.KeepMode()
	}
	if err != nil {
		return err
	}
	return p.Commit()
}

// Pending is the next content of a file, which nobody sees until Commit. Discard must be called, also after Commit.
type Pending struct {
	*os.File // under a temporary name in the same folder

	in         dirHandle
	temp, base string
	path       string
}

// Replace begins to replace a plain file, or to write a new one with the permissions perm, less the umask.
func (d Dir) Replace(path string, perm fs.FileMode) (*Pending, error) {
	in, base, err := d.parent(path)
	if err != nil {
		return nil, err
	}
	p := &Pending{in: in, base: base, path: path}
	if err = in.fits(base, path); err == nil {
		err = p.create(perm)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return p, nil
}

// Temporary stands between the name of a file, after a dot, and the number in the name of its next content.
const Temporary = ".ralph"

// create makes the temporary file. Its name is the same each time, so that the next writer finds and removes what a
// killed one has left. While another writer lives, which its lock shows, any other name will do.
func (p *Pending) create(perm fs.FileMode) (err error) {
	first := "." + p.base + Temporary + "0"
	p.in.removeUnlocked(first)
	p.temp = first
	for range 100 {
		p.File, err = p.in.openFile(p.temp, p.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		switch {
		case err == nil && (p.temp != first || !errors.Is(p.in.lock(int(p.Fd()), first), fs.ErrExist)):
			return nil // where there are no locks, nobody removes it
		case err == nil: // another writer takes it for a dead one's
			err = errors.Join(fs.ErrExist, p.Close())
		case !errors.Is(err, fs.ErrExist):
			return err
		}
		p.temp = "." + p.base + Temporary + strconv.FormatUint(rand.Uint64()>>1, 10)
	}
	return err
}

// removeUnlocked removes a file unless a writer holds it.
func (h dirHandle) removeUnlocked(name string) {
	fd, _, err := h.open(name, name, unix.O_RDONLY, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if h.lock(fd, name) == nil {
		_ = unix.Unlinkat(h.fd, name, 0)
	}
}

// lock locks an open file. It returns fs.ErrExist if another writer has locked it, or has removed its name.
func (h dirHandle) lock(fd int, name string) error {
	var open, named unix.Stat_t
	err := retry(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) || err == nil && (unix.Fstat(fd, &open) != nil ||
		unix.Fstatat(h.fd, name, &named, unix.AT_SYMLINK_NOFOLLOW) != nil || open.Dev != named.Dev || open.Ino != named.Ino) {
		return fs.ErrExist
	}
	return err
}

// KeepMode gives the new content the permissions of the old one, if there is one.
func (p *Pending) KeepMode() error {
	var st unix.Stat_t
	if unix.Fstatat(p.in.fd, p.base, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return nil
	}
	return p.Chmod(fs.FileMode(st.Mode).Perm())
}

// Commit puts the new content in place.
func (p *Pending) Commit() error {
	err := p.Sync()
	if err == nil {
		err = p.in.fits(p.base, p.path)
	}
	if err == nil {
		err = named("rename", p.path, unix.Renameat(p.in.fd, p.temp, p.in.fd, p.base))
	}
	if err != nil {
		return err
	}
	p.temp = ""
	return p.Close() // not earlier: it unlocks the file
}

// Discard removes what was not committed.
func (p *Pending) Discard() {
	if p.temp != "" {
		_ = unix.Unlinkat(p.in.fd, p.temp, 0)
		_ = p.Close()
		p.temp = ""
	}
	p.in.close()
	p.in.fd = -1
}

// OpenDir opens a folder, for its lock and its handle.
func (d Dir) OpenDir(path string) (*os.File, error) {
	at, err := d.folder(path, 0)
	if err != nil {
		return nil, err
	}
	defer at.close()
	in, err := at.openDir(".", path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(in.fd), path), nil
}

// ReadDir lists a folder, sorted by name.
func (d Dir) ReadDir(path string) ([]fs.DirEntry, error) {
	f, err := d.OpenDir(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// MkdirAll makes a folder and those above it, unless they exist.
func (d Dir) MkdirAll(path string, perm fs.FileMode) error {
	at, err := d.folder(path, perm)
	if err == nil {
		at.close()
	}
	return err
}

// Lstat describes what is at a path, whatever that is.
func (d Dir) Lstat(path string) (fs.FileInfo, error) {
	at, base, err := d.parent(path)
	if err != nil {
		return nil, err
	}
	defer at.close()
	st, err := at.stat(base, path)
	if err != nil {
		return nil, err
	}
	return info{base, st}, nil
}

// IsFile reports whether an open file is what is at a path.
func (d Dir) IsFile(path string, f *os.File) bool {
	var open unix.Stat_t
	at, base, err := d.parent(path)
	if err != nil {
		return false
	}
	defer at.close()
	st, err := at.stat(base, path)
	return err == nil && unix.Fstat(int(f.Fd()), &open) == nil && st.Dev == open.Dev && st.Ino == open.Ino
}

// IsPlain reports whether there is a plain file.
func (d Dir) IsPlain(path string) bool {
	info, err := d.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// Remove removes a file, a link or anything else, or an empty folder.
func (d Dir) Remove(path string) error {
	at, base, err := d.parent(path)
	if err != nil {
		return err
	}
	defer at.close()
	return at.remove(base, path)
}

// RemoveAll removes what is at a path, with all that is in it. It is no error if nothing is there.
func (d Dir) RemoveAll(path string) error {
	at, base, err := d.parent(path)
	if err == nil {
		defer at.close()
		err = at.removeAll(base, path)
	}
	if errors.Is(err, fs.ErrNotExist) && Refused(err) == nil {
		return nil
	}
	return err
}

// Clear makes room for a plain file: it removes anything else at the path, and a file with a second name.
func (d Dir) Clear(path string) error {
	at, base, err := d.parent(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && Refused(err) == nil {
			return nil
		}
		return err
	}
	defer at.close()
	if st, err := at.stat(base, path); err != nil || kind(st) == file && st.Nlink == 1 {
		return nil //nolint:nilerr // nothing is there
	}
	return at.removeAll(base, path)
}

// Rename gives a file or a folder another name. It replaces a file that has that name.
func (d Dir) Rename(from, to string) error {
	old, oldBase, err := d.parent(from)
	if err != nil {
		return err
	}
	defer old.close()
	to2, newBase, err := d.parent(to)
	if err != nil {
		return err
	}
	defer to2.close()
	return named("rename", to, unix.Renameat(old.fd, oldBase, to2.fd, newBase))
}

// dirHandle is an open folder.
type dirHandle struct{ fd int }

func (h dirHandle) close() {
	if h.fd >= 0 {
		_ = unix.Close(h.fd) // nothing was written to it
	}
}

// parent opens the folder that a path is in.
func (d Dir) parent(path string) (at dirHandle, base string, err error) {
	if rel, err := d.rel(path); err != nil || rel == "." {
		return dirHandle{-1}, "", fmt.Errorf("%q is not a file in the project %q", path, d.root)
	}
	at, err = d.folder(filepath.Dir(filepath.Clean(path)), 0)
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) {
		missing.Path = path
	}
	return at, filepath.Base(path), err
}

func (d Dir) rel(path string) (string, error) {
	rel, err := filepath.Rel(d.root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is not in the project %q", path, d.root)
	}
	return rel, nil
}

const openFolder = unix.O_DIRECTORY | unix.O_CLOEXEC

// folder opens a folder of the project, and makes it if perm is not 0 and it is missing.
func (d Dir) folder(path string, perm fs.FileMode) (at dirHandle, err error) {
	rel, err := d.rel(path)
	if err != nil {
		return dirHandle{-1}, err
	}
	root := filepath.Clean(d.root)
	open := func() error {
		return retry(func() (err error) { at.fd, err = unix.Open(root, openFolder|search, 0); return err })
	}
	if err = open(); errors.Is(err, unix.ENOENT) && perm != 0 {
		if err := os.MkdirAll(root, perm); err != nil {
			return dirHandle{-1}, err
		}
		err = open()
	}
	if err != nil {
		return dirHandle{-1}, named("open", root, err)
	}
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		if rel == "." {
			break
		}
		root = filepath.Join(root, name)
		next, err := at.openDir(name, root, search)
		if errors.Is(err, fs.ErrNotExist) && Refused(err) == nil && perm != 0 {
			if err = unix.Mkdirat(at.fd, name, uint32(perm.Perm())); err == nil || errors.Is(err, unix.EEXIST) {
				next, err = at.openDir(name, root, search)
			} else {
				err = named("mkdir", root, err)
			}
		}
		at.close()
		if err != nil {
			return dirHandle{-1}, err
		}
		at = next
	}
	return at, nil
}

// openDir opens a folder in this one, to list it or only to search it.
func (h dirHandle) openDir(name, path string, mode int) (next dirHandle, err error) {
	err = retry(func() (err error) {
		next.fd, err = unix.Openat(h.fd, name, openFolder|unix.O_NOFOLLOW|mode, 0)
		return err
	})
	if err == nil {
		return next, nil
	}
	return dirHandle{-1}, h.why(name, path, folder, err)
}

// openFile opens a plain file in this folder.
func (h dirHandle) openFile(name, path string, flags int, perm fs.FileMode) (*os.File, error) {
	fd, _, err := h.open(name, path, flags, perm)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func (h dirHandle) open(name, path string, flags int, perm fs.FileMode) (fd int, st unix.Stat_t, err error) {
	const safe = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	// Truncate it once it is known to be a plain file.
	err = retry(func() (err error) {
		fd, err = unix.Openat(h.fd, name, flags&^os.O_TRUNC|safe, uint32(perm.Perm()))
		return err
	})
	if err != nil {
		return -1, st, h.why(name, path, file, err)
	}
	err = named("stat", path, unix.Fstat(fd, &st))
	if err == nil {
		err = plain(&st, path, flags&(os.O_WRONLY|os.O_RDWR) != 0)
	}
	if err == nil && flags&os.O_TRUNC != 0 {
		err = named("truncate", path, retry(func() error { return unix.Ftruncate(fd, 0) }))
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, st, err
	}
	return fd, st, nil
}

// plain returns an error if this is no plain file or, if it is to be written, has a second name.
func plain(st *unix.Stat_t, path string, write bool) error {
	switch is := kind(st); {
	case is != file:
		return &RefusedError{path, is, file}
	case write && st.Nlink > 1:
		return &RefusedError{path, "a file with a second name elsewhere (a hard link)", "files with one name"}
	}
	return nil
}

// fits returns an error if something else than a plain file, or a socket for a missing one, is at a path.
func (h dirHandle) fits(name, path string) error {
	st, err := h.stat(name, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if is := kind(st); err == nil && is != file && is != socket {
		return &RefusedError{path, is, file}
	}
	return err
}

// why returns the reason for which a path could not be opened.
func (h dirHandle) why(name, path, want string, err error) error {
	if st, statErr := h.stat(name, path); statErr == nil && kind(st) != want {
		return &RefusedError{path, kind(st), want}
	}
	return named("open", path, err)
}

func (h dirHandle) stat(name, path string) (*unix.Stat_t, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return &st, named("lstat", path, err)
}

func (h dirHandle) remove(name, path string) error {
	err := unix.Unlinkat(h.fd, name, 0)
	if err != nil && unix.Unlinkat(h.fd, name, unix.AT_REMOVEDIR) == nil {
		return nil
	}
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) { // EPERM: a folder, on macOS
		if st, statErr := h.stat(name, path); statErr == nil && kind(st) == folder {
			err = unix.ENOTEMPTY
		}
	}
	return named("remove", path, err)
}

func (h dirHandle) removeAll(name, path string) error {
	st, err := h.stat(name, path)
	if err != nil {
		return err
	}
	if kind(st) != folder {
		return h.remove(name, path)
	}
	in, err := h.openDir(name, path, unix.O_RDONLY)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(in.fd), path)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		err = errors.Join(err, in.removeAll(name, filepath.Join(path, name)))
	}
	return errors.Join(err, h.remove(name, path))
}

// FS returns the folder at path for functions such as fs.Glob and fs.WalkDir. Links, pipes and the like are listed, but
// cannot be opened.
func (d Dir) FS(path string) fs.FS { return tree{d, path} }

type tree struct {
	dir  Dir
	path string
}

func (t tree) at(name string) string { return filepath.Join(t.path, filepath.FromSlash(name)) }

func (t tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if f, err := t.dir.OpenDir(t.at(name)); err == nil {
		return f, nil
	}
	return t.dir.Open(t.at(name))
}

func (t tree) ReadDir(name string) ([]fs.DirEntry, error) { return t.dir.ReadDir(t.at(name)) }

// Stat describes a link, and not what it leads to.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		f, err := t.dir.OpenDir(t.path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return f.Stat()
	}
	return t.dir.Lstat(t.at(name))
}
