package sandbox

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"ralph/ptyexec"
)

// bounds are what a sandbox may add to one call, in milliseconds. A container has none.
func bounds() map[string]float64 { return map[string]float64{"landlock": 2, "bwrap": 15} }

// BenchmarkCall measures what a sandbox adds to one call: to the time that passes, and to the time of processors, which
// other programs on a busy machine do not disturb as much.
func BenchmarkCall(b *testing.B) {
	dir := b.TempDir()
	var spare ptyexec.Spare
	defer spare.Close()
	took, spent := map[string][]time.Duration{}, map[string][]time.Duration{}
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
			before, begun := processors(b), time.Now()
			c, err := here.Box(dir, "", nil).Wrap(ptyexec.Command{Args: []string{"true"}, Dir: dir, Spare: &spare})
			if err == nil {
				_, err = ptyexec.Run(b.Context(), c, func([]byte) bool { return false })
			}
			if err != nil {
				b.Fatal(err)
			}
			took[name] = append(took[name], time.Since(begun))
			time.Sleep(20 * time.Millisecond) // the next guard starts meanwhile, as it does during a call
			spent[name] = append(spent[name], processors(b)-before)
		}
	}
	for name, bound := range bounds() {
		if len(took[name]) == 0 {
			continue
		}
		more := func(of map[string][]time.Duration, pick func([]time.Duration) time.Duration) float64 {
			return float64((pick(of[name]) - pick(of[Off])).Microseconds()) / 1000
		}
		b.Logf("%s adds %.1f ms, at least %.1f; %.1f ms of processors, at least %.1f; bound %.0f ms", name, more(took, median),
			more(took, slices.Min), more(spent, median), more(spent, slices.Min), bound)
		b.ReportMetric(more(took, median), name+"-ms-more")
		b.ReportMetric(more(took, slices.Min), name+"-least-ms-more")
		b.ReportMetric(more(spent, median), name+"-cpu-ms-more")
	}
}

func median(all []time.Duration) time.Duration { return slices.Sorted(slices.Values(all))[len(all)/2] }

// processors is the time that this process and those that it has waited for have spent.
func processors(b *testing.B) (sum time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}
