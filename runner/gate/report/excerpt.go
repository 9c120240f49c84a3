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
	lost       int // bytes between them
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

func (e *Excerpt) add(text string) { _, _ = e.Write([]byte(text)) }

// WriteLine adds one line.
func (e *Excerpt) WriteLine(line string) { e.add(line + "\n") }

// String returns the two parts, with the number of bytes left out between them.
// It keeps lines whole where that costs less than half of a part, and drops line
// ends at the end of the text. It is empty for nil.
func (e *Excerpt) String() string {
	if e == nil {
		return ""
	}
	e.cut()
	head, tail, lost := string(e.head), string(e.tail), e.lost
	text := head + tail
	if lost > 0 {
		if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
			head, lost = head[:i], lost+len(head)-i
		}
		if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
			tail, lost = tail[i+1:], lost+i+1
		}
		text = fmt.Sprintf("%s\n... (%d bytes left out) ...\n%s", head, lost, tail)
	}
	return strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n")
}
