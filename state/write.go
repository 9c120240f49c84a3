package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"ralph/state/projectfs"
)

const historyKept = 500

// Gitignore is the content of .ralph/.gitignore: it hides what ralph keeps and
// leaves the user's own files to git.
const Gitignore = `# ralph's state; the files below are yours
*
!.gitignore
!PROMPT.md
!fix_plan.md
!prd.json
!tasks.json
!AGENT.md
!config.yaml
!progress.txt
!specs/
!specs/**
`

// Writer changes the state of one project. It exists only while the lock is held.
type Writer struct {
	*Reader
	owner    Owner
	replaced atomic.Bool // a file was set aside since Ensure was called

	holding sync.Mutex // for what follows
	lock    *os.File
	retaken bool // by HoldLock, since Ensure was called
}

// Acquire creates the state directory where needed, takes the lock and sets
// unusable snapshots aside as NAME.corrupt-TIME; those are returned, one error
// each. It fails with *LockedError when another runner is alive.
func Acquire(dir string, owner Owner) (*Writer, []error, error) {
	w := &Writer{Reader: Open(dir), owner: owner}
	if err := w.makeDirs(); err != nil {
		return nil, nil, err
	}
	was, err := w.in.Open(w.path(fileLock))
	if err == nil {
		_ = was.Close() // it was only looked at
	}
	foreign := projectfs.Refused(err)
	if w.lock, err = acquireLock(w.in, w.path(fileLock), owner); err != nil {
		return nil, nil, err
	}
	aside, err := w.setAsideCorrupt(owner.StartedAt)
	if foreign != nil {
		aside = append(aside, fmt.Errorf("%w; removed", foreign))
	}
	if err == nil {
		err = w.ensureGitignore()
	}
	if err != nil {
		return nil, nil, errors.Join(err, w.Release())
	}
	return w, aside, nil
}

// makeDirs makes the folders that a run needs, and refuses what is in the place of one.
func (w *Writer) makeDirs() error {
	for _, name := range []string{dirLogs, dirControl} {
		if err := w.in.MkdirAll(w.path(name), 0o755); err != nil {
			return fmt.Errorf("create state directory: %w", err)
		}
	}
	for _, name := range folders() {
		f, err := w.in.OpenDir(w.path(name))
		if err == nil {
			_ = f.Close() // it was only looked at
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("use state directory: %w", err)
		}
	}
	return nil
}

// Ensure makes the state directory whole again after somebody deleted it, or
// put links in the place of its folders, the lock included: a lock on an
// unlinked file keeps nobody out. It tells whether anything had to be mended.
func (w *Writer) Ensure() (lost bool, err error) {
	w.holding.Lock()
	defer w.holding.Unlock()
	lost, w.retaken = w.retaken, false
	foreign, err := w.removeForeign()
	if err != nil {
		return true, err
	}
	// All files at once: a later write would blame the next call for what is left. The sandbox of a call beside this one
	// needs its sockets.
	aside, err := w.setForeignAside(time.Now(), true)
	if err != nil {
		return true, err
	}
	held, err := w.hold()
	lost = w.replaced.Swap(false) || lost || foreign || len(aside) > 0 || !held
	if err == nil {
		err = w.makeDirs()
	}
	if err == nil && lost {
		err = w.ensureGitignore()
	}
	return lost, err
}

// HoldLock takes the lock again when its file was deleted: until then another
// runner could start beside this one. It may be called while the state is
// written; with a *LockedError another one has started.
func (w *Writer) HoldLock() error {
	w.holding.Lock()
	defer w.holding.Unlock()
	held, err := w.hold()
	w.retaken = w.retaken || !held
	return err
}

