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

	"ralph/state"
)

func TestSpeed_stateChange_isOnTheScreenInTime(t *testing.T) {
	pr := living(t)
	s, _ := runOf(time.Now())
	drawn := make(chan string, 1000)
	screen := &spy{SimulationScreen: tcell.NewSimulationScreen("UTF-8"), drawn: drawn}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { _ = Run(ctx, Options{Dir: pr.dir, Screen: screen}) })
	defer wait.Wait()
	defer cancel()
	<-drawn
	var times []time.Duration
	for i := range 15 {
		time.Sleep(time.Duration(30+i*7) * time.Millisecond) // sleep: changes at odd moments
		s.Status.LoopCount = 1000 + i
		want := fmt.Sprintf("iteration %d", s.Status.LoopCount)
		began := time.Now()
		pr.json("status.json", s.Status)
		for text := range drawn {
			if strings.Contains(text, want) {
				break
			}
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	t.Logf("a change is drawn in %v (median), %v (worst)", times[len(times)/2], times[len(times)-1])
	if times[len(times)/2] > 100*time.Millisecond {
		t.Errorf("median %v", times[len(times)/2])
	}
}

func TestSpeed_keyDuringAFlood_isAnsweredInTime(t *testing.T) {
	pr := living(t)
	drawn := make(chan string, 1000)
	screen := &spy{SimulationScreen: tcell.NewSimulationScreen("UTF-8"), drawn: drawn}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { _ = Run(ctx, Options{Dir: pr.dir, Screen: screen}) })
	defer wait.Wait()
	defer cancel()
	<-drawn
	wait.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			var many []state.Event
			for range 100 {
				many = append(many, say(fmt.Sprintf("flood %d %s", i, strings.Repeat("x", i%4000))))
			}
			pr.add(many...)
		}
	})
	var times []time.Duration
	for i := range 20 {
		time.Sleep(20 * time.Millisecond) // sleep: keys come at the pace of a person
		want := []string{"pause after this iteration", "API usage"}[i%2]
		began := time.Now()
		screen.InjectKey(tcell.KeyRune, '?', tcell.ModNone)
		for text := range drawn {
			if strings.Contains(text, want) {
				break
			}
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	t.Logf("a key is answered in %v (median), %v (worst)", times[len(times)/2], times[len(times)-1])
	if times[len(times)/2] > 50*time.Millisecond && !raceEnabled {
		t.Errorf("median %v", times[len(times)/2])
	}
}

// spy hands out what each Show made visible.
type spy struct {
	tcell.SimulationScreen
	drawn chan string
}

func (s *spy) Show() {
	s.SimulationScreen.Show()
	select {
	case s.drawn <- text(s.SimulationScreen):
	default:
	}
}

// cpuOf is the processor time that a process has used.
func cpuOf(t *testing.T, pid int) (used time.Duration) {
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
func residentOf(t *testing.T, pid int) int64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	var size, pages int64
	_, _ = fmt.Sscan(string(data), &size, &pages)
	return pages * int64(os.Getpagesize())
}

func TestSpeed_idle_costsUnderHalfAPercentOfACore(t *testing.T) {
	p := openTerminalOf(t, living(t).dir)
	p.prints("RUNNING")
	before := cpuOf(t, p.cmd.Process.Pid)
	const idle = 4 * time.Second
	time.Sleep(idle) // sleep: the measured stretch of time
	used := cpuOf(t, p.cmd.Process.Pid) - before
	share := float64(used) / float64(idle) * 100
	t.Logf("idle: %.2f %% of a core, %d MiB resident", share, residentOf(t, p.cmd.Process.Pid)>>20)
	if share > 0.5 && !raceEnabled {
		t.Errorf("idle it uses %.2f %% of a core", share)
	}
}

func TestSpeed_flood_memoryStaysFlat(t *testing.T) {
	pr := living(t)
	p := openTerminalOf(t, pr.dir)
	p.prints("RUNNING")
	big := filepath.Join(t.TempDir(), "flood")
	flood(t, big, 25_000)
	data, err := os.ReadFile(big)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(pr.stateDir(), "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
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
	pr.add(say("ŒŒŒŒŒŒŒ")) // only changed cells are printed: characters that the flood does not have
	p.prints("ŒŒŒŒŒŒŒ")
	t.Logf("100,000 lines of up to 4,000 characters: at most %d MiB resident", top>>20)
	if top > 60<<20 && !raceEnabled {
		t.Errorf("%d MiB resident", top>>20)
	}
	_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM)
}
