package ptyexec

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ralph/ptyexec/confine"
	"ralph/ptyexec/cover"
)

// guardName is the whole argv that makes this program a guard. It is not the
// program's name: "pkill -9 -f" of that must not kill the guard.
const guardName = "pty-guard"

// The guard's descriptors.
const (
	fdStdin   = 0 // pipe, for the child
	fdOutput  = 1 // for the child
	fdNull    = 2
	fdControl = 3
	fdReport  = 4
)

const (
	orphanedGrace = 500 * time.Millisecond // for the child, when the runner is dead
	sweepInterval = 20 * time.Millisecond
	// giveUpAfter bounds the wait for processes that KILL does not end, because
	// they hang in the kernel or belong to another user.
	giveUpAfter = 3 * time.Second
	afterBound  = 10 * time.Second // for Command.After
	// settleBound is the time for processes to end because the child has ended. Those that do are not
	// counted as left behind.
	settleBound = time.Second
)

// initialised: a program that starts itself as a guard without calling Init would do so endlessly.
var initialised atomic.Bool

// Init must be the first call of main, and of TestMain where Run is used. In a
// process that was started as a guard it does the guard's work and never returns.
func Init() {
	if len(os.Args) == 1 && os.Args[0] == guardName {
		runGuard()
		os.Exit(0)
	}
	initialised.Store(true)
}

// guard ends a child and all of its descendants.
type guard struct {
	leader   int  // the child's pid, and its group
	gone     bool // the child has ended
	grace    time.Duration
	deadline time.Time    // when KILL follows; zero: nothing has to end yet
	told     map[int]bool // processes that outlived the child
	after    func()       // once the child is gone; nil: nothing
	uncover  func()       // once nothing is left
}

func runGuard() {
	runtime.LockOSThread() // start must run on another thread
	becomeReaper()
	// Caught, not ignored, since the child would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	syscall.CloseOnExec(fdControl)
	syscall.CloseOnExec(fdReport)

	control := os.NewFile(fdControl, "control")
	s, err := readSpec(control)
	if err != nil {
		return
	}
	setMark(s.mark)
	held, err := cover.Make(s.cover)
	defer held.Release()
	if err != nil {
		report(record{recordUnconfined, int32(errnoOf(err)), 0})
		return
	}
	pid, failed, err := s.start()
	if err != nil {
		report(record{failed, int32(errnoOf(err)), 0})
		return
	}
	// From here on only the child and its descendants hold the pty and the pipes.
	_ = syscall.Close(fdStdin)
	_ = syscall.Close(fdOutput)
	report(record{recordStarted, int32(pid), 0})

	g := guard{leader: pid, grace: s.grace, told: map[int]bool{}, uncover: held.Release}
	if len(s.after) > 0 {
		g.after = s.cleanUp
	}
	g.loop(ended, commands(control))
}

// start confines a thread of its own, and starts the child from there. The main thread stays
// outside of the limits, so the child can neither signal the guard nor inspect it. failed is the
// kind of record to report an error with.
func (s spec) start() (pid int, failed int32, err error) {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		failed = recordUnconfined
		if err = confine.Apply(s.confine); err == nil {
			failed = recordFailed
			pid, err = s.exec()
		}
		close(done)
		// The kernel sends the death signal when the thread ends that started the child, not
		// the process.
		select {}
	}()
	<-done
	return pid, failed, err
}

func (s spec) exec() (pid int, err error) {
	stdin := uintptr(fdNull)
	if s.prompt {
		stdin = fdStdin
	}
	sys := &syscall.SysProcAttr{Setsid: true}
	if s.tty {
		sys.Setctty, sys.Ctty = true, fdOutput
	}
	EndWithParent(sys, syscall.SIGKILL)
	return syscall.ForkExec(s.path, s.args, &syscall.ProcAttr{
		Dir: s.dir, Env: s.env, Files: []uintptr{stdin, fdOutput, fdOutput}, Sys: sys,
	})
}

