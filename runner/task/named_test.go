package task

import (
	"strings"
	"testing"
)

func TestOne_findsWhatAPersonMeans(t *testing.T) {
	of := func(pairs ...string) (l List) {
		for i := 0; i < len(pairs); i += 2 {
			l.Tasks = append(l.Tasks, Task{ID: pairs[i], Title: pairs[i+1]})
		}
		return l
	}
	backlog := of("TASK-1", "Add login", "TASK-2", "Add login page", "TASK-10", "1st aid", "TASK-1.2", "A part")
	for _, c := range []struct {
		list       List
		name, want string // want: the id, or a part of the error
	}{
		{backlog, "1", "TASK-1"},
		{backlog, "task-1", "TASK-1"},
		{backlog, "task1", "TASK-1"},
		{backlog, "TASK-01", "TASK-1"},
		{backlog, "10", "TASK-10"},
		{backlog, "1.2", "TASK-1.2"},
		{backlog, "1st", "TASK-10"},
		{backlog, "add login", "TASK-1"},
		{backlog, "add login ", "TASK-1"},
		{backlog, "add log", `"add log" can mean TASK-1, TASK-2; write the whole id`},
		{backlog, "task-", `can mean TASK-1, TASK-2, TASK-10, TASK-1.2; write`},
		{backlog, "bug-1", `the plan has no task "bug-1"`},
		{backlog, "0", `the plan has no task "0"`},
		{backlog, " ", `the plan has no task`},
		{of("T001", "x", "T010", "y"), "1", "T001"},
		{of("T001", "x", "T010", "y"), "t1", "T001"},
		{of("US-1", "x", "BUG-1", "y"), "1", `"1" can mean US-1, BUG-1; write the whole id`},
		{of("US-1", "x", "BUG-1", "y"), "bug1", "BUG-1"},
		{of("1.1", "x", "1.2", "y"), "1", `can mean 1.1, 1.2`},
		{of("1", "x", "1.1", "y"), "1", "1"},
		{of("00000012", "hashed", "7", "x"), "12", "no task"},
		{of("65ad755d", "x", "e2c0b9cb", "y"), "6", `no task "6"`},
		{of("65ad755d", "x", "e2c0b9cb", "y"), "2", "e2c0b9cb"},
		{of("65ad755d", "2 mice", "e2c0b9cb", "y"), "2", "e2c0b9cb"},
		{of("65ad755d", "x", "e2c0b9cb", "y"), "e", `no task "e"`},
		{of("65ad755d", "x", "e2c0b9cb", "y"), "65ad", "65ad755d"},
		{of("a1b2c3d4", "Same", "b1b2c3d4", "Same"), "same", "can mean a1b2c3d4, b1b2c3d4"},
		{of("1-2-login", "x", "2", "y"), "2", "2"},
	} {
		got, err := c.list.Resolve(c.name)
		if err == nil && got.ID != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %q, %v, want %s", c.name, got.ID, err, c.want)
		}
	}
}

func TestInTitle_onlyTheWholeID(t *testing.T) {
	for title, want := range map[string]bool{"T1 x": true, "T1: x": true, "T1": true, "T10 x": false, "T1a": false, "x T1": false} {
		if got := (Task{ID: "T1", Title: title}).InTitle(); got != want {
			t.Errorf("%q: %v", title, got)
		}
	}
}
