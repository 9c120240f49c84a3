//go:build linux

package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// partVar makes the test binary the server of a fleet, or many workers in one process: the figures are those of processes.
const (
	partVar   = "RALPH_FLEET_PART"
	amountVar = "RALPH_FLEET_AMOUNT"
	homeVar   = "RALPH_FLEET_HOME"
)

// play is a part of a fleet, until stdin ends.
func play(part string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if part == "node" {
		return node(ctx)
	}
	if part == "server" {
		return Server{os.Getenv(homeVar), "127.0.0.1", -1}.Serve(ctx, func(string) { fmt.Println("ready") })
	}
	a, err := Local(os.Getenv(homeVar))
	if err != nil {
		return err
	}
	amount, err := strconv.Atoi(os.Getenv(amountVar))
	if err != nil {
		return err
	}
	errs := make(chan error, amount)
	for range amount {
		go func() {
			errs <- Worker(ctx, Work{Access: a, Slots: 1, Carry: simulated, Log: func(string, ...any) {}})
		}()
	}
	fmt.Println("ready")
	for range amount {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// simulated is a turn of an agent that works for as many milliseconds as the run says, and says something ten times.
func simulated(ctx context.Context, in io.Reader, say func([]byte)) (why string) {
	lines := bufio.NewReader(in)
	if _, err := lines.ReadString('\n'); err != nil {
		return err.Error()
	}
	say([]byte("hello\n"))
	text, err := lines.ReadString('\n')
	ms, bad := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || bad != nil {
		return fmt.Sprintf("the run says %q", text)
	}
	for range 10 {
		select {
		case <-ctx.Done():
			return "cut off"
		case <-time.After(time.Duration(ms) * time.Millisecond / 10):
		}
		say([]byte(`{"event":{"kind":"tool","text":"` + strings.Repeat("x", 200) + "\"}}\n"))
	}
	say([]byte("end\n"))
	return ""
}

// process is a part of the fleet as a process of its own.
type process struct {
	cmd *exec.Cmd
	in  io.Closer
}

func startPart(tb testing.TB, part, home string, amount int) process {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), partVar+"="+part, homeVar+"="+home, fmt.Sprint(amountVar, "=", amount))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() > 0 { // a killed one has been waited for
			tb.Errorf("%s: %v", part, err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		tb.Fatalf("%s says %q: %v", part, line, err)
	}
	return process{cmd, in}
}

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

// tally is what a series of turns took.
type tally struct {
	mu    sync.Mutex
	start []time.Duration // from ready to started
}

// one has a turn carried out, and notes when a worker began.
func (t *tally) one(ctx context.Context, a Access, work time.Duration) error {
	in, feed := io.Pipe()
	outR, out := io.Pipe()
	ready := time.Now()
	go func() { _, _ = io.WriteString(feed, "you\n") }()
	said := make(chan string, 1)
	go func() {
		lines := bufio.NewReader(outR)
		if line, _ := lines.ReadString('\n'); line == "hello\n" {
			t.mu.Lock()
			t.start = append(t.start, time.Since(ready))
			t.mu.Unlock()
			_, _ = fmt.Fprintln(feed, work.Milliseconds())
		}
		rest, _ := io.ReadAll(lines)
		said <- string(rest)
	}()
	err := Turn(ctx, a, in, out)
	_ = out.Close()
	defer feed.Close()
	if rest := <-said; err == nil && !strings.HasSuffix(rest, "end\n") {
		return fmt.Errorf("the turn ends with %.80q", rest)
	}
	return err
}

// series has as many turns carried out as there are workers, several times, all workers busy.
func (t *tally) series(ctx context.Context, a Access, workers, turns int) error {
	errs := make(chan error, workers)
	for range workers {
		go func() {
			for range turns {
				if err := t.one(ctx, a, time.Second); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var first error
	for range workers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (t *tally) percentile(p int) time.Duration {
	slices.Sort(t.start)
	return t.start[min(len(t.start)*p/100, len(t.start)-1)]
}

// measure is a fleet with so many workers, all of them busy. The run has a connection for each turn, as it has with ralph.
func measure(tb testing.TB, workers, turns int) (figures map[string]float64) {
	tb.Helper()
	home := tb.TempDir()
	server := startPart(tb, "server", home, 0)
	many := startPart(tb, "workers", home, workers)
	a, err := Local(home)
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