// cleanUp runs Command.After.
func (s spec) cleanUp() {
	pid, err := syscall.ForkExec(s.after[0], s.after, &syscall.ProcAttr{
		Dir: s.dir, Env: s.env, Files: []uintptr{fdNull, fdNull, fdNull}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return
	}
	waitFor(pid, afterBound)
	waitFor(-1, settleBound)
}

// waitFor collects a child of the guard, or with -1 all of them, within a bound.
func waitFor(pid int, bound time.Duration) {
	for begun := time.Now(); time.Since(begun) < bound; time.Sleep(sweepInterval) {
		for {
			ended, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			if ended == pid || errors.Is(err, syscall.ECHILD) {
				return
			}
			if ended <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
	}
}

// commands sends each byte of control, and closes the channel at its end.
func commands(control *os.File) <-chan byte {
	c := make(chan byte)
	go func() {
		defer close(c)
		var b [1]byte
		for {
			if n, err := control.Read(b[:]); n != 1 || err != nil {
				return
			}
			c <- b[0]
		}
	}()
	return c
}

// report sends a record to the runner. An error does not matter: when the runner is dead, control ends.
func report(r record) { _, _ = unix.Write(fdReport, r.encode()) }

func (g *guard) loop(ended <-chan os.Signal, commands <-chan byte) {
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-ended:
		case <-tick.C:
		case command, ok := <-commands:
			switch {
			case !ok:
				commands = nil
				g.end(min(g.grace, orphanedGrace))
			case command == commandTerm:
				g.end(g.grace)
			case command == commandKill:
				g.deadline = time.Now()
			}
		}
		if g.reap() {
			g.uncover()
			report(record{recordEnded, int32(len(g.told)), 0})
			return
		}
		if g.deadline.IsZero() {
			continue
		}
		survivors := g.sweep()
		if time.Since(g.deadline) > giveUpAfter {
			report(record{recordEnded, int32(len(g.told)), int32(max(1, survivors))})
			return
		}
		wait := sweepInterval
		if !g.gone {
			wait = max(wait, time.Until(g.deadline))
		}
		tick.Reset(wait)
	}
}

// end asks the child to end, once, and sets the deadline.
func (g *guard) end(grace time.Duration) {
	deadline := time.Now().Add(grace)
	if !g.deadline.IsZero() && g.deadline.Before(deadline) {
		return
	}
	g.deadline = deadline
	if !g.gone {
		ask(-g.leader)
	}
}

// reap collects the exit status of every ended child; done means nothing is left.
func (g *guard) reap() (done bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return !groupRemains(g.leader)
		case pid == 0:
			return false
		case pid == g.leader:
			g.gone = true
			report(record{recordExited, int32(status), 0})
			if g.after != nil {
				g.after()
				if !g.deadline.IsZero() {
					g.deadline = time.Now() // what is left does not get the child's time
				}
			}
			g.end(g.grace)
		}
	}
}

// sweep signals the processes that must end now, and returns their number. While
// the child lives, that is its whole group, at the deadline. Afterwards it is every
// child of the guard: whatever the child left behind is one, or becomes one when
// its parent ends.
func (g *guard) sweep() int {
	late := !time.Now().Before(g.deadline)
	if !g.gone {
		if !late {
			return 1
		}
		_ = syscall.Kill(-g.leader, syscall.SIGKILL)
		if g.after != nil {
			return 1 // it still needs processes of the child, such as the monitor of a container
		}
	}
	pids, err := children()
	if err != nil {
		pids = []int{-g.leader}
	}
	for _, pid := range pids {
		switch {
		case pid == g.leader:
			continue
		case late:
			_ = syscall.Kill(pid, syscall.SIGKILL)
		case !g.told[pid]:
			ask(pid)
		}
		g.told[pid] = true
	}
	return len(pids)
}

// errnoOf is what the guard can report of an error.
func errnoOf(err error) (errno syscall.Errno) {
	if !errors.As(err, &errno) {
		return syscall.ENOSYS
	}
	return errno
}

// ask sends TERM, and CONT so that a stopped process sees it.
func ask(pid int) {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	_ = syscall.Kill(pid, syscall.SIGCONT)
}
