package monitor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/follow"
)

// longLog is a log of 100,000 lines as the screen holds it.
func longLog(b *testing.B, wrap bool) *ui {
	b.Helper()
	s, events := sample.Run(noon)
	u := still(b, s, events)
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Repeat("words of a long line, m[key] // [ERROR] and so on, ", 90)
	for i := range 100_000 {
		u.run.log.append([]view.Line{{At: noon, First: true, Text: fmt.Sprintf("%d %s", i, words[:r.IntN(3990)])}})
	}
	u.run.log.wrap = wrap
	return u
}

func BenchmarkDraw(b *testing.B) {
	for _, wrap := range []bool{true, false} {
		for _, size := range [][2]int{{80, 24}, {200, 50}} {
			b.Run(fmt.Sprintf("wrap=%v/%dx%d", wrap, size[0], size[1]), func(b *testing.B) {
				u := longLog(b, wrap)
				screen := simulate(b, size[0], size[1])
				for i := 0; b.Loop(); i++ {
					u.run.log.append([]view.Line{{At: noon, First: true, Text: fmt.Sprintf("%d one more line", i)}})
					u.drawOn(screen)
				}
			})
		}
	}
}

func BenchmarkScrollBack(b *testing.B) {
	u := longLog(b, true)
	screen := simulate(b, 200, 50)
	for b.Loop() {
		u.run.log.scroll(-20)
		if u.run.log.top.line == u.run.log.first {
			u.run.log.toEnd()
		}
		u.drawOn(screen)
	}
}

func BenchmarkSearchWithoutMatch(b *testing.B) {
	u := longLog(b, true)
	u.run.log.setQuery("no such words")
	for b.Loop() {
		u.run.log.search(-1)
	}
}

// BenchmarkFeed reads 100,000 events from the file to the screen's log; heap
// is what is in use at its highest.
func BenchmarkFeed(b *testing.B) {
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, state.DirName), 0o755); err != nil {
		b.Fatal(err)
	}
	sample.Flood(b, filepath.Join(dir, state.DirName, "events.jsonl"), 100_000)
	var top uint64
	for b.Loop() {
		f := follow.New(dir, time.Now)
		u := newUI(Options{Now: time.Now}, f)
		for {
			u.apply(f.Poll())
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			top = max(top, m.HeapInuse)
			if !f.More() {
				break
			}
		}
		f.Close()
	}
	b.ReportMetric(float64(top)/(1<<20), "MiB-heap")
}

// BenchmarkFirstFrame is the time to the first screen of a run with a long log, and the processor time
// until its iterations are known, too.
func BenchmarkFirstFrame(b *testing.B) {
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, state.DirName), 0o755); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, state.DirName, "events.jsonl")
	sample.Flood(b, path, 25_000) // 50 MB; ten times that take ten times as long after the first screen
	var times []time.Duration
	for b.Loop() {
		f := follow.New(dir, time.Now)
		u := newUI(Options{Now: time.Now}, f)
		began := time.Now()
		u.apply(f.Poll())
		u.drawOn(simulate(b, 120, 40))
		times = append(times, time.Since(began))
		for f.More() {
			u.apply(f.Poll())
		}
		f.Close()
	}
	report(b, times, 300*time.Millisecond)
}