// hold tells whether the lock on disk is the one that is held; if not, it is
// taken anew.
func (w *Writer) hold() (held bool, err error) {
	if w.in.IsFile(w.path(fileLock), w.lock) {
		return true, nil
	}
	if err := w.in.MkdirAll(w.dir, 0o755); err != nil {
		return false, fmt.Errorf("create state directory: %w", err)
	}
	lock, err := acquireLock(w.in, w.path(fileLock), w.owner)
	if err != nil {
		return false, err
	}
	_ = w.lock.Close() // of the unlinked file
	w.lock = lock
	return false, nil
}

// Wrote reports whether a file, relative to the project, is the .gitignore that ralph itself wrote and nobody has
// changed since.
func Wrote(project, file string) bool {
	file = filepath.ToSlash(file)
	if file != DirName+"/"+fileGitignore {
		return false
	}
	data, err := projectfs.In(project).Read(filepath.Join(project, DirName, fileGitignore), int64(len(Gitignore)))
	return err == nil && string(data) == Gitignore
}

func (w *Writer) ensureGitignore() error {
	path := w.path(fileGitignore)
	if err := w.in.Clear(path); err != nil { // git would wait for a pipe for ever
		return err
	}
	if _, err := w.in.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return w.write(fileGitignore, []byte(Gitignore), 0o644)
}

// setAsideCorrupt renames what cannot be read, so that nothing is lost and the
// defaults take its place.
func (w *Writer) setAsideCorrupt(now time.Time) ([]error, error) {
	_, e1 := w.Status()
	_, e2 := w.Breaker()
	_, e3 := w.Session()
	_, e4 := w.Signals()
	_, e5 := readCount(w.in, w.path(fileCalls), 1<<31)
	_, e6 := readCount(w.in, w.path(fileTokens), 1<<53)
	_, e7 := readHour(w.in, w.path(fileReset))
	var aside []error
	for _, err := range []error{e1, e2, e3, e4, e5, e6, e7} {
		var corrupt *CorruptError
		switch {
		case err == nil:
		case errors.As(err, &corrupt):
			kept, err := w.setAside(corrupt.Path, now)
			if err != nil {
				return aside, err
			}
			aside = append(aside, fmt.Errorf("%w; kept as %q, starting from the default", corrupt, kept))
		default:
			return aside, err
		}
	}
	foreign, err := w.setForeignAside(now, false)
	return append(aside, foreign...), err
}

// Release gives the lock back. The lock file stays, emptied: removing it would
// let two runners hold locks on two files of the same name.
func (w *Writer) Release() error {
	return errors.Join(overwrite(w.in, w.path(fileLock), nil), w.lock.Close())
}

// ClearRun removes what belongs to one run, so that nothing from a dead run
// can end the next one.
func (w *Writer) ClearRun() error {
	if err := w.remove(fileSignals, fileAnalysis); err != nil {
		return err
	}
	_, err := w.takeRequests(w.owner.StartedAt) // a later one is for this run
	return err
}

// SaveStatus writes status.json.
func (w *Writer) SaveStatus(s Status) error {
	s.V, s.LastAction = statusVersion, s.action()
	return w.writeJSON(fileStatus, s)
}

// SaveBreaker writes the breaker's state.
func (w *Writer) SaveBreaker(b Breaker) error { return w.writeJSON(fileBreaker, b) }

// SaveSignals writes the exit signals, never null lists.
func (w *Writer) SaveSignals(s Signals) error {
	for _, list := range []*[]int{&s.TestOnlyLoops, &s.DoneSignals, &s.CompletionIndicators} {
		if *list == nil {
			*list = []int{}
		}
	}
	return w.writeJSON(fileSignals, s)
}

// SaveAnalysis writes the analysis of the latest agent call.
func (w *Writer) SaveAnalysis(a any) error { return w.writeJSON(fileAnalysis, a) }

// SaveSession writes the session that may be resumed.
func (w *Writer) SaveSession(s Session) error { return w.writeJSON(fileSession, s) }

