package ptyexec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The mark of a command is the hard limit RLIMIT_LOCKS of its processes. Linux has enforced no such limit
// since 2.4.25, but a process still passes it on to its children, whatever session, parent or
// environment they have, and only root can raise it.

// maxMark bounds a mark where there is no limit yet.
const maxMark = 1 << 62

// newMark returns a mark that no other command has. It is below the one of this process, which may be part of a
// command itself.
func newMark() uint64 {
	own, err := markOf(0)
	most := min(own, maxMark)
	if err != nil || most < 2 {
		return 0
	}
	return most/2 + rand.Uint64N(most-most/2)
}

// setMark marks this process and all that it starts.
func setMark(mark uint64) {
	_ = unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: mark, Max: mark}) // one may always lower a limit
}

// markOf returns the mark of a process, or of this one with 0.
func markOf(pid int) (uint64, error) {
	var l unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &l)
	return l.Max, err
}

// sweep signals what is left and counts it. Guards of a runner inside the command are counted, not signalled: they end
// their own processes.
//
// The processes of the command have its mark. One that has lowered its mark becomes a child of this process
// at the latest when its parent is gone; what this process starts itself has this process's mark, or is a guard.
func (o *orphans) sweep(late bool) (left, busy int) {
	own, err := markOf(0)
	self := os.Getpid()
	all, err2 := pids()
	if err != nil || err2 != nil || !ended(o.guard) {
		return 1, 0
	}
	for _, pid := range slices.Backward(all) { // the newest first: by the time the others are seen, it may have forked
		mark, err := markOf(pid)
		if _, guard := guards.Load(pid); err != nil || mark == own || guard {
			continue
		}
		p, err := stat(pid)
		switch {
		case err != nil || mark != o.mark && p.parent != self:
			continue
		case p.state == "Z":
			var status syscall.WaitStatus
			if got, _ := syscall.Wait4(pid, &status, syscall.WNOHANG, nil); got == pid && pid == o.leader {
				o.status = status
			}
			continue
		case isGuard(pid):
			busy++
			continue
		case late:
			_ = syscall.Kill(pid, syscall.SIGKILL)
		case !o.told[pid]:
			ask(pid)
		}
		o.told[pid], left = true, left+1
	}
	return left, busy
}

// isGuard reports whether a process is this program as a guard.
func isGuard(pid int) bool {
	dir := fmt.Sprintf("/proc/%d/", pid)
	name, err := os.ReadFile(dir + "cmdline") // file: of the kernel
	its, err2 := os.Stat(dir + "exe")
	mine, err3 := os.Stat("/proc/self/exe")
	return errors.Join(err, err2, err3) == nil && string(name) == guardName+"\x00" && os.SameFile(its, mine)
}

// ended reports whether a child has ended. Its orphans have a new parent by then.
func ended(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD) || err == nil && info.Signo != 0
}

// stopped reports whether a child was stopped since it was asked last.
func stopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

// collectOrphans collects the exit status of orphans that have ended, which would stay as zombies.
// Children with a pidfd are ours and are left alone. If the guard has none, Go uses no pidfds, and nothing is collected.
func collectOrphans(guard int) {
	all, _ := children() // before the pidfds: a child has its pidfd from its first moment
	all = slices.DeleteFunc(all, func(pid int) bool { _, is := guards.Load(pid); return is })
	if len(all) == 0 {
		return
	}
	held := pidfds()
	if !slices.Contains(held, guard) {
		return
	}
	for _, pid := range all {
		if !slices.Contains(held, pid) {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// pidfds lists the processes of which this one has a pidfd.
func pidfds() (pids []int) {
	const dir = "/proc/self/fdinfo/"
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		text, _ := os.ReadFile(dir + e.Name()) // file: of the kernel
		if _, after, ok := strings.Cut(string(text), "\nPid:\t"); ok {
			line, _, _ := strings.Cut(after, "\n")
			if pid, err := strconv.Atoi(line); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
