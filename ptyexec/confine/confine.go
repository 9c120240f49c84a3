// Package confine limits what a process and its descendants may touch.
package confine

import (
	"encoding/json"
)

// Limits are limits that a thread puts on itself. They hold for everything that it starts. Limits of
// files and ports need Linux with Landlock; if there are none, Landlock is not used.
type Limits struct {
	// With this many processes and threads of the user, no new one starts. The kernel exempts root. 0: no limit.
	Processes uint64

	Read  []string // paths that may be read and run, with all below; missing ones are skipped
	Write []string // paths that may be written, too
	// Ports are the TCP ports that may be connected to; nil: every port. An empty
	// list allows none.
	Ports []uint16
}

// Versions of Landlock.
const (
	// Min is the first with truncation: without it, a file that may not be written
	// can still be emptied.
	Min = 3
	TCP = 4 // the first that restricts TCP
	// Scoped is the first that refuses signals and abstract sockets.
	Scoped = 6
)

// Encode returns the limits for Apply. Nil means no limits.
func (l *Limits) Encode() string {
	text, _ := json.Marshal(l) // it has only numbers and texts
	return string(text)
}

// Apply applies what Encode returned to this thread, which must be locked to its goroutine, and to
// all that it starts. The number of processes applies to the whole process. If it cannot apply
// everything, it returns an error.
func Apply(text string) error {
	var l Limits
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return err
	}
	if l.Processes > 0 {
		if err := limitProcesses(l.Processes); err != nil {
			return err
		}
	}
	if l.Read == nil && l.Write == nil && l.Ports == nil {
		return nil
	}
	return l.apply()
}
