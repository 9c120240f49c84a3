package task

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

// Untick marks t as open in the plan at path and changes nothing else: one byte
// of a checkbox plan, or the value of passes in a prd.json (inserted when the
// story has none). It reads the file again and finds t by its title, or by its
// id when the title changed, so other lines may have moved. A task that is open
// already is left alone. The write is atomic, keeps the file's mode and follows
// a symbolic link. It is an error when t is gone or several tasks match.
func Untick(path string, t Task) error { return setDone(path, t, false) }

func setDone(path string, t Task, done bool) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("mark task: %w: %w", ErrUnusable, err)
	}
	data, err := read(real)
	if err != nil {
		return fmt.Errorf("mark task: %w", err)
	}
	edited, err := edit(path, data, t, done)
	if err != nil {
		return fmt.Errorf("mark task %q in %q: %w", t.Title, path, err)
	}
	if edited == nil {
		return nil
	}
	if err := renameio.WriteFile(real, edited, 0o644, renameio.WithTempDir(filepath.Dir(real))); err != nil {
		return fmt.Errorf("write plan %q: %w", path, err)
	}
	return nil
}

// edit returns data with the state of t set, or nil when it was set already.
func edit(name string, data []byte, t Task, done bool) ([]byte, error) {
	list, marks, err := parse(name, data, nil)
	if err != nil {
		return nil, err
	}
	i, err := locate(list.Tasks, t)
	if err != nil {
		return nil, err
	}
	if list.Tasks[i].Done == done {
		return nil, nil
	}
	m := marks[i]
	text := m.open
	if done {
		text = m.done
	}
	return slices.Concat(data[:m.start], []byte(text), data[m.end:]), nil
}

// locate returns the index of t; exactly one task must match.
func locate(tasks []Task, t Task) (int, error) {
	var fits []int
	for _, same := range []func(Task) bool{
		func(o Task) bool { return o.Title == t.Title && (o.Line > 0 || o.ID == t.ID) },
		func(o Task) bool { return o.ID == t.ID },
	} {
		if fits = indices(tasks, same); len(fits) > 0 {
			break
		}
	}
	if len(fits) == 0 {
		return 0, fmt.Errorf("it is no longer in the plan")
	}
	for _, same := range []func(Task) bool{
		func(o Task) bool { return o.Section == t.Section },
		func(o Task) bool { return o.Line == t.Line },
	} {
		if len(fits) == 1 {
			break
		}
		fits = slices.DeleteFunc(fits, func(i int) bool { return !same(tasks[i]) })
	}
	if len(fits) != 1 {
		return 0, fmt.Errorf("several tasks have this text%s", lines(tasks, t.Title))
	}
	return fits[0], nil
}

func indices(tasks []Task, ok func(Task) bool) []int {
	var out []int
	for i, t := range tasks {
		if ok(t) {
			out = append(out, i)
		}
	}
	return out
}

// lines names where the tasks with this title stand: " (lines 3, 9)".
func lines(tasks []Task, title string) string {
	var at []string
	for _, t := range tasks {
		if t.Title == title && t.Line > 0 {
			at = append(at, fmt.Sprint(t.Line))
		}
	}
	return " (lines " + strings.Join(at, ", ") + ")"
}
