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

	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/task/store"
	"ralph/state"
)

const (
	maxOwn = 16 << 20 // bytes of a file to compare
	// RecordDelay is how long a person's command may take to record that it wrote a file.
	RecordDelay = 300 * time.Millisecond
)

// ownFiles are ralph's own files in a folder, as they were before a call. None of them is a link: ralph does not start
// where one is.
type ownFiles struct {
	dir      string
	real     string   // where it led; only the folder of another program can be a link
	prefix   string   // of names in messages
	patterns []string // globs of the files
	files    map[string]entry
	since    time.Time
}

// entry is a file, or something else in its place.
type entry struct {
	data  []byte
	mode  os.FileMode
	other string // what it is, if its content is not known; empty: a file
}

func (e entry) same(o entry) bool { return e.other == o.other && bytes.Equal(e.data, o.data) }

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
		if o.dir = filepath.Join(project, o.prefix); o.prefix == state.DirName+"/" {
			o.dir = dir
		}
		if root, err := os.OpenRoot(o.dir); err == nil {
			o.real, _ = filepath.EvalSymlinks(o.dir)
			o.since, o.files = time.Now(), o.read(root)
			_ = root.Close()
			all = append(all, o)
		}
	}
	return all
}

// read reads the current files.
func (o ownFiles) read(root *os.Root) map[string]entry {
	all := map[string]entry{}
	for _, pattern := range o.patterns {
		names, _ := fs.Glob(root.FS(), pattern)
		for _, name := range names {
			info, err := root.Lstat(name)
			if err != nil {
				continue
			}
			e := entry{mode: info.Mode().Perm()}
			if err = fs.ErrInvalid; info.Mode().IsRegular() && info.Size() <= maxOwn {
				e.data, err = root.ReadFile(name)
			}
			if err != nil {
				e.other = "not a file: " + info.Mode().Type().String()
			}
			all[name] = e
		}
	}
	return all
}

// restore restores what neither ralph nor a person has changed, and returns the names; aside says
// whether it kept a text. record is the file in which people's writes are recorded; if empty, files that people may
// write stay.
func (o ownFiles) restore(c Call, record string) (names []string, aside bool, err error) {
	root, err := o.reopen()
	if err != nil {
		return nil, false, fmt.Errorf("restore state: %w", err)
	}
	defer root.Close()
	now, all := o.forged(root, record)
	if len(all) > 0 && record != "" {
		time.Sleep(RecordDelay)
		now, all = o.forged(root, record)
	}
	for _, name := range all {
		is, there := now[name]
		if there || !strings.Contains(name, "/") { // ralph itself removes old notes and questions
			names = append(names, o.prefix+name)
		}
		aside = c.keepAside(name, is.data) != "" || aside
		if broken := o.put(root, name); broken != nil {
			err = errors.Join(err, fmt.Errorf("restore state: %w", broken))
		}
	}
	return names, aside, err
}

// reopen opens the folder again. If the call has put something else there, reopen makes a new one.
func (o ownFiles) reopen() (*os.Root, error) {
	info, err := os.Stat(o.dir)
	if real, _ := filepath.EvalSymlinks(o.dir); err == nil && info.IsDir() && real == o.real {
		return os.OpenRoot(o.dir)
	}
	if info, err = os.Lstat(o.dir); err == nil && !info.IsDir() {
		if err := os.Remove(o.dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(o.dir)
}

// forged returns the current files, and the names of those that differ from what they should be.
func (o ownFiles) forged(root *os.Root, record string) (now map[string]entry, names []string) {
	now = o.read(root)
	for name, w := range state.PeopleSince(record, o.since) {
		if name, ours := strings.CutPrefix(name, o.prefix); ours && o.decides(name) {
			if o.files[name] = (entry{data: w.Data, mode: fs.FileMode(w.Mode)}); w.Data == nil {
				delete(o.files, name)
			}
		}
	}
	for name, is := range now {
		was, known := o.files[name]
		if (!known || !was.same(is)) && (record != "" || !state.OfPeople(name)) {
			names = append(names, name)
		}
	}
	for name := range o.files {
		if _, there := now[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return now, names
}

func (o ownFiles) decides(name string) bool {
	return slices.ContainsFunc(o.patterns, func(pattern string) bool {
		fits, _ := path.Match(pattern, name)
		return fits
	})
}

// put restores a file, or removes a new one.
func (o ownFiles) put(root *os.Root, name string) error {
	was, known := o.files[name]
	if known && was.other != "" {
		return nil // its content is not known
	}
	if dir := path.Dir(name); dir != "." {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			if err := root.Remove(dir); err != nil {
				return err
			}
		}
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := root.RemoveAll(name); err != nil && !errors.Is(err, fs.ErrNotExist) || !known {
		return err
	}
	return errors.Join(root.WriteFile(name, was.data, was.mode), root.Chmod(name, was.mode))
}

// Written has what people have written with ralph's commands since the first Look. The zero value: nothing.
type Written struct {
	since time.Time
	files map[string]state.Written
}

// Look reads the record of people's writes, which is beside that of plan edits. since counts only in the first call.
func (w *Written) Look(edits string, since time.Time) Written {
	if w.since.IsZero() {
		w.since = since
	}
	w.files = state.PeopleSince(state.PeopleRecordPath(edits), w.since)
	return *w
}

// Steered adds to files the changed ones that control the run and that git does not show, and leaves out what
// people have written.
func Steered(dir string, files []git.ChangedFile, found []git.ChangedFile, by Written) []git.ChangedFile {
	inProject := command.Relative(dir)
	for _, c := range found {
		if !slices.ContainsFunc(files, func(f git.ChangedFile) bool { return inProject(f.Path) == c.Path }) {
			files = append(files, c)
		}
	}
	return slices.DeleteFunc(files, func(f git.ChangedFile) bool {
		w, known := by.files[inProject(f.Path)]
		return known && f.After == string(w.Data)
	})
}
