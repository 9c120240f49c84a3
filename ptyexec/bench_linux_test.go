package ptyexec

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const floodMebibytes = 64

// BenchmarkFlood compares Run with a loop that does nothing but read the pty. The
// two take turns and the best of each counts, so that a busy machine disturbs both.
func BenchmarkFlood(b *testing.B) {
	bare, run := time.Hour, time.Hour
	for b.Loop() {
		bare = min(bare, bareFlood(b))
		run = min(run, runFlood(b))
	}
	b.ReportMetric(floodMebibytes/bare.Seconds(), "bare-MiB/s")
	b.ReportMetric(floodMebibytes/run.Seconds(), "Run-MiB/s")
	b.ReportMetric(bare.Seconds()/run.Seconds(), "ratio")
}

func bareFlood(b *testing.B) time.Duration {
	master, slave, err := openTerminal()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	argv := self("flood", "64")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = slave, slave
	// As under Run: the scheduler shares the processor between sessions.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	slave.Close()
	total := 0
	for buf := make([]byte, chunkSize); ; {
		n, err := master.Read(buf)
		total += n
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	checkFlood(b, total)
	return time.Since(begin)
}

func runFlood(b *testing.B) time.Duration {
	begin := time.Now()
	total := 0
	_, err := Run(b.Context(), Command{Args: self("flood", "64")}, func(p []byte) bool {
		total += len(p)
		return false
	})
	if err != nil {
		b.Fatal(err)
	}
	checkFlood(b, total)
	return time.Since(begin)
}

func checkFlood(b *testing.B, total int) {
	b.Helper()
	if total != floodMebibytes<<20 {
		b.Fatalf("got %d bytes", total)
	}
}

// BenchmarkStart shows what the guard costs. /bin/true is the child.
func BenchmarkStart(b *testing.B) {
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	run := func(b *testing.B, c Command) {
		c.Args = []string{"/bin/true"}
		exit, err := Run(b.Context(), c, nil)
		if err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
	b.Run("Run", func(b *testing.B) {
		for b.Loop() {
			run(b, Command{})
		}
	})
	b.Run("Run-with-spare", func(b *testing.B) {
		var spare Spare
		defer spare.Close()
		for b.Loop() {
			run(b, Command{Spare: &spare})
			b.StopTimer()
			time.Sleep(5 * time.Millisecond) // an agent that runs longer than the spare takes to start
			b.StartTimer()
		}
	})
}
