package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	slotTasks       = 12
	slotCount       = 4
	slotWork        = 10 * time.Second
	slotBound       = 1.15 // of the time that the agents need
	slotMemoryBound = 15   // MiB for each slot
)

// slots runs independent tasks side by side, and one after the other with and without a worktree.
func (b *bencher) slots() error {
	plain, _, err := b.sideBySide("plain", 0, "PARALLEL=1")
	if err != nil {
		return err
	}
	one, kibOne, err := b.sideBySide("one", 0, "ISOLATE=worktree")
	if err != nil {
		return err
	}
	took, kib, err := b.sideBySide("four", slotWork, fmt.Sprintf("PARALLEL=%d", slotCount))
	if err != nil {
		return err
	}
	b.add(figure{"a task with PARALLEL=1", ms(plain / slotTasks), "in a worktree " + ms(one/slotTasks),
		"at most as long", plain > one})
	least := slotWork * slotTasks / slotCount
	ratio := float64(took) / float64(least)
	b.add(figure{"12 tasks of 10 s in 4 slots", fmt.Sprintf("%.2f (%.1f s)", ratio, took.Seconds()),
		fmt.Sprintf("the agents alone: %.1f s, load %s", least.Seconds(), load()), fmt.Sprintf("at most %.2f",
			slotBound), ratio > slotBound})
	each := mib(kib-kibOne) / (slotCount - 1)
	b.add(figure{"memory of another slot", fmt.Sprintf("%.1f MiB", each),
		fmt.Sprintf("with one: %.1f MiB", mib(kibOne)),
		fmt.Sprintf("under %d MiB", slotMemoryBound), each >= slotMemoryBound})
	return nil
}

// sideBySide returns the time of a run whose agents work for so long on each task, and ralph's largest memory.
func (b *bencher) sideBySide(name string, work time.Duration, option string) (took time.Duration, kib int, err error) {
	project, err := b.project("slots-"+name, 200, true)
	if err != nil {
		return 0, 0, err
	}
	var plan strings.Builder
	for i := range slotTasks {
		fmt.Fprintf(&plan, "- [ ] [P] write %d\n", i)
	}
	if err := write(filepath.Join(project, ".ralph/fix_plan.md"), plan.String()); err != nil {
		return 0, 0, err
	}
	cmd := b.command(project, 2*slotTasks, option, tickVar+"=1", workVar+"="+work.String(),
		"XDG_CACHE_HOME="+filepath.Join(b.dir, "cache"))
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			took = time.Since(start)
			left, _ := os.ReadFile(filepath.Join(project, ".ralph/fix_plan.md"))
			if err != nil || strings.Contains(string(left), "[ ]") {
				return 0, 0, fmt.Errorf("the run %q did not finish the plan: %w", name, err)
			}
			return took, kib, nil
		case <-time.After(20 * time.Millisecond):
			kib = max(kib, resident(cmd.Process.Pid))
		}
	}
}

// tickOwn does the task that the prompt names, and ticks it.
func tickOwn(prompt string) {
	m := regexp.MustCompile(`## Your task\s+(?:\[P\] )?write (\d+)`).FindStringSubmatch(prompt)
	if m == nil {
		return
	}
	const plan = ".ralph/fix_plan.md"
	text, _ := os.ReadFile(plan)
	ticked := strings.Replace(string(text), "- [ ] [P] write "+m[1]+"\n", "- [x] [P] write "+m[1]+"\n", 1)
	_ = os.WriteFile(plan, []byte(ticked), 0o600)
	_ = os.WriteFile("work-"+m[1]+".txt", []byte(m[1]+"\n"), 0o600)
}
