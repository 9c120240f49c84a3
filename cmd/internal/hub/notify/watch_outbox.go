package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ralph/state/projectfs"
)

const (
	tries    = 24 * time.Hour      // then an entry is given up
	kept     = 30 * 24 * time.Hour // names of what was sent
	maxEntry = 16 << 20            // bytes
	pending  = 1000                // entries for one address; beyond that, the oldest are given up
	maxWait  = 15 * time.Minute    // between two tries
)

// outboxEntry is something to send. Its name on disk is To, Run, Seq and Kind, which must be fit
// for a file name without dots: the same four are never sent twice.
type outboxEntry struct {
	To   string `json:"-"` // who gets it: a digest, as addresses hold keys
	Run  string `json:"run"`
	Seq  int64  `json:"seq"`
	Kind string `json:"kind"`

	Title   string          `json:"title,omitempty"`
	Text    string          `json:"text,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Created time.Time       `json:"created"`
	Next    time.Time       `json:"next,omitzero"` // not before
	Tries   int             `json:"tries,omitempty"`
}

func (e outboxEntry) name() string { return fmt.Sprintf("%s.%s.%012d.%s", e.To, e.Run, e.Seq, e.Kind) }

// outbox is a folder that keeps entries until they are sent. Several processes may use it: an entry is added only
// once, and only one process sends at a time.
type outbox struct {
	dir     string
	project projectfs.Dir
}

// openOutbox makes the folder where needed and forgets what was sent long ago.
func openOutbox(dir string) (outbox, error) {
	project := projectfs.Above(dir)
	if err := project.MkdirAll(dir, 0o700); err != nil {
		return outbox{}, fmt.Errorf("open outbox: %w", err)
	}
	entries, err := project.ReadDir(dir)
	if err != nil {
		return outbox{}, fmt.Errorf("open outbox: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && (info.Size() == 0 || strings.HasPrefix(e.Name(), ".")) && // or half written
			time.Since(info.ModTime()) > kept {
			_ = project.Remove(filepath.Join(dir, e.Name())) // if it fails, the next Open tries again
		}
	}
	return outbox{dir, project}, nil
}

// Put adds an entry. If there is one with the same name, sent or not, it does nothing.
func (b outbox) Put(e outboxEntry) error {
	path := filepath.Join(b.dir, e.name())
	if strings.ContainsAny(e.name(), "/\x00") {
		return fmt.Errorf("keep message: %q is not a name", e.name())
	}
	if e.Created.IsZero() {
		e.Created = time.Now()
	}
	lock, err := b.project.OpenDir(b.dir) // of two at once, the second finds the entry
	if err != nil {
		return fmt.Errorf("keep message: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("keep message: %w", err)
	}
	if _, err := b.project.Lstat(path); err == nil {
		return nil
	}
	return b.save(path, e)
}

// Deliver sends the entries that are due for one address, the oldest first. Entries of a run are
// never sent out of order. While another process delivers, it does nothing. It returns how many
// entries are left, and the errors of those that were given up.
func (b outbox) Deliver(ctx context.Context, to string, send func(context.Context, outboxEntry) error) (left int, lost error) {
	waiting, err := b.waiting(to)
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	lock, err := b.project.OpenFile(filepath.Join(b.dir, to+".lock"), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return len(waiting), fmt.Errorf("lock outbox: %w", err)
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return len(waiting), nil
	}
	if waiting, err = b.waiting(to); err != nil { // another process may have sent some
		return 0, err
	}
	held := map[string]bool{}
	for i, name := range waiting {
		path := filepath.Join(b.dir, name)
		e, err := b.read(path)
		if err != nil || i < len(waiting)-pending {
			lost = errors.Join(lost, b.done(path), err)
			continue
		}
		if held[e.Run] || time.Now().Before(e.Next) || ctx.Err() != nil {
			held[e.Run] = true
			left++
			continue
		}
		if err = send(ctx, e); err == nil {
			lost = errors.Join(lost, b.done(path))
			continue
		}
		e.Tries++
		if time.Since(e.Created) > tries {
			lost = errors.Join(lost, fmt.Errorf("given up after a day: %w", err), b.done(path))
			continue
		}
		held[e.Run] = true
		left++
		e.Next = time.Now().Add(min(maxWait, 5*time.Second<<min(e.Tries-1, 10)))
		lost = errors.Join(lost, b.save(path, e))
	}
	return left, lost
}

// Left is how many entries for one address are not sent.
func (b outbox) Left(to string) (int, error) {
	names, err := b.waiting(to)
	return len(names), err
}

// waiting are the names of the entries that are not sent, the oldest of a run first.
func (b outbox) waiting(to string) ([]string, error) {
	entries, err := b.project.ReadDir(b.dir)
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), to+".") && strings.Count(e.Name(), ".") == 3 &&
			info.Mode().IsRegular() && info.Size() > 0 {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func (b outbox) read(path string) (outboxEntry, error) {
	data, err := b.project.Read(path, maxEntry)
	var e outboxEntry
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		return e, fmt.Errorf("read message %s: %w", path, err)
	}
	return e, nil
}

func (b outbox) save(path string, e outboxEntry) error {
	data, err := json.Marshal(e)
	if err == nil {
		err = b.project.Write(path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep message: %w", err)
	}
	return nil
}

// done empties the file. Its name stays, so that nobody adds the entry again.
func (b outbox) done(path string) error {
	f, err := b.project.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return fmt.Errorf("note that a message is sent: %w", err)
	}
	return nil
}
