package cli

import (
	"ralph/state"
)

// Free space, in bytes, below which doctor warns, and below which it fails.
const leastDisk, neededDisk = 1 << 30, 20 << 20

func (d *diagnosis) disk(free uint64) {
	switch {
	case free < neededDisk:
		d.fail(state.ExitError, "disk", "only %d MiB free: a run could not write down what it does", free>>20)
	case free < leastDisk:
		d.warn("disk", "only %.1f GiB free", float64(free)/(1<<30))
	default:
		d.ok("disk", "%.1f GiB free", float64(free)/(1<<30))
	}
}
