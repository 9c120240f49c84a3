package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	maxHashed = 1 << 20 // bytes; larger files are compared by size and time
	maxWalked = 20_000  // files visited without git's list
	maxOpened = 20_000  // files hashed in one snapshot
	maxText   = 1 << 20
	maxTexts  = 16 << 20 // bytes of text that one snapshot holds
)

// signature identifies the content of a path: two are equal if nothing changed in between. The zero value means that
// the path does not exist.
type signature struct {
	mode fs.FileMode // type and the owner's execute bit
	sum  [sha256.Size]byte
}

func sign(info fs.FileInfo, data []byte) signature {
	return signature{info.Mode() & (fs.ModeType | 0o100), sha256.Sum256(data)}
}

// signer computes signatures of paths below root.
type signer struct {
	root string
	left int // files inside nested repositories that it may still visit
	room int // bytes of text that it may still hold
	buf  []byte
}

// signed is the state of one path.
type signed struct {
	signature
	text  string
	known bool // text is the content
}

// signAll signs all entries, until ctx ends.
func signAll(ctx context.Context, root string, entries []entry) []signed {
	all := make([]signed, len(entries))
	s := signer{root: root, left: maxWalked, room: maxTexts}
	for i := range entries {
		if ctx.Err() != nil {
			break
		}
		all[i] = s.sign(entries[i], i < maxOpened)
	}
	return all
}

// sign looks only at the path itself, so git's description of the change makes no
// difference: staging a file, or git mv instead of mv.
func (s *signer) sign(e entry, open bool) signed {
	path := filepath.Join(s.root, filepath.FromSlash(e.path))
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return signed{}
	case info.IsDir(): // a submodule, or an untracked repository
		return signed{signature: s.tree(path, info, e.submodule)}
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path) // empty if the link vanishes now
		return signed{signature: sign(info, []byte(target))}
	case !info.Mode().IsRegular():
		return signed{signature: sign(info, nil)}
	}
	if open && info.Size() <= maxHashed {
		if data, ok := s.read(path, int(info.Size())); ok {
			f := signed{signature: sign(info, data)}
			if isText(data) && len(data) <= s.room {
				s.room -= len(data)
				f.text, f.known = string(data), true
			}
			return f
		}
	}
	return signed{signature: stat(info)}
}

// isText reports whether data is text of at most maxText bytes.
func isText(data []byte) bool {
	return len(data) <= maxText && bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0
}

// read returns the content of a file of this size, valid until the next call. It
// returns false if the file cannot be read or has grown.
func (s *signer) read(path string, size int) ([]byte, bool) {
	if len(s.buf) <= size {
		s.buf = make([]byte, 2*size+1)
	}
	// O_NONBLOCK: a file that turned into a pipe must not block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0) // file: many files, so by hand: neither links nor pipes
	if err != nil {
		return nil, false
	}
	defer f.Close()
	n, err := io.ReadFull(f, s.buf)
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, false
	}
	return s.buf[:n], true
}

// tree signs a nested repository by the sizes and times of its files.
func (s *signer) tree(dir string, info fs.FileInfo, submodule string) signature {
	list := fmt.Appendln(nil, submodule)
	_ = WalkFiles(dir, &s.left, func(path string, info fs.FileInfo) error { // unreadable files do not count
		list = fmt.Appendf(list, "%q %x\n", path, stat(info).sum)
		return nil
	})
	return sign(info, list)
}

// ObserveFolder takes the Snapshot of a folder without git: at most limit files, by size and time. It leaves out
// what WalkFiles skips.
func ObserveFolder(ctx context.Context, dir string, limit int) (Snapshot, error) {
	snap := newSnapshot(false)
	err := WalkFiles(dir, &limit, func(path string, info fs.FileInfo) error {
		snap.files[path] = stat(info)
		return ctx.Err()
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("observe folder %q: %w", dir, err)
	}
	return snap, nil
}

func stat(info fs.FileInfo) signature {
	return sign(info, fmt.Appendf(nil, "size %d time %d", info.Size(), info.ModTime().UnixNano()))
}

// WalkFiles calls visit for the files below dir, in lexical order, with slash-separated
// paths relative to dir, and counts left down to zero. It skips unreadable files and
// folders that do not hold the project's own work.
func WalkFiles(dir string, left *int, visit func(path string, info fs.FileInfo) error) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == ".":
			return err
		case err != nil:
			return nil
		}
		if d.IsDir() && path != "." {
			switch d.Name() {
			case ".git", ".ralph", "node_modules", "vendor":
				return fs.SkipDir
			}
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone
		}
		if *left <= 0 {
			return fs.SkipAll
		}
		*left--
		return visit(path, info)
	})
}
