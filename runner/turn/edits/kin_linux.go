package edits

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// kin changes when a child of the agent, or one that it has left to its guard, came and
// went: the page faults of children that were waited for.
type kin struct{ agents, guards string }

// kinOf reports whether the agent is the only process of its call. What it leaves behind
// becomes a child of its guard, so the guard's are looked at second.
func kinOf(pid int) (kin, bool) {
	ofAgent, ok1 := children(strconv.Itoa(pid))
	parent, agents, ok2 := stat(strconv.Itoa(pid))
	ofGuard, ok3 := children(parent)
	_, guards, ok4 := stat(parent)
	alone := len(ofAgent) == 0 && len(ofGuard) == 1 && ofGuard[0] == strconv.Itoa(pid)
	return kin{agents, guards}, ok1 && ok2 && ok3 && ok4 && alone
}

// children lists the children of a process; false: nobody knows.
func children(pid string) (pids []string, ok bool) {
	threads, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
	for _, thread := range threads {
		list, err := os.ReadFile(thread)
		if err != nil {
			return nil, false
		}
		pids = append(pids, strings.Fields(string(list))...)
	}
	return pids, len(threads) > 0
}

// stat reads the parent of a process, and the page faults of its former children.
func stat(pid string) (parent, faults string, ok bool) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	f := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if err != nil || len(f) < 11 {
		return "", "", false
	}
	return f[1], f[8] + " " + f[10], true
}