// SaveCalls writes the three counter files, the hour last: after a crash in
// between the counts are read as those of an hour that is over, and the call
// that they would have counted was not made yet.
func (w *Writer) SaveCalls(c Calls) error {
	if err := w.write(fileTokens, fmt.Appendf(nil, "%d\n", c.Tokens), 0o600); err != nil {
		return err
	}
	if err := w.write(fileCalls, fmt.Appendf(nil, "%d\n", c.Calls), 0o600); err != nil {
		return err
	}
	return w.write(fileReset, []byte(c.Hour.Format(hourLayout)+"\n"), 0o600)
}

// AddBreakerChange appends a transition and keeps the latest 500.
func (w *Writer) AddBreakerChange(c BreakerChange) error {
	all, _ := w.History() // what cannot be read is replaced
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

// ResetBreaker closes the breaker. Its history stays.
func (w *Writer) ResetBreaker(reason string, now time.Time) error {
	if b, err := w.Breaker(); err == nil && b.State != BreakerClosed {
		c := BreakerChange{Timestamp: now, Loop: b.CurrentLoop, FromState: b.State, ToState: BreakerClosed, Reason: reason}
		if err := w.AddBreakerChange(c); err != nil {
			return err
		}
	}
	return w.SaveBreaker(Breaker{State: BreakerClosed, LastChange: now, Reason: reason})
}

// ResetSession forgets the session and keeps the reason.
func (w *Writer) ResetSession(reason string, now time.Time) error {
	old, _ := w.Session() // zero if it cannot be read
	return w.SaveSession(Session{Agent: old.Agent, ResetAt: now, ResetReason: reason})
}

// ForgetBaseline lets the next run find out anew what fails before its work.
func (w *Writer) ForgetBaseline() error { return w.remove(fileBaseline) }

// ResetTasks forgets what is remembered of open tasks, the counts of the circuit breaker unless it is open, and
// what the next prompt says about the past.
func (w *Writer) ResetTasks() error {
	s, err := w.Status()
	if err != nil || s.RunID == "" {
		return err
	}
	s.Tasks, s.NextPrompt = nil, NextPrompt{}
	if b, err := w.Breaker(); err == nil && b.State != BreakerOpen {
		s.Breaker = BreakerStatus{State: BreakerClosed}
		if err := w.SaveBreaker(b.Closed()); err != nil {
			return err
		}
	}
	return w.SaveStatus(s)
}

// ResetAll forgets everything that decides about the next run, questions and notes, too; logs and
// the user's files stay.
func (w *Writer) ResetAll() error {
	err := w.remove(fileCalls, fileTokens, fileReset, fileBreaker, fileHistory, fileSignals, fileAnalysis,
		fileSession, fileStatus, fileBaseline, fileOwn, UseFile)
	if err != nil {
		return err
	}
	for _, dir := range []string{dirQuestions, dirNotes} {
		if err := w.in.RemoveAll(w.path(dir)); err != nil {
			return fmt.Errorf("clear state: %w", err)
		}
	}
	return nil
}

// MakeRunDir makes the folder for the logs of a run.
func (w *Writer) MakeRunDir(run string) error { return w.in.MkdirAll(w.RunDir(run), 0o700) }

func (w *Writer) writeJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return w.write(name, append(data, '\n'), 0o600)
}

// write replaces a file: temporary file in the same folder, sync, rename. What
// is on disk already is not written again: most counters do not change in most
// iterations, and a sync is what an iteration of ralph's own costs.
func (w *Writer) write(name string, data []byte, mode fs.FileMode) error {
	path := w.path(name)
	if old, err := readBounded(w.in, path); err == nil && old != nil && bytes.Equal(old, data) {
		return nil
	}
	err := w.in.Write(path, data, mode)
	if refused := projectfs.Refused(err); refused != nil && refused.Path == path { // planted since the start
		if _, err := w.setAside(path, time.Now()); err != nil {
			return err
		}
		w.replaced.Store(true)
		err = w.in.Write(path, data, mode)
	}
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

func (w *Writer) remove(names ...string) error {
	for _, name := range names {
		if err := w.in.Remove(w.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear state: %w", err)
		}
	}
	return nil
}
