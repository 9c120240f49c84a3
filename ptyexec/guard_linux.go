package ptyexec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
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
		list, _ := os.ReadFile("/proc/self/task/" + thread.Name() + "/children") // file: of the kernel
		for _, field := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// process has what matters here of a line of /proc/PID/stat.
type process struct {
	state  string
	parent int
}

func processes(match func(process) bool) ([]int, error) {
	all, err := pids()
	return slices.DeleteFunc(all, func(pid int) bool {
		p, err := stat(pid)
		return err != nil || !match(p)
	}), err
}

// pids lists all processes in the order of /proc: by number.
func pids() (all []int, err error) {
	proc, err := os.Open("/proc") // file: of the kernel
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all, err
}

// stat returns what /proc tells about a process.
func stat(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // file: of the kernel
	if err != nil {
		return process{}, err
	}
	p, ok := parseStat(string(text))
	if !ok {
		return p, fmt.Errorf("unusable: %q", text)
	}
	return p, nil
}

// parseStat reads "pid (name) state parent ...". The name may hold
// anything, even blanks and parentheses.
func parseStat(stat string) (p process, ok bool) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return p, false
	}
	parent, err := strconv.Atoi(fields[1])
	return process{fields[0], parent}, err == nil
}
