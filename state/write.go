package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

const historyKept = 500

// Gitignore is the content of .ralph/.gitignore. It hides ralph's state from git, but
// not the user's own files.
const Gitignore = `# ralph's state; the files below are yours
*
!.gitignore
!PROMPT.md
!fix_plan.md
!prd.json
!AGENT.md
!config.yaml
!progress.txt
!specs/
!specs/**
`

// Writer changes the state of one project. It exists only while the lock is held.
type Writer struct {
	*Reader
	owner  Owner
	linked bool // the state directory is a link that the user made

	holding sync.Mutex // guards the fields below
	lock    *flock.Flock
	retaken bool // by HoldLock, since the last Ensure
}

// Acquire creates the state directory if needed, takes the lock and renames
// unusable state files to NAME.corrupt-TIME; it returns one error for each of them.
// It fails with *LockedError if another runner is alive.
func Acquire(dir string, owner Owner) (*Writer, []error, error) {
	w := &Writer{Reader: Open(dir), owner: owner, linked: isLink(dir)}
	err := w.makeDirs()
	if err == nil {
		w.lock, err = acquireLock(w.path(fileLock), owner)
	}
	if err != nil {
		return nil, nil, err
	}
	aside, err := w.setAsideCorrupt(owner.StartedAt)
	if err == nil {
		err = errors.Join(w.removeTemporary(), w.ensureGitignore())
	}
	if err != nil {
		return nil, nil, errors.Join(err, w.Release())
	}
	return w, aside, nil
}

func (w *Writer) makeDirs() error {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return fmt.Errorf("create state directory: %w", err)
	}
	return errors.Join(realDir(w.path(dirLogs), 0o755), realDir(w.path(dirControl), 0o755))
}

// Ensure restores the state directory after somebody deleted it or replaced its
// folders with links. That includes the lock: a lock on an unlinked file keeps
// nobody out. lost reports whether anything was missing.
func (w *Writer) Ensure() (lost bool, err error) {
	w.holding.Lock()
	defer w.holding.Unlock()
	lost, w.retaken = w.retaken, false
	linked, err := w.removeLinks()
	if err != nil {
		return true, err
	}
	held, err := w.hold()
	lost = lost || linked || !held
	if err == nil {
		err = w.makeDirs()
	}
	if err == nil && lost {
		err = w.ensureGitignore()
	}
	return lost, err
}

// HoldLock takes the lock again if its file was deleted; until then, another runner
// could start. It is safe to call while the state is written. A *LockedError means
// that another runner has started.
func (w *Writer) HoldLock() error {
	w.holding.Lock()
	defer w.holding.Unlock()
	held, err := w.hold()
	w.retaken = w.retaken || !held
	return err
}

// hold reports whether the lock on disk is the one that this Writer holds; if not,
// it takes the lock.
func (w *Writer) hold() (held bool, err error) {
	now, err1 := w.lock.Stat()
	onDisk, err2 := os.Lstat(w.path(fileLock))
	if err1 == nil && err2 == nil && os.SameFile(now, onDisk) {
		return true, nil
	}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return false, fmt.Errorf("create state directory: %w", err)
	}
	lock, err := acquireLock(w.path(fileLock), w.owner)
	if err != nil {
		return false, err
	}
	_ = w.lock.Close() // of the unlinked file
	w.lock = lock
	return false, nil
}

