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
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	maxHashed = 1 << 20 // bytes; larger files are compared by size and time
	maxWalked = 20_000  // files visited where git does not list them
	maxOpened = 20_000  // files hashed in one snapshot
	maxText   = 256 << 10
	maxTexts  = 16 << 20 // bytes of text that one snapshot holds
)

// signature is equal for two states of a path if nothing changed in between. The
// zero value stands for a path that does not exist.
type signature struct {
	mode fs.FileMode // type and the owner's execute bit
	sum  [sha256.Size]byte
}

func sign(info fs.FileInfo, data []byte) signature {
	return signature{info.Mode() & (fs.ModeType | 0o100), sha256.Sum256(data)}
}

// signer computes signatures of paths below root, one after the other.
type signer struct {
	root string
	left int // files that it may still visit
	buf  []byte
	room *atomic.Int64 // bytes of text that all may still hold
}

// signed is what a signer knows about one path.
type signed struct {
	signature
	text  string
	known bool // text is the content
}

// signAll signs all entries, until ctx ends, and holds the texts of the first.
// It opens several at once: for small files that takes longer than hashing.
func signAll(ctx context.Context, root string, entries []entry) []signed {
	all := make([]signed, len(entries))
	var room atomic.Int64
	room.Store(maxTexts)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8, len(entries)) {
		wg.Go(func() {
			s := signer{root: root, left: maxWalked, room: &room}
			for i := int(next.Add(1)) - 1; i < len(entries) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				all[i] = s.sign(entries[i], i < maxOpened)
			}
		})
	}
	wg.Wait()
	return all
}

// sign reads the path itself, so that it does not matter how git describes the
// change: staging a file, or git mv instead of mv, makes no difference.
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
			if isText(data) && s.room.Add(-int64(len(data))) >= 0 {
				f.text, f.known = string(data), true
			}
			return f
		}
	}
	return signed{signature: stat(info)}
}

// isText reports whether data is worth holding as a text.
func isText(data []byte) bool {
	return len(data) <= maxText && bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0
}

// read returns the content of a file of this size, valid until the next call;
// false when it cannot be read or has grown.
func (s *signer) read(path string, size int) ([]byte, bool) {
	if len(s.buf) <= size {
		s.buf = make([]byte, 2*size+1)
	}
	// O_NONBLOCK: a file that turned into a pipe must not block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close() // opened for reading only
	n, err := io.ReadFull(f, s.buf)
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, false
	}
	return s.buf[:n], true
}

// tree signs a folder that is a repository of its own, by sizes and times.
func (s *signer) tree(dir string, info fs.FileInfo, submodule string) signature {
	list := fmt.Appendln(nil, submodule)
	_ = eachFile(dir, &s.left, func(path string, info fs.FileInfo) error { // what cannot be read does not count
		list = fmt.Appendf(list, "%q %x\n", path, stat(info).sum)
		return nil
	})
	return sign(info, list)
}

// walk takes the Snapshot of a folder without git: its files, at most limit, by
// size and time.
func walk(ctx context.Context, dir string, limit int) (Snapshot, error) {
	snap := newSnapshot(false)
	err := eachFile(dir, &limit, func(path string, info fs.FileInfo) error {
		snap.files[path] = stat(info)
		return ctx.Err()
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("observe folder %q: %w", dir, err)
	}
	return snap, nil
}

// eachFile calls see for the files below dir, in lexical order, with their
// slash-separated paths relative to dir, and counts left down to zero. It skips
// folders that hold no work of the project, and what cannot be read.
func eachFile(dir string, left *int, see func(path string, info fs.FileInfo) error) error {
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
		return see(path, info)
	})
}

func stat(info fs.FileInfo) signature {
	return sign(info, fmt.Appendf(nil, "size %d time %d", info.Size(), info.ModTime().UnixNano()))
}
