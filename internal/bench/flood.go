package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

const (
	floodBytes   = 1 << 30
	floodRounds  = 5
	floodBound   = 0.9
	memoryBound  = 30 // MiB
	sampleMemory = 10 * time.Millisecond
)

// flood alternates ralph and a bare reader. The ratio is the median of those of the rounds: a round takes 20 s,
// in which a virtual machine hardly changes its speed, and the next ones may take half as long again.
func (b *bencher) flood() error {
	project, err := b.project("flood", 0, false)
	if err != nil {
		return err
	}
	var ratios []float64
	bare, ours, memory := time.Hour, time.Hour, 0
	most, rounds := floodBytes, floodRounds
	if b.quick {
		most, rounds = floodBytes/8, 1
	}
	words := fmt.Sprintf("words %d", most)
	rate := func(d time.Duration) string { return fmt.Sprintf("%.0f MB/s", float64(most)/d.Seconds()/1e6) }
	for range rounds {
		alone, err := b.bareFlood(words)
		if err != nil {
			return err
		}
		took, kib, err := b.ralphFlood(project, words)
		if err != nil {
			return err
		}
		ratios = append(ratios, float64(alone)/float64(took))
		bare, ours, memory = min(bare, alone), min(ours, took), max(memory, kib>>10)
	}
	slices.Sort(ratios)
	ratio := ratios[len(ratios)/2]
	b.add(figure{fmt.Sprintf("%d MiB of stream-json through the loop", most>>20), fmt.Sprintf("%.2f (best %s)", ratio, rate(ours)),
		"bare pty reader, best " + rate(bare), fmt.Sprintf("at least %.2f", floodBound), ratio < floodBound})
	b.add(figure{"  peak memory of ralph", fmt.Sprintf("%d MiB", memory), "",
		fmt.Sprintf("at most %d MiB", memoryBound), memory > memoryBound})
	return b.redact(float64(most)/bare.Seconds(), rounds)
}

// ralphFlood returns how long one call with a flood takes, and ralph's peak memory.
func (b *bencher) ralphFlood(project, flood string) (took time.Duration, kib int, err error) {
	cmd := b.command(project, 1, floodVar+"="+flood)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	peak := watchMemory(cmd.Process.Pid)
	_ = cmd.Wait() // ends with the ceiling
	took = time.Since(start)
	return took, <-peak, nil
}

// bareFlood reads the same flood from a raw pty and discards it.
func (b *bencher) bareFlood(flood string) (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), fakeVar+"="+filepath.Join(b.dir, "flood-times"), floodVar+"="+flood)
	master, tty, err := pty.Open()
	if err != nil {
		return 0, err
	}
	defer master.Close()
	if _, err := term.MakeRaw(int(tty.Fd())); err != nil {
		return 0, err
	}
	cmd.Stdout, cmd.Stderr = tty, tty
	// As under ralph: the scheduler shares the processors between sessions.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_ = tty.Close()
	_, _ = io.CopyBuffer(onlyWriter{io.Discard}, master, make([]byte, 256<<10)) // ends with EIO
	took := time.Since(start)
	return took, cmd.Wait()
}

// onlyWriter hides the ReadFrom of io.Discard, which has a buffer of its own.
type onlyWriter struct{ io.Writer }

// watchMemory samples the resident set of a process until it ends and sends the maximum,
// in KiB.
func watchMemory(pid int) <-chan int {
	peak := make(chan int, 1)
	go func() {
		most := 0
		for {
			kib := resident(pid)
			if kib == 0 {
				peak <- most
				return
			}
			most = max(most, kib)
			time.Sleep(sampleMemory)
		}
	}()
	return peak
}

// resident returns VmRSS in KiB; 0 once the process has ended.
func resident(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			n, _ := strconv.Atoi(string(bytes.Fields(rest)[0]))
			return n
		}
	}
	return 0
}
