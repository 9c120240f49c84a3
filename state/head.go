package state

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// Head is what a line of events.jsonl has before its payload. The zero value of a field: the event has none.
type Head struct {
	Kind      Kind
	Run       string
	Task      string
	Iteration int
	time      string
}

// HeadOf reads the head of a line without decoding the payload, which is most of it. It reads the fields
// up to the first one that is an object or a list: ralph writes the payload last. The line need not
// be JSON; what cannot be read stays zero.
func HeadOf(line []byte) (h Head) {
	h.read(line, "")
	return h
}

// KindOf reads only the kind of a line.
func KindOf(line []byte) Kind {
	var h Head
	h.read(line, "kind")
	return h.Kind
}

// At is the time of the event; zero: the line has none.
func (h Head) At() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, h.time)
	return t
}

// read reads fields up to the one that is named last.
func (h *Head) read(line []byte, last string) {
	for rest, more := after(line, '{'); more; rest, more = after(rest, ',') {
		key, value, _ := quoted(rest)
		value, ok := after(value, ':')
		if !ok {
			return
		}
		var text []byte
		if text, rest, ok = quoted(value); !ok {
			text, rest = unquoted(value)
		}
		if len(text) == 0 && !ok {
			return
		}
		switch string(key) {
		case "kind":
			h.Kind = Kind(unescaped(text))
		case "run":
			h.Run = unescaped(text)
		case "task":
			h.Task = unescaped(text)
		case "time":
			h.time = unescaped(text)
		case "iteration":
			h.Iteration, _ = strconv.Atoi(string(text))
		}
		if string(key) == last {
			return
		}
	}
}

// after returns what follows a sign and the blanks around it.
func after(text []byte, sign byte) (rest []byte, ok bool) {
	text = trimmed(text)
	if len(text) == 0 || text[0] != sign {
		return nil, false
	}
	return trimmed(text[1:]), true
}

func trimmed(text []byte) []byte {
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	return text
}

// quoted returns the string at the beginning, as it is written, and what follows.
func quoted(text []byte) (inside, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, text, false
	}
	for at := 1; ; at++ {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			return nil, text, false
		}
		at += i
		if before := text[1:at]; (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 {
			return before, text[at+1:], true
		}
	}
}

// unquoted returns the number or word at the beginning; none: the payload.
func unquoted(text []byte) (word, rest []byte) {
	end := 0
	for end < len(text) &&
		(text[end] >= 'a' && text[end] <= 'z' || text[end] >= '+' && text[end] <= '9' && text[end] != ',') {
		end++
	}
	return text[:end], text[end:]
}

func unescaped(text []byte) string {
	s := string(text)
	if bytes.IndexByte(text, '\\') >= 0 {
		_ = json.Unmarshal([]byte(`"`+s+`"`), &s)
	}
	return s
}
