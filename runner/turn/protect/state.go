package protect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/runner/task/store"
	"ralph/state"
)

const (
	maxOwn = 16 << 20 // bytes of a file to compare
	// RecordDelay is how long a person's command may take to record that it wrote a file.
	RecordDelay = 300 * time.Millisecond
)

// ownFiles are ralph's own files in a folder, as they were before a call.
type ownFiles struct {
	root     *os.Root
	real     string // where it led
	link     string // its target, if the user made it a link
	project  string
	prefix   string   // of names in messages
	patterns []string // globs of the files
	files    map[string]entry
	since    time.Time
}

// entry is a file or a link.
type entry struct {
	file
	link  string // its target, if the user made it a link; file is then what it leads to
	other string // what it is, if it is neither; empty: it is one of them
}

func (e entry) same(o entry) bool {
	return e.link == o.link && e.real == o.real && e.other == o.other && bytes.Equal(e.data, o.data)
}

// remember reads the files that decide what a run does: in the state directory, and beside it. Those that
// steer a program which keeps the plan belong to them, because ralph starts it outside the sandbox.
func remember(dir string) (all []ownFiles) {
	if dir == "" {
		return nil
	}
	project := filepath.Dir(dir)
	own := []ownFiles{{prefix: state.DirName + "/", patterns: state.Deciding()}, {patterns: []string{".ralphrc"}}}
	steering, _ := store.Steering("")
	for _, name := range steering {
		folder, pattern, _ := strings.Cut(name, "/")
		if strings.HasSuffix(pattern, "/") {
			pattern += "*"
		}
		own = append(own, ownFiles{prefix: folder + "/", patterns: []string{pattern}})
	}
	for _, o := range own {
		var err error
		if o.project = project; o.prefix != state.DirName+"/" {
			dir = filepath.Join(project, o.prefix)
		}
		if o.root, err = os.OpenRoot(dir); err == nil {
			o.real, o.since = realPath(dir), time.Now()
			o.link, _ = os.Readlink(dir) // it fails unless dir is a link
			o.files = o.read()
			all = append(all, o)
		}
	}
	return all
}

// read reads the current files.
func (o ownFiles) read() map[string]entry {
	all := map[string]entry{}
	for _, pattern := range o.patterns {
		names, _ := fs.Glob(o.root.FS(), pattern)
		for _, name := range names {
			if info, err := o.root.Lstat(name); err == nil {
				all[name] = o.entry(name, info)
			}
		}
	}
	return all
}

// entry reads one entry. Before the call it follows a link; after the call, only to the same file: the
// call may have pointed the link to a secret that it cannot read itself.
func (o ownFiles) entry(name string, info fs.FileInfo) (e entry) {
	e.path = filepath.Join(o.root.Name(), filepath.FromSlash(name))
	err := fs.ErrInvalid
	switch was := o.files[name]; {
	case info.Mode().IsRegular() && info.Size() <= maxOwn:
		e.mode = info.Mode().Perm()
		e.data, err = o.root.ReadFile(name)
	case info.Mode()&fs.ModeSymlink != 0:
		e.link, _ = o.root.Readlink(name)
		e.real = realPath(e.path)
		if followed, statErr := os.Stat(e.real); statErr == nil && (o.files == nil || e.real == was.real) {
			e.mode = followed.Mode().Perm()
			e.data, err = state.ReadFile(e.real, maxOwn)
		}
	}
	if err != nil {
		e.other = "not a file: " + info.Mode().Type().String()
	}
	return e
}

// restore restores what neither ralph nor a person has changed, and returns the names; aside says
// whether it kept a text. record is the file in which people's writes are recorded; if empty, files that people may
// write stay.
func (o ownFiles) restore(c Call, record string) (names []string, aside bool, err error) {
	_ = o.root.Close() // the call may have moved the folder
	if o.root, err = o.reopen(); err != nil {
		return nil, false, fmt.Errorf("restore state: %w", err)
	}
	defer o.root.Close()
	all := o.forged(record)
	if len(all) > 0 && record != "" {
		time.Sleep(RecordDelay)
		all = o.forged(record)
	}
	now := o.read()
	for _, name := range all {
		is, there := now[name]
		if there || !strings.Contains(name, "/") { // ralph itself removes old notes and questions
			names = append(names, o.prefix+name)
		}
		aside = c.keepAside(name, is.data) != "" || aside
		if broken := o.put(name, is); broken != nil {
			err = errors.Join(err, fmt.Errorf("restore state: %w", broken))
		}
	}
	return names, aside, err
}

// reopen opens the folder again. If the call has replaced it, reopen makes a new one.
func (o ownFiles) reopen() (*os.Root, error) {
	dir := o.root.Name()
	now, _ := os.Readlink(dir)
	if info, err := os.Stat(dir); err == nil && info.IsDir() && now == o.link && realPath(dir) == o.real {
		return os.OpenRoot(dir)
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		if err := os.Remove(dir); err != nil {
			return nil, err
		}
	}
	if o.link != "" {
		if err := errors.Join(os.MkdirAll(o.real, 0o755), os.RemoveAll(dir), os.Symlink(o.link, dir)); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// forged returns the files that differ from what they should be.
func (o ownFiles) forged(record string) (names []string) {
	now := o.read()
	for name, w := range state.PeopleSince(record, o.since) {
		if name, ours := strings.CutPrefix(name, o.prefix); ours && o.decides(name) {
			o.write(name, w)
		}
	}
	for name, is := range now {
		was, known := o.files[name]
		if (!known || !was.same(is) && !o.elsewhere(was, is)) && (record != "" || !state.OfPeople(name)) {
			names = append(names, name)
		}
	}
	for name := range o.files {
		if _, there := now[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (o ownFiles) decides(name string) bool {
	return slices.ContainsFunc(o.patterns, func(pattern string) bool {
		fits, _ := path.Match(pattern, name)
		return fits
	})
}

// write records what a person wrote.
func (o ownFiles) write(name string, w state.Written) {
	if w.Data == nil {
		delete(o.files, name)
		return
	}
	e := o.files[name] // a link stays a link
	e.data, e.mode, e.other = w.Data, fs.FileMode(w.Mode), ""
	o.files[name] = e
}

// elsewhere is true if only the target of a link has changed, and it is where no call can write.
func (o ownFiles) elsewhere(was, is entry) bool {
	if was.link == "" || was.link != is.link || was.real != is.real || is.other != "" {
		return false
	}
	writable := []string{o.project, o.root.Name(), os.TempDir(), "/tmp", "/var/tmp"}
	return !slices.ContainsFunc(writable, func(dir string) bool {
		rel, err := filepath.Rel(realPath(dir), was.real)
		return err == nil && filepath.IsLocal(rel)
	})
}

// put restores a file, or removes a new one.
func (o ownFiles) put(name string, is entry) error {
	was, known := o.files[name]
	if known && was.other != "" {
		return nil // its content is not known
	}
	if dir := path.Dir(name); dir != "." {
		if info, err := o.root.Lstat(dir); err == nil && !info.IsDir() {
			if err := o.root.Remove(dir); err != nil {
				return err
			}
		}
		if err := o.root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if known && was.link != "" && was.link == is.link {
		return was.file.write(was.data)
	}
	if err := o.root.RemoveAll(name); err != nil && !errors.Is(err, fs.ErrNotExist) || !known {
		return err
	}
	if was.link != "" {
		return errors.Join(o.root.Symlink(was.link, name), was.file.write(was.data))
	}
	return errors.Join(o.root.WriteFile(name, was.data, was.mode), o.root.Chmod(name, was.mode))
}
