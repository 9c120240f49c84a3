package monitor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/internal/sample"
	"ralph/state"
)

// drawn starts a screen on the project and returns what it draws.
func drawn(b *testing.B, pr *sample.Project) *spy {
	b.Helper()
	s := &spy{SimulationScreen: tcell.NewSimulationScreen("UTF-8"), drawn: make(chan string, 1000), b: b}
	ctx, cancel := context.WithCancel(b.Context())
	var wait sync.WaitGroup
	wait.Go(func() { _ = Run(ctx, Options{Dir: pr.Dir, Screen: s}) })
	b.Cleanup(func() { cancel(); wait.Wait() })
	<-s.drawn
	return s
}

// spy hands out what each Show made visible.
type spy struct {
	tcell.SimulationScreen
	drawn chan string
	b     *testing.B
}

// await returns when the text was drawn.
func (s *spy) await(text string) {
	s.b.Helper()
	late := time.After(bound)
	for {
		select {
		case screen := <-s.drawn:
			if strings.Contains(screen, text) {
				return
			}
		case <-late:
			s.b.Fatalf("%q is not drawn within %v", text, bound)
		}
	}
}

func (s *spy) Show() {
	s.SimulationScreen.Show()
	select {
	case s.drawn <- text(s.SimulationScreen):
	default:
	}
}

// report tells the median and the worst of the times, and fails when the
// median is over the bound.
func report(b *testing.B, times []time.Duration, bound time.Duration) {
	b.Helper()
	slices.Sort(times)
	median := times[len(times)/2]
	b.ReportMetric(float64(median)/1e6, "ms-median")
	b.ReportMetric(float64(times[len(times)-1])/1e6, "ms-worst")
	if median > bound && !raceEnabled {
		b.Errorf("median %v, at most %v", median, bound)
	}
}

// BenchmarkChange is the time from a new status.json to the screen that shows it.
func BenchmarkChange(b *testing.B) {
	pr := living(b)
	s, _ := sample.Run(time.Now())
	screen := drawn(b, pr)
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		time.Sleep(time.Duration(30+i%15*7) * time.Millisecond) // sleep: changes at odd moments
		b.StartTimer()
		s.Status.LoopCount = 1000 + i
		began := time.Now()
		pr.JSON("status.json", s.Status)
		screen.await(fmt.Sprintf("iteration %d", s.Status.LoopCount+1)) // the one that runs
		times = append(times, time.Since(began))
	}
	report(b, times, 100*time.Millisecond)
}

// BenchmarkKeyDuringAFlood is the time from a key to the screen that it asks for.
func BenchmarkKeyDuringAFlood(b *testing.B) {
	pr := living(b)
	screen := drawn(b, pr)
	ctx, cancel := context.WithCancel(b.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			var many []state.Event
			for range 100 {
				many = append(many, sample.Say(fmt.Sprintf("flood %d %s", i, strings.Repeat("x", i%4000))))
			}
			pr.Add(many...)
		}
	})
	defer wait.Wait()
	defer cancel()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		time.Sleep(20 * time.Millisecond) // sleep: keys come at the pace of a person
		b.StartTimer()
		began := time.Now()
		screen.InjectKey(tcell.KeyRune, '?', tcell.ModNone)
		screen.await([]string{"pause after this iteration", " usage "}[i%2])
		times = append(times, time.Since(began))
	}
	report(b, times, 50*time.Millisecond)
}

// BenchmarkIdle is what a screen costs on which nothing happens.
func BenchmarkIdle(b *testing.B) {
	p := openTerminalOf(b, living(b).Dir)
	p.prints("RUNNING")
	began, before := time.Now(), cpuOf(b, p.cmd.Process.Pid)
	for b.Loop() {
		time.Sleep(4 * time.Second) // sleep: the measured stretch of time
	}
	share := float64(cpuOf(b, p.cmd.Process.Pid)-before) / float64(time.Since(began)) * 100
	b.ReportMetric(share, "%-of-a-core")
	b.ReportMetric(float64(residentOf(b, p.cmd.Process.Pid))/(1<<20), "MiB-resident")
	if share > 0.5 && !raceEnabled {
		b.Errorf("idle it uses %.2f %% of a core", share)
	}
}

// cpuOf is the processor time that a process has used.
func cpuOf(t testing.TB, pid int) (used time.Duration) {
	t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if len(tasks) == 0 {
		t.Skip("no /proc here")
	}
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		var n int64
		_, _ = fmt.Sscan(string(data), &n)
		used += time.Duration(n)
	}
	return used
}

// residentOf is the resident memory of a process in bytes.
func residentOf(t testing.TB, pid int) int64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	var size, pages int64
	_, _ = fmt.Sscan(string(data), &size, &pages)
	return pages * int64(os.Getpagesize())
}

func TestScreen_flood_memoryStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a flood for memory to settle")
	}
	pr := living(t)
	p := openTerminalOf(t, pr.Dir)
	p.prints("RUNNING")
	big := filepath.Join(t.TempDir(), "flood")
	lines := 25_000 // times four
	if raceEnabled {
		lines = 1_000 // the detector makes reading ten times slower
	}
	sample.Flood(t, big, lines)
	data, err := os.ReadFile(big)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(pr.StateDir(), "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var top int64
	for range 4 {
		if _, err := io.Copy(file, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			time.Sleep(20 * time.Millisecond) // sleep: between two samples
			top = max(top, residentOf(t, p.cmd.Process.Pid))
		}
	}
	pr.Add(sample.Say("ŒŒŒŒŒŒŒ")) // only changed cells are printed: characters that the flood does not have
	p.prints("ŒŒŒŒŒŒŒ")
	t.Logf("%d lines of up to 4,000 characters: at most %d MiB resident", 4*lines, top>>20)
	if top > 60<<20 && !raceEnabled {
		t.Errorf("%d MiB resident", top>>20)
	}
	_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM)
}
