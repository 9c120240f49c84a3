package ptyexec

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfPath is this program, even after its file was replaced.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// becomeReaper makes orphaned descendants children of this process.
func becomeReaper() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// DieWithParent makes the kernel kill the child when the thread that starts it dies.
func DieWithParent(sys *syscall.SysProcAttr) { sys.Pdeathsig = syscall.SIGKILL }

// groupRemains: a sub-reaper without children has no descendants.
func groupRemains(int) bool { return false }

// children lists this process's children.
func children() ([]int, error) {
	self := os.Getpid()
	return processes(func(p process) bool { return p.parent == self })
}

// sessionMembers lists the living processes of a session.
func sessionMembers(session int) ([]int, error) {
	return processes(func(p process) bool { return p.session == session && p.state != "Z" })
}

// process is the relevant part of /proc/PID/stat.
type process struct {
	state           string
	parent, session int
}

func processes(match func(process) bool) (pids []int, err error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if p, ok := parseStat(string(stat)); ok && match(p) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// parseStat reads "pid (name) state parent group session ...". The name may contain
// blanks and parentheses.
func parseStat(stat string) (p process, ok bool) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 {
		return p, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	session, err2 := strconv.Atoi(fields[3])
	return process{fields[0], parent, session}, err1 == nil && err2 == nil
}
