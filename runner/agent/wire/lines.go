package wire

import "strings"

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
