//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// call is one successful system call on a file of the state directory.
type call struct {
	name     string // of the call
	path, to string // relative to the state directory; to: of a rename
	data     []byte // of a write
	truncate bool   // of an open
}

// inode is a file's content, and how much of it is sure to be on the disk.
type inode struct {
	data   []byte
	synced int
}

// disk is what the calls so far allow a power cut to leave. Without a sync of
// the folder any earlier file may be back under a name, or none: names are
// written in any order. What was not synced of a file may be missing, or zero.
type disk struct {
	now      map[string]*inode   // what a name means without a power cut
	versions map[string][]*inode // all that a name ever meant
}

func newDisk() *disk { return &disk{now: map[string]*inode{}, versions: map[string][]*inode{}} }

func (d *disk) bind(name string, f *inode) {
	d.now[name] = f
	d.versions[name] = append(d.versions[name], f)
}

func (d *disk) apply(c call) {
	f := d.now[c.path]
	switch {
	case strings.HasPrefix(c.name, "open"):
		switch {
		case f == nil:
			d.bind(c.path, &inode{})
		case c.truncate && len(f.data) > 0: // in place: old and new share a name
			d.bind(c.path, &inode{})
		}
	case strings.HasPrefix(c.name, "rename"):
		if f != nil {
			delete(d.now, c.path)
			d.bind(c.to, f)
		}
	case strings.HasPrefix(c.name, "unlink"):
		delete(d.now, c.path)
	case f == nil:
	case strings.HasPrefix(c.name, "write"), strings.HasPrefix(c.name, "pwrite"):
		f.data = append(f.data, c.data...)
	case c.name == "fsync", c.name == "fdatasync":
		f.synced = len(f.data)
	case strings.HasSuffix(c.name, "truncate"):
		f.data, f.synced = nil, 0
	}
}

// legal lists what a power cut now may leave under a name; nil is not a file.
func (d *disk) legal(name string) (all [][]byte) {
	all = append(all, nil)
	for _, f := range d.versions[name] {
		all = append(all, bytes.Clone(f.data))
		if f.synced < len(f.data) {
			zeros := bytes.Clone(f.data)
			clear(zeros[f.synced:])
			all = append(all, append([]byte{}, f.data[:f.synced]...), append([]byte{}, f.data[:(f.synced+len(f.data))/2]...), zeros)
		}
	}
	return all
}

// leave writes one legal state into a folder.
func (d *disk) leave(dir string, r *rand.Rand) error {
	for name := range d.versions {
		all := d.legal(name)
		data := all[r.IntN(len(all))]
		if data == nil || isTemporary(name) {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func isTemporary(name string) bool {
	return strings.HasPrefix(filepath.Base(name), ".") && strings.TrimRight(name, "0123456789") != name
}

// traceCalls are those that change a file or make it sure.
const traceCalls = "openat,creat,write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,ftruncate,truncate"

// readTrace returns the calls on files below dir, in the order of their ends.
func readTrace(t *testing.T, path, dir string) (all []call) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (\d+)`)
	resumed := regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)`)
	begun := map[string]string{}
	for l := range strings.Lines(string(text)) {
		l = strings.TrimSuffix(l, "\n")
		if before, ok := strings.CutSuffix(l, " <unfinished ...>"); ok {
			begun[strings.Fields(l)[0]] = before
			continue
		}
		if m := resumed.FindStringSubmatch(l); m != nil {
			l = begun[m[1]] + m[2]
		}
		if m := line.FindStringSubmatch(l); m != nil {
			if c, ok := newCall(m[2], m[3], dir); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

var (
	stringArg = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	fileArg   = regexp.MustCompile(`^\d+<((?:\\x[0-9a-f]{2})*)>`)
	// atArg is a name relative to an open folder, or an absolute one.
	atArg = regexp.MustCompile(`(?:\d+|AT_FDCWD)(?:<((?:\\x[0-9a-f]{2})*)>)?, "((?:\\x[0-9a-f]{2})*)"`)
)

func newCall(name, args, dir string) (c call, ok bool) {
	c.name, c.truncate = name, strings.Contains(args, "O_TRUNC")
	if name == "openat" && !strings.Contains(args, "O_WRONLY") && !strings.Contains(args, "O_RDWR") {
		return c, false
	}
	var texts []string
	for _, m := range stringArg.FindAllStringSubmatch(args, -1) {
		texts = append(texts, unhex(m[1]))
	}
	if strings.HasSuffix(strings.TrimSuffix(name, "2"), "at") {
		for i, m := range atArg.FindAllStringSubmatch(args, -1) {
			full := unhex(m[2])
			if !filepath.IsAbs(full) {
				full = filepath.Join(unhex(m[1]), full)
			}
			if c.to = full; i == 0 {
				c.path = full
			}
		}
	} else if m := fileArg.FindStringSubmatch(args); m != nil {
		c.path = unhex(m[1])
		if len(texts) > 0 {
			c.data = []byte(texts[0])
		}
	} else if len(texts) > 0 {
		c.path = texts[0]
		c.to = texts[len(texts)-1]
	}
	path, err := filepath.Rel(dir, c.path)
	if err != nil || strings.HasPrefix(path, "../") || !filepath.IsAbs(c.path) {
		return c, false
	}
	c.path = path
	c.to, _ = filepath.Rel(dir, c.to)
	return c, true
}

// unhex decodes \x00\x01...
func unhex(text string) string {
	var b strings.Builder
	for _, h := range strings.Split(text, `\x`)[1:] {
		n, err := strconv.ParseUint(h, 16, 8)
		if err != nil {
			panic(fmt.Sprintf("strace printed %q", h))
		}
		b.WriteByte(byte(n))
	}
	return b.String()
}
