package intact

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

	"ralph/state"
	"ralph/state/people"
)

const (
	maxOwn = 16 << 20 // bytes of a file that is compared
	// recorded is how long a person's command may take between writing a file and its record.
	recorded = 300 * time.Millisecond
)

// own are ralph's own files in a folder, before a call.
type own struct {
	root     *os.Root
	prefix   string   // of names, for people
	patterns []string // of the names of files
	files    map[string][]byte
	since    time.Time
}

// remember reads the files that decide what a run does: in the state directory, and beside it.
func remember(dir, logs string) (all []own) {
	if dir == "" {
		return nil
	}
	for _, o := range []own{{prefix: state.DirName + "/", patterns: state.Deciding(logs)}, {patterns: []string{".ralphrc"}}} {
		var err error
		if o.root, err = os.OpenRoot(dir); err == nil {
			o.since, o.files = time.Now(), o.read()
			all = append(all, o)
		}
		dir = filepath.Dir(dir)
	}
	return all
}

// read reads what is there now. A link is not followed: what it leads to is another file.
func (o own) read() map[string][]byte {
	all := map[string][]byte{}
	for _, pattern := range o.patterns {
		names, _ := fs.Glob(o.root.FS(), pattern)
		for _, name := range names {
			info, err := o.root.Lstat(name)
			if err != nil {
				continue
			}
			all[name] = []byte("not a file of ralph: " + info.Mode().Type().String())
			if info.Mode().IsRegular() && info.Size() <= maxOwn {
				if data, err := o.root.ReadFile(name); err == nil {
					all[name] = data
				}
			}
		}
	}
	return all
}

// restore puts back what neither ralph nor a person has written, and names it. record is what
// people wrote; empty: nobody knows, and what they may write stays.
func (o own) restore(c Call, record string) (names []string, err error) {
	defer o.root.Close()
	all := o.forged(record)
	if len(all) > 0 && record != "" {
		time.Sleep(recorded)
		all = o.forged(record)
	}
	now := o.read()
	for _, name := range all {
		data, there := now[name]
		if there || !strings.Contains(name, "/") { // old notes and questions that are gone were perhaps too many
			names = append(names, o.prefix+name)
		}
		c.keepAside(name, data)
		if broken := o.put(name); broken != nil {
			err = errors.Join(err, fmt.Errorf("restore state: %w", broken))
		}
	}
	return names, err
}

// forged are the files that differ from what they should be.
func (o own) forged(record string) (names []string) {
	now := o.read()
	if o.prefix == "" {
		record = "" // it is about the state directory
	}
	for name, w := range people.Since(record, o.since) {
		if o.files[name] = w.Data; w.Data == nil {
			delete(o.files, name)
		}
	}
	for name, data := range now {
		if was, known := o.files[name]; (!known || !bytes.Equal(was, data)) && (record != "" || !state.OfPeople(name)) {
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

// put writes a file as it was, or removes one that was not there.
func (o own) put(name string) error {
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
	data, known := o.files[name]
	err := o.root.RemoveAll(name)
	if known && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return o.root.WriteFile(name, data, 0o600)
	}
	return err
}
