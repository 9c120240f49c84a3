package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// gitBound is how much time ralph may add to a git status between two agents.
	gitBound   = 8 * time.Millisecond
	plainBound = 5 * time.Millisecond
	// agentWorks is long enough for what ralph does while an agent works. A shorter call
	// would include that in the gap.
	agentWorks = "300ms"
)

// gaps returns the times between the end of one agent and the start of the next.
func gaps(project string) ([]time.Duration, error) {
	data, err := os.ReadFile(filepath.Join(project, ".ralph", "times"))
	if err != nil {
		return nil, err
	}
	var all []time.Duration
	var ended int64
	for line := range strings.Lines(string(data)) {
		var from, to int64
		if _, err := fmt.Sscan(line, &from, &to); err != nil {
			return nil, err
		}
		if ended > 0 {
			all = append(all, time.Duration(from-ended))
		}
		ended = to
	}
	return all, nil
}

// bareStart measures the time from fork to main of the fake agent, which is not ralph's
// part of a gap.
func (b *bencher) bareStart() (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	scratch := filepath.Join(b.dir, "bare")
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return 0, err
	}
	times := filepath.Join(scratch, "times")
	var all []time.Duration
	for range 50 {
		_ = os.Remove(times)
		cmd := exec.Command(self)
		cmd.Dir = scratch
		cmd.Env = append(os.Environ(), fakeVar+"="+times)
		start := time.Now().UnixNano()
		if err := cmd.Run(); err != nil {
			return 0, err
		}
		data, err := os.ReadFile(times)
		if err != nil {
			return 0, err
		}
		var from int64
		if _, err := fmt.Sscan(string(data), &from); err != nil {
			return 0, err
		}
		all = append(all, time.Duration(from-start))
	}
	return median(all), nil
}

func (b *bencher) gap(name string, files int, git bool) (time.Duration, string, error) {
	project, err := b.project(name, files, git)
	if err != nil {
		return 0, "", err
	}
	turns := 41
	if b.quick {
		turns = 11
	}
	if err := b.run(project, turns, workVar+"="+agentWorks); err != nil {
		return 0, "", err
	}
	all, err := gaps(project)
	if err != nil {
		return 0, "", err
	}
	start, err := b.bareStart()
	return median(all) - start, project, err
}

func (b *bencher) gapInGit() error {
	gap, project, err := b.gap("git", 2000, true)
	if err != nil {
		return err
	}
	status, err := timed(50, project, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	b.add(figure{"between two agents, 2,000 files in git", ms(gap), "git status " + ms(status),
		"git status + " + ms(gitBound), gap > status+gitBound})
	return nil
}

func (b *bencher) gapOutside() error {
	gap, _, err := b.gap("plain", 20, false)
	if err != nil {
		return err
	}
	b.add(figure{"between two agents, outside git", ms(gap), "", "at most " + ms(plainBound), gap > plainBound})
	return nil
}
