package git

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"ralph/runner/git/command"
)

// BenchmarkObserve takes turns with a plain git status on a repository of
// 2,000 files, and reports both and what Observe adds.
func BenchmarkObserve(b *testing.B) {
	for _, dirty := range []int{0, 20, 500} {
		b.Run(fmt.Sprintf("dirty=%d", dirty), func(b *testing.B) {
			p := newFolder(b)
			p.Git("init", "-q")
			for i := range 2000 {
				p.Write(fmt.Sprintf("d%d/f%d.txt", i%40, i), fmt.Sprintf("file %d\n%4000d\n", i, i))
			}
			p.Commit("all")
			for i := range dirty {
				p.Write(fmt.Sprintf("d%d/new%d.txt", i%40, i), fmt.Sprintf("%4000d\n", i))
			}
			var plain time.Duration
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				if _, err := command.Run(context.Background(), p.Dir, "status", "--porcelain", "--untracked-files=all"); err != nil {
					b.Fatal(err)
				}
				plain += time.Since(start)
				b.StartTimer()
				p.observe()
			}
			own := b.Elapsed()
			ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N) }
			b.ReportMetric(ms(plain), "plain-ms/op")
			b.ReportMetric(ms(own-plain), "added-ms/op")
			b.ReportMetric(own.Seconds()/plain.Seconds(), "ratio")
		})
	}
}

// largeProject has 2,000 files, of which some are changed in each round.
func largeProject(b *testing.B) project {
	p := newFolder(b)
	p.Git("init", "-q")
	for i := range 2000 {
		p.Write(fmt.Sprintf("d%d/f%d.go", i%40, i), fmt.Sprintf("package d\n\nfunc F%d() int { return %4000d }\n", i, i))
	}
	p.Commit("all")
	return p
}

// BenchmarkKeep is what keeping the state costs an iteration that changed 20
// files, of 2,000; the look at the tree that the loop needs anyway is not in it.
func BenchmarkKeep(b *testing.B) {
	p := largeProject(b)
	k, _ := NewKeeper(p.Dir)
	base := ""
	var used time.Duration
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		for f := range 20 {
			p.Write(fmt.Sprintf("d%d/f%d.go", f, f), fmt.Sprintf("package d\n\nfunc F() int { return %4000d }\n", i))
		}
		snap := p.observe()
		start := processorTime(b)
		b.StartTimer()
		oid, err := k.Keep(context.Background(), snap, State{Run: "r", Iteration: i + 1, Base: base})
		if err != nil {
			b.Fatal(err)
		}
		base = oid
		used += processorTime(b) - start
	}
	b.ReportMetric(used.Seconds()*1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkTexts is what the texts before and after of 20 files, of 2,000, cost.
func BenchmarkTexts(b *testing.B) {
	p := largeProject(b)
	before := p.observe()
	for f := range 20 {
		p.Write(fmt.Sprintf("d%d/f%d.go", f, f), fmt.Sprintf("package d\n\nfunc F() int { return %4000d }\n", 7))
	}
	after := p.observe()
	change := before.Compare(after)
	start := processorTime(b)
	for b.Loop() {
		texts, err := change.Texts(context.Background(), p.Dir, before, after)
		if err != nil || len(texts) != 20 {
			b.Fatal(len(texts), err)
		}
	}
	b.ReportMetric((processorTime(b)-start).Seconds()*1000/float64(b.N), "cpu-ms/op")
}

// processorTime is what this process and its children have used: unlike the
// clock it does not depend on what else the machine does.
func processorTime(b *testing.B) (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
