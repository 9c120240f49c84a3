// Package gitkeep puts back what a contained command changed of what git starts: hooks, settings, and the files that
// lead git to them. Git runs such programs outside of the sandbox, for the user as for ralph. It also removes links that
// would make git write elsewhere.
//
// While a command runs, a record outside of its reach says what to put back. If ralph is killed meanwhile, the next one
// does it.
package gitkeep

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// Repository is where git keeps its files for a project, as it was before a contained command ran.
type Repository struct {
	Dir string `json:"dir,omitempty"` // the project, without links; empty: not known yet
	// Git has git's folders: that of the work tree, then the one that all work trees share. nil: none.
	Git    []string `json:"git,omitempty"`
	DotGit string   `json:"dot_git,omitempty"` // the .git that leads to them
}

// Place says where to keep what.
type Place struct {
	// Records is a folder that no contained command can write. Empty: what was changed is put back only by this process.
	Records string
	Logs    string // of the run: what was changed is kept there
	// Since is when ralph began to start contained programs; zero: with this one.
	Since time.Time
}

// Replaced is what was put back. The zero value: nothing.
type Replaced struct {
	Files []string // their names, such as .git/hooks/pre-commit
	Kept  string   // the folder that has what was there
	Left  bool     // by a ralph that was killed
}

// String says what was put back, and where the rest is.
func (r Replaced) String() string {
	text := strings.Join(r.Files[:min(len(r.Files), maxNamed)], ", ")
	if more := len(r.Files) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	by := "a contained program"
	if r.Left {
		by = "a contained program whose ralph was killed"
	}
	return fmt.Sprintf("%s changed what git starts: %s; ralph put it back, and kept what was there in %s/planted.*", by, text, r.Kept)
}

const maxNamed = 10

// record is what a command must not change, while one runs.
type record struct {
	Repositories []Repository `json:"repositories"`
	Logs         string       `json:"logs"`
	Since        time.Time    `json:"since"`
	State        state        `json:"state"`
}

// Window is the time in which a contained command runs. Windows of one repository may overlap, also those of several
// processes: the first one decides what is put back.
type Window struct {
	r      Repository
	p      Place
	before state
	held   *os.File // locked while the window is open; nil: there is no record
	early  Replaced // by Open
}

// Open remembers what git starts in a repository. An error means that the command must not run.
func Open(r Repository, p Place) (*Window, error) {
	w := &Window{r: r, p: p}
	if w.p.Since.IsZero() {
		w.p.Since = time.Now()
	}
	var err error
	if p.Records == "" {
		w.before, err = lookOnce(r)
		return w, err
	}
	done, err := w.lock()
	if err != nil {
		return nil, fmt.Errorf("remember what git starts: %w", err)
	}
	defer done()
	if err = w.open(); err != nil {
		_ = w.held.Close() // the error above says more
		return nil, fmt.Errorf("remember what git starts: %w", err)
	}
	return w, nil
}

func lookOnce(r Repository) (state, error) {
	l, err := look(r, nil, time.Time{}, true)
	return l.state, err
}

func (w *Window) open() error {
	path := w.path(".json")
	old, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default: // another window is open, or a ralph was killed
		if alone(w.held) {
			waitForGuard(w.path(".guard"))
		}
		if w.early, err = putBack(w.r, old.State, w.logs(old), old.Since); err != nil {
			return err
		}
		w.early.Left = alone(w.held) && len(w.early.Files) > 0
	}
	now, err := lookOnce(w.r)
	if err != nil {
		return err
	}
	if w.before = now; old.State.Files != nil && !alone(w.held) {
		w.before = old.State.with(now)
	} else {
		old.Repositories = nil
	}
	if !slices.ContainsFunc(old.Repositories, func(r Repository) bool { return r.Dir == w.r.Dir }) {
		old.Repositories = append(old.Repositories, w.r)
	}
	err = write(path, record{old.Repositories, w.p.Logs, w.p.Since, w.before})
	return errors.Join(err, syscall.Flock(int(w.held.Fd()), syscall.LOCK_SH))
}

// with adds the files of repositories that s does not know.
func (s state) with(now state) state {
	all := state{Repos: s.Repos, Files: maps.Clone(s.Files)}
	for path, f := range now.Files {
		if _, there := s.Files[path]; !there && !slices.Contains(s.Repos, f.Repo) {
			all.Files[path] = f
		}
	}
	for _, repo := range now.Repos {
		if !slices.Contains(all.Repos, repo) {
			all.Repos = append(all.Repos, repo)
		}
	}
	return all
}

