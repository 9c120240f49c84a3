package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const manyIterations = 10_000

// many compares the last thousand of 10,000 iterations with the first.
func (b *bencher) many() error {
	project, err := b.project("many", 20, false)
	if err != nil {
		return err
	}
	cmd := b.command(project, manyIterations)
	if err := cmd.Start(); err != nil {
		return err
	}
	times := filepath.Join(project, ".ralph", "times")
	memory := make(chan [2]int, 1)
	go func() {
		var at [2]int // after the first thousand, before the end
		for {
			kib := resident(cmd.Process.Pid)
			if kib == 0 {
				memory <- at
				return
			}
			if at[0] == 0 && lines(times) >= 1000 {
				at[0] = kib
			}
			at[1] = kib
			time.Sleep(100 * time.Millisecond)
		}
	}()
	_ = cmd.Wait() // ends with the ceiling
	at := <-memory
	all, err := gaps(project)
	if err != nil {
		return err
	}
	if len(all) != manyIterations-1 {
		return fmt.Errorf("%d of %d iterations were made", len(all)+1, manyIterations)
	}
	first, last := median(all[:1000]), median(all[len(all)-1000:])
	b.add("10,000 iterations: the last thousand", last, first, "the first thousand")
	b.rows = append(b.rows, row{"  memory at the end", fmt.Sprintf("%d MiB", at[1]>>10), fmt.Sprintf("%d MiB after the first thousand", at[0]>>10),
		fmt.Sprintf("%.2f", float64(at[1])/float64(max(at[0], 1)))})
	return nil
}

func lines(path string) int {
	data, _ := os.ReadFile(path)
	return strings.Count(string(data), "\n")
}
