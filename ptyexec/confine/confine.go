// Package confine limits what a process and its descendants may touch.
package confine

import (
	"encoding/json"
)

// Limits are put on by a process on itself, so nothing below it can leave. Files and
// ports need Linux with Landlock; without any of them, Landlock is not used.
type Limits struct {
	// Processes is how many processes and threads the user may have for this one to
	// start another. The kernel exempts root. 0: no limit.
	Processes uint64 `json:"processes,omitempty"`

	Read  []string `json:"read,omitempty"`  // paths that may be read and run, with all below; missing ones are skipped
	Write []string `json:"write,omitempty"` // paths that may be written, too
	// Ports are the TCP ports that may be connected to; nil: every port. An empty
	// list allows none.
	Ports []uint16 `json:"ports"`
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

// Encode returns the limits for Apply; those of nil are none.
func (l *Limits) Encode() (string, error) {
	text, err := json.Marshal(l)
	return string(text), err
}

// Apply puts what Encode returned on this process. It never does less than it was
// asked for.
func Apply(text string) error {
	var l *Limits
	if err := json.Unmarshal([]byte(text), &l); err != nil || l == nil {
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
