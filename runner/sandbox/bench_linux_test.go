package sandbox

import (
	"slices"
	"testing"
	"time"

	"ralph/ptyexec"
)

// What a sandbox adds to one call: under 2 ms for landlock, under 15 ms for bwrap. A
// container has no bound.
func BenchmarkCall(b *testing.B) {
	dir := b.TempDir()
	var spare ptyexec.Spare
	defer spare.Close()
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range append([]string{Off}, Names()...) {
			s := Settings{Sandbox: name}
			if i := slices.IndexFunc(profiles(), func(p profile) bool { return p.name == name }); i >= 0 && (s.InContainer() || profiles()[i].works(s) != nil) {
				continue
			}
			here, err := s.At(dir, names())
			if err != nil {
				b.Fatal(err)
			}
			begun := time.Now()
			c, err := here.Box(dir, "", nil).Wrap(ptyexec.Command{Args: []string{"true"}, Dir: dir, Spare: &spare})
			if err == nil {
				_, err = ptyexec.Run(b.Context(), c, func([]byte) bool { return false })
			}
			if err != nil {
				b.Fatal(err)
			}
			took[name] = append(took[name], time.Since(begun))
			time.Sleep(20 * time.Millisecond) // the next guard starts meanwhile, as it does during a call
		}
	}
	median := func(name string) float64 {
		all := slices.Sorted(slices.Values(took[name]))
		return float64(all[len(all)/2].Microseconds()) / 1000
	}
	least := func(name string) float64 { return float64(slices.Min(took[name]).Microseconds()) / 1000 }
	for name := range took {
		if name != Off {
			b.ReportMetric(median(name)-median(Off), name+"-ms-more")
			b.ReportMetric(least(name)-least(Off), name+"-least-ms-more") // on a busy machine
		}
	}
}
