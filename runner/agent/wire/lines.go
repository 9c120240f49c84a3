package wire

import "bytes"

// keepCap is the largest buffer to keep for the next line, in bytes.
const keepCap = 1 << 20

// Lines splits its input into lines. How the bytes are split into writes does not
// matter. It is not safe for concurrent use.
type Lines struct {
	Max  int          // bytes; a longer line is skipped, not buffered
	Line func([]byte) // gets each line, without its newline; valid during the call
	Long func()       // called once for each line above Max

	partial  []byte
	skipping bool // inside a line above Max
}

// Write takes the next bytes. It never fails.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.add(p)
			break
		}
		if len(l.partial) == 0 && !l.skipping && end <= l.Max { // nearly always
			l.Line(p[:end])
		} else {
			l.add(p[:end])
			l.Close()
		}
		p = p[end+1:]
	}
	return n, nil
}

// Close ends a line without a newline.
func (l *Lines) Close() {
	if len(l.partial) > 0 {
		l.Line(l.partial)
	}
	l.skipping = false
	if l.partial = l.partial[:0]; cap(l.partial) > keepCap {
		l.partial = nil
	}
}

func (l *Lines) add(p []byte) {
	switch {
	case l.skipping:
	case len(l.partial)+len(p) > l.Max:
		l.skipping, l.partial = true, nil
		l.Long()
	default:
		l.partial = append(l.partial, p...)
	}
}