func (w *Writer) ensureGitignore() error {
	path := w.path(fileGitignore)
	if err := clearForeign(path); err != nil { // git would hang on a pipe
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return w.write(fileGitignore, []byte(Gitignore), 0o644)
}

// removeTemporary removes the files of a runner that was killed between a write and
// its rename. Only the holder of the lock creates them.
func (w *Writer) removeTemporary() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return fmt.Errorf("clear state: %w", err)
	}
	names := []string{fileFlags, fileGitignore}
	for _, f := range Files() {
		names = append(names, f.Name)
	}
	for _, e := range entries {
		stem := strings.TrimRight(e.Name(), "0123456789")
		if stem == e.Name() || !strings.HasPrefix(stem, ".") || !slices.Contains(names, stem[1:]) {
			continue
		}
		if err := remove(w.path(e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// setAsideCorrupt renames unusable files, so that nothing is lost and the defaults
// take their place.
func (w *Writer) setAsideCorrupt(now time.Time) ([]error, error) {
	_, e1 := w.Status()
	_, e2 := w.Breaker()
	_, e3 := w.Session()
	_, e4 := w.Signals()
	_, e5 := readCount(w.path(fileCalls), 1<<31)
	_, e6 := readCount(w.path(fileTokens), 1<<53)
	_, e7 := readHour(w.path(fileReset))
	var aside []error
	for _, err := range []error{e1, e2, e3, e4, e5, e6, e7} {
		var corrupt *CorruptError
		if errors.As(err, &corrupt) {
			to := corrupt.Path + ".corrupt-" + now.Format("20060102T150405.000")
			err = os.Rename(corrupt.Path, to)
			aside = append(aside, fmt.Errorf("%w; kept as %q, starting from the default", corrupt, filepath.Base(to)))
		}
		if err != nil {
			return nil, fmt.Errorf("set state file aside: %w", err)
		}
	}
	return aside, nil
}

// Release gives the lock back. It empties the lock file but keeps it: otherwise two
// runners could hold locks on two files of the same name.
func (w *Writer) Release() error {
	return errors.Join(overwrite(w.path(fileLock), nil), w.lock.Close())
}

// ClearRun removes the files of one run, so that nothing from a dead run can end
// the next one.
func (w *Writer) ClearRun() error {
	if err := errors.Join(remove(w.path(fileSignals)), remove(w.path(fileAnalysis))); err != nil {
		return err
	}
	_, err := w.takeRequests(w.owner.StartedAt) // later ones are for this run
	return err
}

// SaveStatus writes status.json.
func (w *Writer) SaveStatus(s Status) error { return w.writeJSON(fileStatus, s) }

// SaveBreaker writes the breaker's state.
func (w *Writer) SaveBreaker(b Breaker) error { return w.writeJSON(fileBreaker, b) }

// SaveSignals writes the exit signals. Empty lists are written as [], not null.
func (w *Writer) SaveSignals(s Signals) error {
	for _, list := range []*[]int{&s.TestOnlyLoops, &s.DoneSignals, &s.CompletionIndicators} {
		*list = append([]int{}, *list...)
	}
	return w.writeJSON(fileSignals, s)
}

// SaveAnalysis writes the analysis of the latest agent call.
func (w *Writer) SaveAnalysis(a any) error { return w.writeJSON(fileAnalysis, a) }

// SaveSession writes the session to resume.
func (w *Writer) SaveSession(s Session) error { return w.writeJSON(fileSession, s) }

// SaveCalls writes the three counter files, the hour last. After a crash in between,
// the counts belong to a past hour; the call that they count was not made yet.
func (w *Writer) SaveCalls(c Calls) error {
	for _, f := range []struct{ name, text string }{
		{fileTokens, strconv.FormatInt(c.Tokens, 10)}, {fileCalls, strconv.Itoa(c.Calls)}, {fileReset, c.Hour.Format(hourLayout)},
	} {
		if err := w.write(f.name, []byte(f.text+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// AddBreakerChange appends a transition and keeps the latest 500.
func (w *Writer) AddBreakerChange(c BreakerChange) error {
	all, _ := w.History() // an unreadable history starts again
	all = append(all, c)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for _, c := range all[max(0, len(all)-historyKept):] {
		if err := enc.Encode(c); err != nil {
			return fmt.Errorf("write breaker history: %w", err)
		}
	}
	return w.write(fileHistory, buf.Bytes(), 0o600)
}

// ResetBreaker closes the breaker and deletes its history.
func (w *Writer) ResetBreaker(reason string, now time.Time) error {
	if err := remove(w.path(fileHistory)); err != nil {
		return err
	}
	return w.SaveBreaker(Breaker{State: BreakerClosed, LastChange: now, Reason: reason})
}

// ResetSession forgets the session and records why.
func (w *Writer) ResetSession(reason string, now time.Time) error {
	old, _ := w.Session() // zero if it is unreadable
	return w.SaveSession(Session{Agent: old.Agent, ResetAt: now, ResetReason: reason})
}

// ResetAll removes everything that influences the next run. Logs and the user's
// files stay.
func (w *Writer) ResetAll() error {
	for _, f := range Files() {
		if f.reset {
			if err := remove(w.path(f.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// SaveRunFlags keeps the command line of a run, so that the run keeps its limits
// when it is resumed.
func (w *Writer) SaveRunFlags(run string, flags []string) error {
	if err := realDir(w.RunDir(run), 0o700); err != nil {
		return err
	}
	return w.writeJSON(filepath.Join(dirLogs, runName(run), fileFlags), flags)
}

func (w *Writer) writeJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return w.write(name, append(data, '\n'), 0o600)
}

// write replaces a file: temporary file in the same folder, sync, rename. It skips a
// file that already has this content: syncs are most of ralph's own time in an
// iteration, and most files do not change.
func (w *Writer) write(name string, data []byte, mode fs.FileMode) error {
	if old, err := readBounded(w.path(name)); err == nil && old != nil && bytes.Equal(old, data) {
		return nil
	}
	err := renameio.WriteFile(w.path(name), data, mode, renameio.WithTempDir(w.dir), renameio.WithStaticPermissions(mode))
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear state: %w", err)
	}
	return nil
}
