//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// marked lists the living processes that carry the world's mark, and those of
// the groups that the latest calls of the agent were leaders of.
func (w *world) marked() (left []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err == nil && bytes.Contains(env, []byte(w.mark+"\x00")) {
			left = append(left, describe(filepath.Base(filepath.Dir(f))))
		}
	}
	calls := w.entries("call")
	for _, e := range calls[max(w.gone, len(calls)-20):] { // numbers of older ones may be somebody else's by now
		var pid int
		if _, err := fmt.Sscan(e.pid, &pid); err == nil && syscall.Kill(-pid, 0) == nil {
			left = append(left, "group "+describe(e.pid))
		}
	}
	if len(left) == 0 {
		w.gone = len(calls)
	}
	return left
}

func describe(pid string) string {
	line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
	return pid + " " + strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}

// goneWithin fails the test when something of the world lives on, ends that,
// and returns how long it took to be gone.
func (w *world) goneWithin(bound time.Duration) time.Duration {
	w.t.Helper()
	began := time.Now()
	for {
		left := w.marked()
		took := time.Since(began)
		if len(left) == 0 {
			return took
		}
		if took > bound {
			w.t.Errorf("left after %s: %q", took.Round(time.Millisecond), left)
			for _, l := range left {
				var pid int
				if _, err := fmt.Sscan(l, &pid); err == nil { // it has the mark
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			return took
		}
		time.Sleep(5 * time.Millisecond)
	}
}
