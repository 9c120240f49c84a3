package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Locate returns the index of t in a list that may have changed since; exactly one task must match.
func Locate(tasks []Task, t Task) (int, error) {
	if !Hashed(t.ID) {
		if same := indices(tasks, func(o Task) bool { return o.ID == t.ID }); len(same) == 1 {
			return same[0], nil
		}
	}
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
