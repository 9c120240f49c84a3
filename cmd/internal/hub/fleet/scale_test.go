//go:build linux

package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// used is the processor time and the memory of a process so far.
func used(tb testing.TB, pid int) (cpu time.Duration, mib float64) {
	tb.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, f := range fields[11:13] { // user and system, in hundredths of a second
		n, _ := strconv.Atoi(f)
		cpu += time.Duration(n) * 10 * time.Millisecond
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, _ := strconv.Atoi(strings.Fields(after + " 0")[0])
	return cpu, float64(kib) / 1024
}

// own is the processor time of this process so far.
func own() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure is a fleet with so many workers, all of them busy. The run has a connection for each turn, as it has with ralph.
func measure(tb testing.TB, workers, turns int) (figures map[string]float64) {
	tb.Helper()
	home := tb.TempDir()
	server := startPart(tb, "server", home, 0)
	many := startPart(tb, "workers", home, workers)
	a, err := Local(home, false)
	if err != nil {
		tb.Fatal(err)
	}
	var t tally
	serverBefore, _ := used(tb, server.cmd.Process.Pid)
	manyBefore, _ := used(tb, many.cmd.Process.Pid)
	ownBefore, began := own(), time.Now()
	if err := t.series(tb.Context(), a, workers, turns); err != nil {
		tb.Fatal(err)
	}
	took, n := time.Since(began), float64(workers*turns)
	serverCPU, serverMiB := used(tb, server.cmd.Process.Pid)
	manyCPU, manyMiB := used(tb, many.cmd.Process.Pid)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return map[string]float64{
		"turns/s": n / took.Seconds(), "start-p50-ms": ms(t.percentile(50)), "start-p99-ms": ms(t.percentile(99)),
		"run-CPU-ms/turn": ms(own()-ownBefore) / n, "server-CPU-ms/turn": ms(serverCPU-serverBefore) / n,
		"workers-CPU-ms/turn": ms(manyCPU-manyBefore) / n, "server-MiB": serverMiB, "workers-MiB": manyMiB,
	}
}

// BenchmarkFleet_busyWorkers shows what a turn costs run, server and workers, by the number of workers.
func BenchmarkFleet_busyWorkers(b *testing.B) {
	for _, workers := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for range b.N {
				for name, value := range measure(b, workers, 3) {
					b.ReportMetric(value, name)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// What a turn costs run and server does not grow with the number of workers.
func TestFleet_moreWorkers_costOfATurnStays(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a fleet of 60 workers")
	}
	few, many := measure(t, 6, 2), measure(t, 60, 2)
	for _, name := range []string{"run-CPU-ms/turn", "server-CPU-ms/turn"} {
		if many[name] > 2*few[name]+5 {
			t.Errorf("%s is %.1f with 6 workers, and %.1f with 60", name, few[name], many[name])
		}
	}
	text, _ := json.Marshal(many) // numbers
	t.Logf("60 workers: %s", text)
}
