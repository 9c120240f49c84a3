//go:build linux

package faults

import (
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
)

// casualties is how many processes of each kind were killed.
type casualties struct{ workers, runs, servers, carriers int }

func (c casualties) total() int { return c.workers + c.runs + c.servers + c.carriers }

// most is how many attempts so many kills may cost at the most: one for each turn that was cut off.
func (c casualties) most(slots int) int { return c.workers + c.carriers + slots*(c.runs+c.servers) }

// A fleet loses its workers, its server, its runs and what carries turns to it, one after the other.
func TestFleet_killed_nothingLostNothingTwiceNothingLeft(t *testing.T) {
	world.Long(t, "a fleet")
	t.Parallel()
	size, kills := 2, amount(3, 300)
	if longForm {
		size = 8
	}
	f := newFleet(t, "beside", 3*size, size)
	seed := uint64(16)
	if longForm {
		seed = uint64(time.Now().UnixNano())
	}
	r := rand.New(rand.NewPCG(seed, 16))
	t.Logf("seed %d", seed)
	var lost casualties
	run := f.run()
	for lost.total() < kills && !t.Failed() {
		time.Sleep(time.Duration(r.IntN(2500)) * time.Millisecond) // sleep: any moment may be the one
		if !run.Alive() {
			run = f.goOn(run, lost.total())
		}
		f.strike(r, &run, &lost)
	}
	f.finish(run)
	if t.Failed() {
		return
	}
	f.wantAllOnce()
	tries, wasted := f.tries(), -f.tasks
	for _, n := range tries {
		wasted += n
	}
	if most := lost.most(size + 1); wasted > most {
		t.Errorf("%d attempts were in vain, at most %d may be: %v", wasted, most, tries)
	}
	t.Logf("%d kills (%+v), %d tasks landed once, %d attempts in vain", lost.total(), lost, f.tasks, wasted)
	f.close()
}

// goOn starts the next run when one has ended. With all tasks done, there are new ones.
func (f *fleet) goOn(before *world.Process, kills int) *world.Process {
	f.Helper()
	code := before.Wait(world.Patience)
	refused := code == 2 && strings.Contains(before.Said(), "the fleet cannot be used") // its server was hit
	if code != 0 && code != 128+int(syscall.SIGKILL) && !refused {
		f.Fatalf("the run ended with %d:\n%s", code, before.Said())
	}
	before.Forget()
	if !strings.Contains(f.Read(planName), "- [ ]") {
		f.refill(3 * len(f.workers))
	}
	if kills%2 == 1 {
		return f.run("resume")
	}
	return f.run()
}

// strike kills something, and starts it again.
func (f *fleet) strike(r *rand.Rand, run **world.Process, lost *casualties) {
	f.Helper()
	switch n := r.IntN(20); {
	case n == 0:
		lost.servers++
		f.kill(f.server)
		f.startServer()
	case n < 3:
		lost.runs++
		f.kill(*run)
		*run = f.goOn(*run, lost.total())
	case n < 6:
		if all := f.carriers(); len(all) > 0 {
			lost.carriers++
			_ = syscall.Kill(all[r.IntN(len(all))], syscall.SIGKILL)
		}
	default:
		lost.workers++
		i := r.IntN(len(f.workers))
		f.kill(f.workers[i])
		f.startWorker(i)
	}
}

// finish has the plan worked off, with nobody killed.
func (f *fleet) finish(run *world.Process) {
	f.Helper()
	for range 3 {
		if code := run.Wait(5 * time.Minute); code == 0 && !strings.Contains(f.Read(planName), "- [ ]") {
			return
		}
		run = f.goOn(run, 0)
	}
	f.Errorf("the plan is not done:\n%s\n%s", f.Read(planName), run.Said())
}

func TestFleet_noKill_worksOffThePlan(t *testing.T) {
	world.Long(t, "a fleet")
	t.Parallel()
	f := newFleet(t, "beside", 4, 2)
	f.run().Ends(0)
	f.wantAllOnce()
	for id, n := range f.tries() {
		if n != 1 {
			t.Errorf("%s was tried %d times", id, n)
		}
	}
	if _, err := os.Stat(f.Home + "/machine0/.cache/ralph/away"); err != nil {
		t.Errorf("the worker has no worktree: %v", err)
	}
	f.close()
}
