package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"ralph/logs"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

// loadPlan reads the plan as it is now. Without a plan file both are zero.
func (l *Loop) loadPlan() (task.List, rules.PlanFacts) {
	if l.d.Plan == "" {
		return task.List{}, rules.PlanFacts{}
	}
	list, err := task.Load(l.d.Plan, l.o.OptionalSections)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the plan %q is gone", l.rel(l.d.Plan))
	}
	if err != nil {
		return task.List{}, rules.PlanFacts{Known: true, Err: err}
	}
	p := rules.PlanFacts{Known: true, Done: list.Done(), Total: list.Total(), Remaining: list.Remaining(), Print: list.Fingerprint()}
	l.hadPlan = l.hadPlan || p.Total > 0
	return list, p
}

// choose takes the next task that was not given up and that no person has put
// off; when only those are left they come back.
func (l *Loop) choose(list task.List) (task.Task, bool) {
	list = without(list, func(t task.Task) bool { return l.tasks.of(t.ID).aside != "" && !t.Done })
	if t, ok := without(list, func(t task.Task) bool { return l.tasks.of(t.ID).skipped }).Next(); ok {
		return t, true
	}
	l.tasks.noSkips()
	return list.Next()
}

func without(list task.List, out func(task.Task) bool) task.List {
	list.Tasks = slices.DeleteFunc(slices.Clone(list.Tasks), out)
	return list
}

func (l *Loop) rel(path string) string {
	if r, err := filepath.Rel(l.d.Dir, path); err == nil && !strings.HasPrefix(r, "..") {
		return r
	}
	return path
}

// guarded is a file of .ralph/ that the loop needs, as it was before the call.
type guarded struct {
	path string
	data []byte
	mode fs.FileMode
}

// guard remembers the user's files inside .ralph/.
func (l *Loop) guard() []guarded {
	var all []guarded
	for _, path := range []string{l.d.Prompt, l.d.Plan} {
		if path == "" || !within(l.d.State.Dir(), path) {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue // said by whoever needs the file
		}
		if data, err := state.ReadFile(path, maxInput); err == nil && len(bytes.TrimSpace(data)) > 0 {
			all = append(all, guarded{path, data, info.Mode().Perm()})
		}
	}
	return all
}

func within(dir, path string) bool {
	r, err := filepath.Rel(dir, path)
	return err == nil && r != ".." && !strings.HasPrefix(r, "../")
}

// restore puts back what was deleted or emptied, the state directory itself
// included, and names it.
func (l *Loop) restore(files []guarded) ([]string, error) {
	lost, err := l.d.State.Ensure()
	if err != nil {
		return nil, err
	}
	for _, f := range []*logs.File{l.events, l.live} {
		l.lost(f.Reopen())
	}
	var damaged []string
	if lost {
		damaged = append(damaged, l.rel(l.d.State.Dir()))
	}
	for _, g := range files {
		data, err := state.ReadFile(g.path, maxInput)
		if err == nil && len(bytes.TrimSpace(data)) > 0 {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // unreadable is not lost: the plan's own rule names it
		}
		if err := os.MkdirAll(filepath.Dir(g.path), 0o755); err != nil {
			return damaged, fmt.Errorf("restore file: %w", err)
		}
		if err := renameio.WriteFile(g.path, g.data, g.mode, renameio.WithTempDir(filepath.Dir(g.path))); err != nil {
			return damaged, fmt.Errorf("restore file: %w", err)
		}
		damaged = append(damaged, l.rel(g.path))
	}
	return damaged, nil
}
