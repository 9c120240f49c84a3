package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	manyIterations = 10_000
	manyBound      = 1.10 // of memory
	// workBound is wider: other programs on the machine also slow down the processor.
	workBound = 1.20
	tick      = 10 * time.Millisecond // of the kernel's count of processor time
)

// sample is ralph's memory and processor time after some iterations.
type sample struct {
	iterations int
	kib        int // resident
	work       time.Duration
}

// many compares ralph after 10,000 iterations with ralph after 1,000. It leaves out the
// end of the run, which lists every log file once.
func (b *bencher) many() error {
	project, err := b.project("many", 20, false)
	if err != nil {
		return err
	}
	cmd := b.command(project, manyIterations)
	if err := cmd.Start(); err != nil {
		return err
	}
	seen := make(chan [4]sample, 1)
	go func() { seen <- watchMany(cmd.Process.Pid, filepath.Join(project, ".ralph", "times")) }()
	_ = cmd.Wait() // ends with the ceiling
	s := <-seen
	if s[3].iterations == 0 {
		return fmt.Errorf("it ended before iteration %d", marks[3])
	}
	memory := float64(s[3].kib) / float64(s[0].kib)
	b.add(figure{"memory after 10,000 iterations", fmt.Sprintf("%.2f (%.1f MiB)", memory, mib(s[3].kib)),
		fmt.Sprintf("after 1,000: %.1f MiB", mib(s[0].kib)), fmt.Sprintf("at most %.2f",
			manyBound), memory > manyBound})
	first, last := pace(s[0], s[1]), pace(s[2], s[3])
	work := float64(last) / float64(first)
	b.add(figure{"processor time of a late iteration", fmt.Sprintf("%.2f (%s)", work, ms(last)),
		"an early one " + ms(first), fmt.Sprintf("at most %.2f", workBound), work > workBound})
	return nil
}

// marks are the iterations of the samples.
var marks = [4]int{1000, 2000, 8900, 9900}

func watchMany(pid int, times string) (at [4]sample) {
	for i := 0; i < len(marks); {
		kib := resident(pid)
		if kib == 0 {
			return at
		}
		if n := lines(times); n >= marks[i] {
			at[i] = sample{n, kib, worked(pid)}
			i++
		}
		time.Sleep(50 * time.Millisecond)
	}
	return at
}

func mib(kib int) float64 { return float64(kib) / 1024 }

// pace returns the processor time per iteration between two samples.
func pace(from, to sample) time.Duration {
	return (to.work - from.work) / time.Duration(max(1, to.iterations-from.iterations))
}

// worked returns the processor time of a process without its children.
func worked(pid int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	user, _ := strconv.Atoi(string(f[11]))
	system, _ := strconv.Atoi(string(f[12]))
	return time.Duration(user+system) * tick
}

func lines(path string) int {
	data, _ := os.ReadFile(path)
	return bytes.Count(data, []byte("\n"))
}
