package git

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkObserve takes turns with a plain git status on a repository of
// 2,000 files, and reports both and what Observe adds.
func BenchmarkObserve(b *testing.B) {
	for _, dirty := range []int{0, 20, 500} {
		b.Run(fmt.Sprintf("dirty=%d", dirty), func(b *testing.B) {
			p := project{b, b.TempDir()}
			p.git("init", "-q")
			for i := range 2000 {
				p.write(fmt.Sprintf("d%d/f%d.txt", i%40, i), fmt.Sprintf("file %d\n%4000d\n", i, i))
			}
			p.commit("all")
			for i := range dirty {
				p.write(fmt.Sprintf("d%d/new%d.txt", i%40, i), fmt.Sprintf("%4000d\n", i))
			}
			var plain time.Duration
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				if _, err := run(context.Background(), p.dir, "status", "--porcelain", "--untracked-files=all"); err != nil {
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
