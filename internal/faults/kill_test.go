//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ralph/internal/world"
	"ralph/state"
)

// moment is when and how a running loop is hit.
type moment struct {
	how    string
	signal syscall.Signal
	// early: so long after the start of the program. Else the first call of the
	// agent must come first, which shows that the start before went on.
	early bool
	after time.Duration
	// file and nth aim at a step of the nth write of a state file after the call.
	file string
	nth  int
	mask uint32
}

func (m moment) String() string {
	switch {
	case m.early:
		return fmt.Sprintf("%v %s after the start", m.how, m.after)
	case m.file != "":
		return fmt.Sprintf("%v at event %#x of write %d of %s", m.how, m.mask, m.nth, m.file)
	}
	return fmt.Sprintf("%v %s after a call began", m.how, m.after)
}

// moments are the same for the same seed. A third is early, a third aimed
// between the steps of one record; early ones never follow each other.
func moments(seed uint64, n int, how string, sig syscall.Signal) (all []moment) {
	r := rand.New(rand.NewPCG(seed, seed))
	files := []string{".call_count", ".token_count", "status.json", ".circuit_breaker_state", ".response_analysis", ".exit_signals", ".ralph_session", "events.jsonl"}
	for i := range n {
		m := moment{how: how, signal: sig}
		switch {
		case i%3 == 1:
			m.early, m.after = true, time.Duration(r.IntN(40_000))*time.Microsecond
		case i%3 == 2:
			m.file, m.nth = files[r.IntN(len(files))], 1+r.IntN(3)
			m.mask = []uint32{unix.IN_CREATE, unix.IN_MODIFY, unix.IN_CLOSE_WRITE, unix.IN_MOVED_TO}[r.IntN(4)]
			m.after = 400 * time.Millisecond // when the event does not come
		default:
			m.after = time.Duration(r.IntN(150_000)) * time.Microsecond
		}
		all = append(all, m)
	}
	return all
}

// toll is what a series of moments did and found.
type toll struct {
	moments, calls, ticks, commits, torn, hours int
	slowest                                     time.Duration
}

func (s toll) String() string {
	return fmt.Sprintf("%d moments: %d calls, %d ticks and %d commits checked; %d writes were cut off before their rename; "+
		"%d hour borders; all processes gone within %s", s.moments, s.calls, s.ticks, s.commits, s.torn, s.hours, s.slowest.Round(time.Millisecond))
}

// siege hits one loop after the other in the same project.
type siege struct {
	*project
	toll
	head  string
	wrong int // that the agent has noted so far
}

func newSiege(t *testing.T, act string) *siege {
	t.Helper()
	w := newProject(t, act, 40)
	return &siege{project: w, head: w.Git("rev-parse", "HEAD")}
}

// hit starts the loop, hits it, and looks at what is left. code is what the
// program must end with; a signal before it listens gives the same to a shell.
func (s *siege) hit(m moment, code int) {
	s.Helper()
	was := s.look()
	steps, stop := watchFiles(s, s.Path(".ralph"))
	defer stop()
	p := s.ralph(s.verb()...)
	defer p.Forget()
	s.await(p, m, was.calls, steps)
	_ = p.Process.Signal(m.signal)
	// Before the program listens, a signal does what it does to any program.
	if got := p.Wait(world.Patience); got != code && !(m.early && got == 128+int(m.signal)) {
		s.Errorf("%v: ended with %d, want %d:\n%s", m, got, code, p.Said())
	}
	s.examine(m, was)
}

// verb starts every other loop as the continuation of the one before.
func (s *siege) verb() []string {
	last, err := s.state().Status()
	if err != nil || last.RunID == "" || s.moments%2 == 0 {
		return nil
	}
	return []string{"resume"}
}

// await returns when it is time to hit.
func (s *siege) await(p *world.Process, m moment, calls int, steps <-chan step) {
	s.Helper()
	if !m.early {
		s.Until(fmt.Sprintf("%v: a call of the agent", m), func() bool {
			if !p.Alive() {
				s.Fatalf("%v: the loop ended by itself:\n%s", m, p.Said())
			}
			return len(s.entries("call")) > calls
		})
	}
	timeout := time.After(m.after)
	for seen := 0; m.file != ""; {
		select {
		case e := <-steps:
			if e.of(m.file) && e.mask&m.mask != 0 {
				seen++
			}
			if seen == m.nth {
				return
			}
		case <-timeout:
			return
		}
	}
	<-timeout
}

func (s *siege) open() int { return strings.Count(s.Read(planName), "- [ ]") }

func (s *siege) counted() (int, string) {
	c, err := s.state().Calls()
	if err != nil {
		s.Error(err)
	}
	return c.Calls, c.Hour.Format("2006010215")
}

// look is what there is before a hit: the counter and its hour, and the calls
// that the agent has counted. It sees to it that there is work.
func (s *siege) look() (was books) {
	s.Helper()
	if s.open() < 20 {
		s.refill(40)
	}
	was.count, was.hour = s.counted()
	was.calls = len(s.entries("call"))
	return was
}

type books struct {
	count, calls int
	hour         string
}

