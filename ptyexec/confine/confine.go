// Package confine limits what a process and its descendants may touch.
package confine

import (
	"errors"
	"strconv"
	"strings"
)

// Limits are limits that a thread puts on itself. They hold for everything that it starts. Limits of
// files and ports need Linux with Landlock; if there are none, Landlock is not used.
type Limits struct {
	// Processes is how many processes and threads the user may have for this one to
	// start another. The kernel exempts root. 0: no limit.
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

// The first byte of each field of the encoding. The encoding is not JSON, because the guard would
// need more time to decode that than the kernel needs to apply the limits.
const (
	fieldProcesses = 'n'
	fieldRead      = 'r'
	fieldWrite     = 'w'
	fieldPorts     = 't' // there is a list of them
	fieldPort      = 'p'
	fieldEnd       = "\x00" // no path has it
)

// Encode returns the limits for Apply. Nil means no limits.
func (l *Limits) Encode() string {
	if l == nil {
		return ""
	}
	var b strings.Builder
	field := func(kind byte, text string) { b.WriteString(string(kind) + text + fieldEnd) }
	field(fieldProcesses, strconv.FormatUint(l.Processes, 10))
	for _, path := range l.Read {
		field(fieldRead, path)
	}
	for _, path := range l.Write {
		field(fieldWrite, path)
	}
	if l.Ports != nil {
		field(fieldPorts, "")
	}
	for _, port := range l.Ports {
		field(fieldPort, strconv.Itoa(int(port)))
	}
	return b.String()
}

var errTorn = errors.New("torn limits")

func decode(text string) (l Limits, err error) {
	for text != "" && err == nil {
		field, rest, ok := strings.Cut(text, fieldEnd)
		if !ok || field == "" {
			return l, errTorn
		}
		switch value := field[1:]; field[0] {
		case fieldProcesses:
			l.Processes, err = strconv.ParseUint(value, 10, 64)
		case fieldRead:
			l.Read = append(l.Read, value)
		case fieldWrite:
			l.Write = append(l.Write, value)
		case fieldPorts:
			l.Ports = []uint16{}
		case fieldPort:
			var port uint64
			port, err = strconv.ParseUint(value, 10, 16)
			l.Ports = append(l.Ports, uint16(port))
		default:
			err = errTorn
		}
		text = rest
	}
	return l, err
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
