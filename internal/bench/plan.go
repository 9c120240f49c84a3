package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ralph/runner/task"
	"ralph/runner/task/store"
)

const (
	planTasks       = 20_000
	planBound       = 50 * time.Millisecond
	planMemoryBound = 40 // MiB
)

// plan reads and edits plans of 20,000 tasks.
func (b *bencher) plan() error {
	for _, p := range []struct{ name, head, line, between, tail string }{
		{".ralph/fix_plan.md", "# Plan\n\n", "- [ ] T%d: build part %[1]d of it\n  - it works\n", "", ""},
		{"prd.json", `{"userStories": [`,
			`{"id": "US-%d", "title": "Build part %[1]d", "priority": %[1]d, "acceptanceCriteria": ["it works"], "passes": false}`, ",\n", "]}\n"},
		{".taskmaster/tasks/tasks.json", `{"tasks": [`,
			`{"id": %d, "title": "Build part %[1]d", "status": "pending", "dependencies": [], "subtasks": []}`, ",\n",
			"]}\n"},
		{".kiro/specs/a/tasks.md", "# Plan\n\n", "- [ ] %d. Build part %[1]d of it\n  - it works\n", "", ""},
	} {
		project := filepath.Join(b.dir, "plan-"+strings.ReplaceAll(p.name, "/", "_"))
		path := filepath.Join(project, p.name)
		lines := make([]string, planTasks)
		for i := range lines {
			lines[i] = fmt.Sprintf(p.line, i+1)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(p.head+strings.Join(lines, p.between)+p.tail), 0o600); err != nil {
			return err
		}
		if err := b.onePlan(project, path); err != nil {
			return err
		}
	}
	return b.turns(".ralph/fix_plan.md", filepath.Join(b.dir, "plan-.ralph_fix_plan.md"), turnBound)
}

// onePlan reports the fastest of several tries: other work on the machine only adds to them.
func (b *bencher) onePlan(project, path string) error {
	list, err := store.Load(store.File{Path: path})
	if err != nil || len(list.Tasks) != planTasks {
		return fmt.Errorf("%s: %d tasks: %w", path, len(list.Tasks), err)
	}
	read, err := fastest(20, func(int) error { _, err := store.Load(store.File{Path: path}); return err })
	if err != nil {
		return err
	}
	edit, err := fastest(20, func(i int) error { return store.Set(store.File{Path: path}, list.Tasks[planTasks-1-i], task.Done) })
	if err != nil {
		return err
	}
	memory, err := peak(filepath.Join(b.bin, "ralph"), "-C", project, "task", "next")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("20,000 tasks in %s: ", list.Format)
	b.add(figure{name + "read", ms(read), "", "at most " + ms(planBound), read > planBound})
	b.add(figure{name + "edit", ms(edit), "", "at most " + ms(planBound), edit > planBound})
	b.add(figure{name + "peak of ralph task next", fmt.Sprintf("%d MiB", memory), "",
		fmt.Sprintf("at most %d MiB", planMemoryBound), memory > planMemoryBound})
	return nil
}

// peak returns the peak memory of a command, in MiB. The kernel also counts the memory of the
// process that starts it, so a small one does that: this program, started again.
func peak(args ...string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), peakVar+"=1")
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%v: %w", args, err)
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// printPeak runs a command and prints its peak memory in MiB.
func printPeak(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system tells no peak")
	}
	fmt.Println(usage.Maxrss >> 10) // KiB, on Linux
	return nil
}

// fastest returns the shortest time of n.
func fastest(n int, do func(i int) error) (time.Duration, error) {
	best := time.Hour
	for i := range n {
		start := time.Now()
		if err := do(i); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}
