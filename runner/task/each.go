package task

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for each index below n and returns when all are done. If there are many, it does several at once:
// reading a folder of files is mostly waiting for the system.
func Each(n int, do func(i int)) {
	const few, chunk, most = 64, 32, 8
	if n < few {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(most, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for {
				end := int(next.Add(chunk))
				if end-chunk >= n {
					return
				}
				for i := end - chunk; i < min(end, n); i++ {
					do(i)
				}
			}
		})
	}
	all.Wait()
}
