package edits

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// activity changes when a process below the observed ones came and went: it contains the page
// faults of their former children. For checks, it changes when one of them has run at all.
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

// maxThreads limits the cost of a look at checks.
const maxThreads = 1000

// idle reports whether all processes below the guards of a process wait. The guards are ralph's own.
func idle(self int) (activity, bool) {
	guards, ok := children(strconv.Itoa(self))
	_, faults, known := stat(strconv.Itoa(self))
	if !ok || !known {
		return "", false
	}
	k, threads := activity(faults), 0
	var pids []string
	for _, guard := range guards {
		below, ok1 := children(guard)
		_, faults, ok2 := stat(guard)
		if !ok1 || !ok2 {
			return "", false
		}
		k, pids = k+activity(" "+guard+":"+faults), append(pids, below...)
	}
	for len(pids) > 0 {
		pid := pids[0]
		below, ok := children(pid)
		all, _ := filepath.Glob("/proc/" + pid + "/task/*")
		if threads += len(all); !ok || threads > maxThreads {
			return "", false
		}
		pids = append(pids[1:], below...)
		for _, thread := range all {
			ran, waits := waiting(thread)
			if !waits {
				return "", false
			}
			k += activity(" " + filepath.Base(thread) + ":" + ran)
		}
	}
	return k, true
}

// waiting reports whether a thread waits, and how long it has ever run.
func waiting(thread string) (ran string, ok bool) {
	status, err1 := os.ReadFile(thread + "/stat")     // file: of the kernel
	times, err2 := os.ReadFile(thread + "/schedstat") // file: of the kernel
	_, rest, _ := strings.Cut(string(status[strings.LastIndexByte(string(status), ')')+1:]), " ")
	return string(times), err1 == nil && err2 == nil && !strings.HasPrefix(rest, "R")
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