// examine checks every promise after a hit.
func (s *siege) examine(m moment, was books) {
	s.Helper()
	s.slowest = max(s.slowest, s.NoneLeft(leftBound))
	s.moments++
	for _, err := range unreadable(s.Path(".ralph")) {
		s.Errorf("%v: %v", m, err)
	}
	if owner, alive := s.state().Owner(); alive {
		s.Errorf("%v: the lock says that %+v is alive", m, owner)
	}
	made := len(s.entries("call")) - was.calls
	s.calls += made
	if now, nowHour := s.counted(); was.hour != nowHour && was.calls > 0 {
		s.hours++
	} else if over := now - was.count - made; over < 0 || over > 1 {
		s.Errorf("%v: .call_count went from %d to %d, the agent counted %d calls", m, was.count, now, made)
	}
	wrong := s.entries("wrong")
	for _, e := range wrong[s.wrong:] {
		s.Errorf("%v: %s", m, e.text)
	}
	s.wrong = len(wrong)
	s.compare(m)
	if temps, _ := filepath.Glob(filepath.Join(s.Path(".ralph"), ".*[0-9][0-9][0-9][0-9][0-9]")); len(temps) > 0 {
		s.torn++
	}
}

// compare compares plan and repository with what the agent noted after it was done.
func (s *siege) compare(m moment) {
	s.Helper()
	plan := s.Read(planName)
	ticks := s.entries("tick")
	for _, e := range ticks[s.ticks:] {
		if strings.Contains(plan, "- [ ] "+e.text+"\n") {
			s.Errorf("%v: the tick of %q is lost", m, e.text)
		}
	}
	s.ticks = len(ticks)
	commits := s.entries("commit")
	if len(commits) > s.commits {
		known := strings.Fields(s.Git("rev-list", "HEAD", "^"+s.head))
		for _, e := range commits[s.commits:] {
			if !slices.Contains(known, e.text) {
				s.Errorf("%v: commit %s is lost", m, e.text)
			}
		}
		s.head = s.Git("rev-parse", "HEAD")
	}
	s.commits = len(commits)
}

// unreadable reads every file of a state directory as its readers do. Of a log
// that is appended to, the last line may be torn.
func unreadable(dir string) (bad []error) {
	r := state.Open(dir)
	_, e1 := r.Status()
	_, e2 := r.Breaker()
	_, e3 := r.Session()
	_, e4 := r.Signals()
	_, e5 := r.Calls()
	_, e6 := r.History()
	bad = append(bad, e1, e2, e3, e4, e5, e6)
	path := filepath.Join(dir, ".response_analysis")
	if data, err := os.ReadFile(path); err == nil && !json.Valid(data) {
		bad = append(bad, fmt.Errorf("%s is torn: %q", path, data))
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		bad = append(bad, err)
	}
	events, _ := filepath.Glob(filepath.Join(dir, "events*.jsonl"))
	for _, path := range append(events, filepath.Join(dir, ".circuit_breaker_history")) {
		data, _ := os.ReadFile(path)
		lines := bytes.Split(data, []byte("\n"))
		for i, line := range lines[:len(lines)-1] {
			if !json.Valid(line) {
				bad = append(bad, fmt.Errorf("%s, line %d is torn: %.200q", path, i+1, line))
			}
		}
	}
	return slices.DeleteFunc(bad, func(err error) bool { return err == nil })
}

func TestKill_randomMoments_nothingLeftNothingLost(t *testing.T) {
	world.Long(t, "kills at random moments")
	t.Parallel()
	s := newSiege(t, "stubborn")
	for _, m := range moments(1, amount(12, 1000), "KILL", syscall.SIGKILL) {
		s.hit(m, 128+9)
	}
	s.report()
}

func TestKill_betweenCommitAndTick_theTickOfTheNextCallCounts(t *testing.T) {
	world.Long(t, "runs that are killed")
	t.Parallel()
	w := newProject(t, "late", 1)
	p := w.ralph()
	w.Until("the work is committed", func() bool { return len(w.entries("late")) > 0 })
	_ = p.Process.Kill()
	p.Ends(128 + 9)
	w.NoneLeft(leftBound)
	w.ralph().Ends(0)
	if calls := len(w.entries("call")); calls != 2 {
		t.Errorf("%d calls, want 2: the tick was not taken", calls)
	}
}

func TestSignals_randomMoments_nothingLeftNothingLost(t *testing.T) {
	world.Long(t, "runs that are ended")
	t.Parallel()
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 143, syscall.SIGINT: 130} {
		t.Run(unix.SignalName(sig), func(t *testing.T) {
			t.Parallel()
			s := newSiege(t, "worker")
			for _, m := range moments(uint64(sig), amount(4, 100), unix.SignalName(sig), sig) {
				s.hit(m, code)
			}
			s.report()
		})
	}
}

// report ends a siege: the loop must still be able to finish the plan.
func (s *siege) report() {
	s.Helper()
	s.refill(3)
	s.ralph().Ends(0)
	s.Log(s.toll)
}

// amount is the bounded figure, an eighth of it under -short, or the long one.
// RALPH_FAULTS_PERCENT scales the long one down to what there is time for.
func amount(bounded, long int) int {
	if testing.Short() {
		return max(1, bounded/8)
	}
	if !longForm {
		return bounded
	}
	percent := 100
	if n, err := strconv.Atoi(os.Getenv("RALPH_FAULTS_PERCENT")); err == nil {
		percent = n
	}
	return max(bounded, long*percent/100)
}
