package config

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
)

// KeptRun is a run of the project and what it was started with.
type KeptRun struct {
	Run   string            `json:"run"`
	Flags map[string]string `json:"flags"`           // value of each flag by the option's key
	Env   []string          `json:"env,omitempty"`   // KEY=value: options from the environment, which may differ when it is resumed
	About []string          `json:"about,omitempty"` // what its start said; the next one says what differs
}

// Kept is the record of a run that starts with these options.
func (c *Config) Kept(run string) KeptRun {
	k := KeptRun{Run: run, Flags: map[string]string{}}
	for _, o := range c.table {
		switch c.sources[o.Key].Kind {
		case SourceFlag:
			k.Flags[o.Key] = c.text(o)
		case SourceEnvironment:
			if !o.Secret {
				k.Env = append(k.Env, o.Key+"="+c.text(o))
			}
		}
	}
	return k
}

// keptFile is the record of a project, in a place that its agents do not use.
type keptFile struct {
	Project string    `json:"project"`
	Runs    []KeptRun `json:"runs"` // the latest first
}

// KeepRuns records the runs that may be resumed in the project, the latest
// first, in place of those that could be before: one file a project under
// StateHome()/ralph/runs.
func (l Loader) KeepRuns(runs ...KeptRun) error {
	path, err := l.keptPath()
	if err != nil {
		return err
	}
	data, err := json.Marshal(keptFile{l.project(), runs})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = renameio.WriteFile(path, append(data, '\n'), 0o600, renameio.WithTempDir(filepath.Dir(path)),
			renameio.WithStaticPermissions(0o600))
	}
	if err == nil {
		err = syncDir(filepath.Dir(path)) // else a power failure could leave a run that cannot be resumed
	}
	if err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	return nil
}

// KeptRuns returns what KeepRuns recorded last; nil: nothing.
func (l Loader) KeptRuns() ([]KeptRun, error) {
	path, err := l.keptPath()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path) // file: in the state home
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f keptFile
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return nil, fmt.Errorf("read recorded run %q: %w", path, err)
	}
	return f.Runs, nil
}

func (l Loader) keptPath() (string, error) {
	if path := l.record(".json"); path != "" {
		return path, nil
	}
	return "", errors.New("record run: neither XDG_STATE_HOME nor a home folder is known")
}

// record is the path of a record of the project, outside of it: agents can write inside the project. Empty: no folder
// is known for it.
func (l Loader) record(ext string) string {
	return l.state("runs", fmt.Sprintf("%x%s", sha256.Sum256([]byte(l.project())), ext))
}

// PlanEditsPath is the record of changes that people made to the plan with ralph task.
func (l Loader) PlanEditsPath() string { return l.record(".edits.jsonl") }

// UndoPath is the folder in which ralph undo notes what it is about to change.
func (l Loader) UndoPath() string { return l.record(".undo") }

// GitRecords has what ralph puts back of git after contained programs; empty: no folder is known for it.
func (l Loader) GitRecords() string { return l.state("git") }

// state is a path in the user's folder for ralph's state; empty: no folder is known for it.
func (l Loader) state(names ...string) string {
	if l.StateHome() == "" {
		return ""
	}
	return filepath.Join(append([]string{l.StateHome(), "ralph"}, names...)...)
}

func syncDir(dir string) error {
	f, err := os.Open(dir) // file: in the state home
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// FindProject returns the absolute path of the project that start lies in: the
// nearest folder upwards with a .ralph folder or a .ralphrc file, else the git
// root, else start itself. Reached from below, the user's home folder is not a
// project: other tools keep their own files in ~/.ralph.
func FindProject(start string) string {
	start, err := filepath.Abs(start)
	if err != nil {
		return start
	}
	home, _ := os.UserHomeDir()
	gitRoot := ""
	for dir := start; ; dir = filepath.Dir(dir) {
		if (dir == start || dir != home) && isProject(dir) {
			return dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && gitRoot == "" {
			gitRoot = dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if gitRoot != "" {
		return gitRoot
	}
	return start
}

func isProject(dir string) bool {
	if info, err := os.Lstat(filepath.Join(dir, ".ralph")); err == nil && info.IsDir() {
		return true
	}
	info, err := os.Stat(filepath.Join(dir, rcName))
	return err == nil && !info.IsDir() && info.Mode()&fs.ModeSocket == 0
}

// Projects lists the projects in which this user has started runs, as KeepRuns recorded them. What cannot be read is
// left out.
func (l Loader) Projects() []string {
	entries, _ := os.ReadDir(l.state("runs"))
	var all []string
	for _, e := range entries {
		var record struct {
			Project string `json:"project"`
		}
		data, err := os.ReadFile(l.state("runs", e.Name())) // file: in the state home
		if err == nil && json.Unmarshal(data, &record) == nil && record.Project != "" {
			all = append(all, record.Project)
		}
	}
	slices.Sort(all)
	return all
}
