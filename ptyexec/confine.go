package ptyexec

import (
	"encoding/json"
	"errors"
	"syscall"
)

// Confinement limits what a child and its descendants may touch. The guard puts it
// on itself, so nothing below it can leave. It holds on Linux, with Landlock, and
// fails to start the child elsewhere.
type Confinement struct {
	Read  []string `json:"read,omitempty"`  // paths that may be read and run, with all below; missing ones are skipped
	Write []string `json:"write,omitempty"` // paths that may be written, too
	// Ports are the TCP ports that may be connected to; nil: every port. An empty
	// list allows none.
	Ports []uint16 `json:"ports"`
}

// ErrNotConfined is part of every error of a confinement that could not be put on.
var ErrNotConfined = errors.New("the sandbox cannot be set up")

// enclose confines the guard itself, and so everything that it starts.
func (s spec) enclose() error {
	var c *Confinement
	if err := json.Unmarshal([]byte(s.confine), &c); err != nil || c == nil {
		return err
	}
	return c.apply()
}

// errnoOf is what the guard can report of an error.
func errnoOf(err error) (errno syscall.Errno) {
	if !errors.As(err, &errno) {
		return syscall.ENOSYS
	}
	return errno
}

// Versions of Landlock.
const (
	// ConfineMin is the first with truncation: without it, a file that may not be
	// written can still be emptied.
	ConfineMin = 3
	ConfineTCP = 4 // the first that restricts TCP
)
