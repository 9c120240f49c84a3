package task

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

// Untick marks t as open in the plan at path and changes nothing else: one byte of a
// checkbox plan, or the value of passes in a prd.json. It reads the file again and finds
// t by its title, or by its id if the title has changed, so other lines may have moved.
// It does nothing if t is open. The write is atomic, keeps the file's mode and follows
// symbolic links. It is an error if t is gone or several tasks match.
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

// edit returns data with the state of t set, or nil if it already is.
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
	fits := indices(tasks, func(o Task) bool { return o.Title == t.Title && (o.Line > 0 || o.ID == t.ID) })
	if len(fits) == 0 {
		fits = indices(tasks, func(o Task) bool { return o.ID == t.ID })
	}
	if len(fits) == 0 {
		return 0, errors.New("it is no longer in the plan")
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

// lines lists the lines of the tasks with this title: " (lines 3, 9)".
func lines(tasks []Task, title string) string {
	var at []string
	for _, t := range tasks {
		if t.Title == title && t.Line > 0 {
			at = append(at, fmt.Sprint(t.Line))
		}
	}
	return " (lines " + strings.Join(at, ", ") + ")"
}