// Guard is the file that the guard of the command locks, so that nobody puts anything back while the command still
// ends; empty: none.
func (w *Window) Guard() string {
	if w.p.Records == "" {
		return ""
	}
	return w.path(".guard")
}

// Close puts back what has changed. After an error, the record stays for the next ralph.
func (w *Window) Close() (Replaced, error) {
	if w.held != nil {
		defer w.held.Close()
		done, err := w.lock()
		if err != nil {
			return w.early, fmt.Errorf("put back what git starts: %w", err)
		}
		defer done()
	}
	r, err := putBack(w.r, w.before, w.logs(record{}), w.p.Since)
	r.Files = append(slices.Clone(w.early.Files), r.Files...)
	r.Kept, r.Left = w.logs(record{}), w.early.Left
	if err != nil {
		return r, fmt.Errorf("put back what git starts: %w", err)
	}
	if w.held != nil && alone(w.held) {
		err = os.Remove(w.path(".json"))
	}
	return r, err
}

// logs is the folder for what was changed.
func (w *Window) logs(old record) string {
	switch {
	case w.p.Logs != "":
		return w.p.Logs
	case old.Logs != "":
		return old.Logs
	}
	return filepath.Join(w.r.Dir, ".ralph", "logs", "planted")
}

// path is a file of this repository in the folder of records.
func (w *Window) path(ext string) string {
	return filepath.Join(w.p.Records, fmt.Sprintf("%x", sha256.Sum256([]byte(w.r.common())))+ext)
}

// lock waits for the other windows of the repository, which only open or close, and opens held.
func (w *Window) lock() (done func(), err error) {
	if err := os.MkdirAll(w.p.Records, 0o700); err != nil {
		return nil, err
	}
	open := func(ext string) (f *os.File) {
		if err == nil {
			f, err = os.OpenFile(w.path(ext), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600) // file: outside of the project
		}
		return f
	}
	lock := open(".lock")
	if w.held == nil {
		w.held = open(".held")
		_ = open(".guard").Close()
	}
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	return func() { _ = lock.Close() }, err
}

// alone is true if no other window is open; then it holds the lock alone.
func alone(held *os.File) bool {
	return syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

const (
	guardPatience = 5 * time.Second // a guard ends its command within this time after ralph was killed
	guardPause    = 20 * time.Millisecond
)

func waitForGuard(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // file: outside of the project
	if err != nil {
		return
	}
	defer f.Close()
	for end := time.Now().Add(guardPatience); !alone(f) && time.Now().Before(end); {
		time.Sleep(guardPause)
	}
}

func read(path string) (r record, err error) {
	data, err := os.ReadFile(path) // file: outside of the project
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

func write(path string, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(0o600))
}

// Recover puts back what commands changed whose ralph was killed. report gets what it did in each repository. The
// error is that of a repository that has the folder dir.
func Recover(records, dir string, report func(Replaced)) (err error) {
	all, _ := fs.Glob(os.DirFS(records), "*.json") // there may be no such folder
	for _, name := range all {
		path := filepath.Join(records, name)
		old, broken := read(path)
		if broken == nil && len(old.Repositories) > 0 {
			w := &Window{r: old.Repositories[0], p: Place{Records: records, Logs: old.Logs}}
			if w.path(".json") != path {
				continue // not a record of ours
			}
			broken = w.recover(path, report)
		}
		here := func(r Repository) bool {
			rel, err := filepath.Rel(r.Dir, dir)
			return err == nil && filepath.IsLocal(rel)
		}
		if broken != nil && (len(old.Repositories) == 0 || slices.ContainsFunc(old.Repositories, here)) {
			err = errors.Join(err, fmt.Errorf("put back what a contained command changed of git, from %q: %w", path, broken))
		}
	}
	return err
}

func (w *Window) recover(path string, report func(Replaced)) error {
	done, err := w.lock()
	if err != nil {
		return err
	}
	defer done()
	defer w.held.Close()
	if !alone(w.held) {
		return nil // a living ralph does it
	}
	waitForGuard(w.path(".guard"))
	old, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, r := range old.Repositories {
		if _, gone := os.Stat(r.Dir); gone != nil {
			continue
		}
		w.r = r
		replaced, broken := putBack(r, old.State, w.logs(old), old.Since)
		if replaced.Left = true; len(replaced.Files) > 0 {
			report(replaced)
		}
		err = errors.Join(err, broken)
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}
