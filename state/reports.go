package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	reportsKept = 100
	recordExt   = ".json"
	filePruned  = ".pruned" // in dirReports; the latest run that was forgotten
)

// ReportPath is a form of the report of a run, such as ".html".
func (r *Reader) ReportPath(run, ext string) string { return r.path(dirReports, runName(run)+ext) }

// Record reads the record of a run, as SaveReport wrote it; nil if there is none.
func (r *Reader) Record(run string) ([]byte, error) {
	return readBounded(r.in, r.ReportPath(run, recordExt))
}

// Recorded lists the runs that have a record, oldest first.
func (r *Reader) Recorded() ([]string, error) {
	entries, err := r.in.ReadDir(r.path(dirReports))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var runs []string
	for _, e := range entries {
		if run, ok := strings.CutSuffix(e.Name(), recordExt); ok && isRunID(run) {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// Pruned is the latest run whose report was forgotten: those up to it are no longer listed,
// although events of them may be left. Empty: none was.
func (r *Reader) Pruned() string {
	data, _ := readBounded(r.in, r.path(dirReports, filePruned))
	return strings.TrimSpace(string(data))
}

// SaveReport keeps the report of a run and removes those of the oldest runs. forms has the
// contents of its files by file extension.
func (w *Writer) SaveReport(run string, forms map[string][]byte) error {
	var errs []error
	for ext, data := range forms {
		// An agent can guess the name: see open. What a crash leaves half written is written
		// again from the events.
		f, err := RunLogs{w.path(dirReports)}.open(runName(run)+ext, os.O_TRUNC)
		if err == nil {
			_, err = f.Write(data)
			err = errors.Join(err, f.Close())
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	_, err := w.PruneReports(reportsKept)
	return err
}

// PruneReports removes the reports of all but the latest keep runs. It returns how many it removed.
func (w *Writer) PruneReports(keep int) (int, error) {
	runs, err := w.Recorded()
	if err != nil || len(runs) <= keep {
		return 0, err
	}
	runs = runs[:len(runs)-keep]
	entries, err := w.in.ReadDir(w.path(dirReports))
	if err != nil {
		return 0, fmt.Errorf("prune reports: %w", err)
	}
	for _, e := range entries {
		if run := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())); slices.Contains(runs, run) {
			if err := w.remove(filepath.Join(dirReports, e.Name())); err != nil {
				return 0, err
			}
		}
	}
	return len(runs), w.write(filepath.Join(dirReports, filePruned), []byte(runs[len(runs)-1]+"\n"), 0o600)
}
