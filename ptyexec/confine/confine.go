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

// encoded are limits as JSON, which would change a path that is not UTF-8.
type encoded struct {
	Processes   uint64
	Read, Write [][]byte
	Ports       []uint16
}

// Encode returns the limits for Apply. Nil means no limits.
func (l *Limits) Encode() string {
	if l == nil {
		l = &Limits{}
	}
	text, _ := json.Marshal(encoded{l.Processes, Convert[[]byte](l.Read), Convert[[]byte](l.Write), l.Ports}) // it cannot fail
	return string(text)
}

func decode(text string) (*Limits, error) {
	var e encoded
	err := json.Unmarshal([]byte(text), &e)
	return &Limits{e.Processes, Convert[string](e.Read), Convert[string](e.Write), e.Ports}, err
}

// Convert converts texts. It keeps nil apart from no texts: nil paths mean no limits.
func Convert[To, From ~string | ~[]byte](from []From) (to []To) {
	if from != nil {
		to = make([]To, len(from))
	}
	for n := range from {
		to[n] = To(from[n])
	}
	return to
}

// Apply applies what Encode returned to this thread, which must be locked to its goroutine, and to
// all that it starts. The number of processes applies to the whole process. If it cannot apply
// everything, it returns an error.
func Apply(text string) error {
	l, err := decode(text)
	if err != nil {
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
