package ptyexec

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfPath is the image of this program, even after its file was replaced.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// becomeReaper makes orphaned descendants children of this process.
func becomeReaper() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// EndWithParent makes the kernel send the signal to the child when the thread that starts it dies.
func EndWithParent(sys *syscall.SysProcAttr, with syscall.Signal) { sys.Pdeathsig = with }

// groupRemains: a sub-reaper without children has no descendants.
func groupRemains(int) bool { return false }

// children lists this process's children. One that has just started may be missing.
func children() ([]int, error) {
	var pids []int
	if _, err := os.Stat("/proc/thread-self/children"); errors.Is(err, fs.ErrNotExist) {
		self := os.Getpid()
		return processes(func(p process) bool { return p.parent == self })
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	for _, thread := range threads {
		// A thread that has ended meanwhile has passed on its children.
		list, _ := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		for _, field := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// sessionMembers lists the living processes of a session.
func sessionMembers(session int) ([]int, error) {
	return processes(func(p process) bool { return p.session == session && p.state != "Z" })
}

// process has what matters here of a line of /proc/PID/stat.
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

// parseStat reads "pid (name) state parent group session ...". The name may hold
// anything, even blanks and parentheses.
func parseStat(stat string) (p process, ok bool) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 {
		return p, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	session, err2 := strconv.Atoi(fields[3])
	return process{fields[0], parent, session}, err1 == nil && err2 == nil
}
