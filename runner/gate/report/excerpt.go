package report

import (
	"fmt"
	"strings"
)

// Excerpt keeps the beginning and the end of an output of any size. Head and
// Tail are the bytes to keep of each; zero keeps none.
type Excerpt struct {
	Head, Tail int

	head, tail []byte
	lost       int
}

// Write adds to the output; it never fails.
func (e *Excerpt) Write(p []byte) (int, error) {
	n := len(p)
	if room := e.Head - len(e.head); room > 0 {
		fits := min(room, len(p))
		e.head = append(e.head, p[:fits]...)
		p = p[fits:]
	}
	e.tail = append(e.tail, p...)
	if len(e.tail) > 2*e.Tail {
		e.cut()
	}
	return n, nil
}

func (e *Excerpt) cut() {
	if over := len(e.tail) - e.Tail; over > 0 {
		e.lost += over
		e.tail = append(e.tail[:0], e.tail[over:]...)
	}
}

// WriteLine adds one line.
func (e *Excerpt) WriteLine(line string) {
	_, _ = e.Write([]byte(line))
	_, _ = e.Write([]byte{'\n'})
}

// String is what was kept, without the last line ends, and how much was not.
func (e *Excerpt) String() string {
	if e == nil {
		return ""
	}
	e.cut()
	text := string(e.head) + string(e.tail)
	if e.lost > 0 {
		text = fmt.Sprintf("%s\n... (%d bytes left out) ...\n%s", e.head, e.lost, e.tail)
	}
	return strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n")
}
