package wire

import (
	"strings"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
)

// keepCap is the largest buffer to keep for the next line, in bytes.
const keepCap = 1 << 20

// Lines splits its input into lines. How the bytes are split into writes does not
// matter. It is not safe for concurrent use.
type Lines struct {
	Max  int          // bytes; a longer line is skipped, not buffered
	Line func(string) // gets each line, without its newline
	Long func()       // called once for each line above Max

	partial  []byte
	skipping bool // inside a line above Max
}

// Write takes the next bytes. It never fails.
func (l *Lines) Write(p []byte) (int, error) {
	text := string(p) // one copy for all lines: a copy for each would be much garbage
	for text != "" {
		line, rest, whole := strings.Cut(text, "\n")
		if whole && len(l.partial) == 0 && !l.skipping && len(line) <= l.Max { // nearly always
			l.Line(line)
		} else if l.add(line); whole {
			l.Close()
		}
		text = rest
	}
	return len(p), nil
}

// Close ends a line without a newline.
func (l *Lines) Close() {
	if len(l.partial) > 0 {
		l.Line(string(l.partial))
	}
	l.skipping = false
	if l.partial = l.partial[:0]; cap(l.partial) > keepCap {
		l.partial = nil
	}
}

func (l *Lines) add(p string) {
	switch {
	case l.skipping:
	case len(l.partial)+len(p) > l.Max:
		l.skipping, l.partial = true, nil
		l.Long()
	default:
		l.partial = append(l.partial, p...)
	}
}

// Records finds JSON objects in the lines of a CLI: one on a line, or several in an array.
type Records struct {
	Record func(gjson.Result) bool // takes an object; false: it is not a record of this format
	Other  func(line string)       // takes any other line, in order
	Torn   func()                  // called for a part of a record
}

// Line takes the next line, without escape sequences.
func (r Records) Line(line string) {
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	value := gjson.Result{Type: gjson.JSON, Raw: line}
	switch last := line[len(line)-1]; {
	case line[0] == '{' && last == '}' && r.Record(value):
	case line[0] == '[' && last == ']' && r.array(value):
	case torn(line):
		r.Torn()
	default:
		r.Other(line)
	}
}

// torn reports whether a line is a part of a record, cut off by the end of the CLI
// or by a line of its other stream.
func torn(line string) bool {
	return strings.Contains(line, `":`) && strings.Count(line, "{") != strings.Count(line, "}")
}

func (r Records) array(value gjson.Result) (known bool) {
	for e := range Elements(value) {
		known = e.IsObject() && r.Record(e) || known
	}
	return known
}

// StripTerminal removes what a terminal adds to a line: escape sequences, the
// echo of a typed control key in front of it ("^C"), and everything that a
// carriage return overwrites.
func StripTerminal(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = cleanEnd(s)
	}
	for len(s) > 2 && s[0] == '^' && s[1] >= '@' && s[1] <= '_' && s[1] != '^' {
		s = s[2:]
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.TrimRight(s, "\r")
		s = s[strings.LastIndexByte(s, '\r')+1:]
	}
	return strings.TrimLeft(s, "\x00\a\b")
}

// cleanEnd returns what follows the last carriage return, without escape
// sequences. It skips ends that print nothing: a CLI shows the cursor again
// behind its last carriage return.
func cleanEnd(s string) string {
	for {
		i := strings.LastIndexByte(s, '\r')
		if text := termtext.Clean(s[i+1:]); text != "" || i < 0 {
			return text
		}
		s = s[:i]
	}
}
