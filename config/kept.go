package config

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// keptRuns is how long the flags of a run are kept.
const keptRuns = 90 * 24 * time.Hour

// KeptRun is a run and the flags that resume it.
type KeptRun struct {
	Run   string   `json:"run"`
	Flags []string `json:"flags"`
}

// keptFile is the record of one project. It is outside the project, so that the agent
// does not change it.
type keptFile struct {
	Project string    `json:"project"`
	Runs    []KeptRun `json:"runs"` // latest first
}

// KeepRuns records which runs of the project can be resumed, latest first, and replaces
// the previous record. There is one file per project in StateHome()/ralph/runs; old
// files are removed.
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
		err = renameio.WriteFile(path, append(data, '\n'), 0o600, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(0o600))
	}
	if err == nil {
		err = syncDir(filepath.Dir(path)) // so that the run can be resumed after a power cut
	}
	if err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	removeOlder(filepath.Dir(path), time.Now().Add(-keptRuns))
	return nil
}

// KeptRuns returns the latest record of KeepRuns, nil if there is none.
func (l Loader) KeptRuns() ([]KeptRun, error) {
	path, err := l.keptPath()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
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
	if l.StateHome() == "" {
		return "", errors.New("record run: neither XDG_STATE_HOME nor a home folder is known")
	}
	return filepath.Join(l.StateHome(), "ralph", "runs", fmt.Sprintf("%x.json", sha256.Sum256([]byte(l.project())))), nil
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeOlder removes old files from a folder. Files that it cannot remove do no harm.
func removeOlder(dir string, than time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(than) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
