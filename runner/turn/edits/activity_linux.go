package edits

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// activity changes when a process below the observed ones came and went: it contains the page
// faults of their former children.
type activity string

// activityOf reports whether the agent is the only process of its call. A process that it leaves behind
// becomes a child of its guard, or of the first program in its sandbox, so activityOf looks from
// the agent upwards.
func activityOf(leader int, p Place) (activity, bool) {
	chain := []string{strconv.Itoa(leader)}
	for range p.Below {
		next, ok := children(chain[len(chain)-1])
		if !ok || len(next) != 1 {
			return "", false
		}
		chain = append(chain, next[0])
	}
	parent, _, ok := stat(chain[0])
	if !ok {
		return "", false
	}
	chain = append([]string{parent}, chain...)
	var k activity
	for i := len(chain) - 1; i >= 0; i-- {
		below, ok1 := children(chain[i])
		_, faults, ok2 := stat(chain[i])
		last := i == len(chain)-1
		if !ok1 || !ok2 || last && len(below) > 0 || !last && (len(below) != 1 || below[0] != chain[i+1]) {
			return "", false
		}
		k += activity(faults + ",")
	}
	return k, true
}

// children lists the children of a process; false: not known.
func children(pid string) (pids []string, ok bool) {
	threads, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
	for _, thread := range threads {
		list, err := os.ReadFile(thread) // file: of the kernel
		if err != nil {
			return nil, false
		}
		pids = append(pids, strings.Fields(string(list))...)
	}
	return pids, len(threads) > 0
}

// stat reads the parent of a process, and the page faults of its former children.
func stat(pid string) (parent, faults string, ok bool) {
	data, err := os.ReadFile("/proc/" + pid + "/stat") // file: of the kernel
	f := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if err != nil || len(f) < 11 {
		return "", "", false
	}
	return f[1], f[8] + " " + f[10], true
}
