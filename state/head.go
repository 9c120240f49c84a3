package state

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Head is what a line of events.jsonl has before its payload. The zero value of a field: the event has none.
type Head struct {
	Kind      Kind      `json:"kind"`
	Time      time.Time `json:"time"`
	Run       string    `json:"run"`
	Task      string    `json:"task"`
	Iteration int       `json:"iteration"`
}

// HeadOf reads the head of a line without decoding the payload, which comes last and is most of it. The rest of the
// line may be torn. What is no event has no head.
func HeadOf(line []byte) (h Head) {
	if end := bytes.Index(line, []byte(`,"data":`)); end >= 0 { // not in a text: there, quotes are escaped
		line = line[:end]
		if h.plain(line) {
			return h
		}
		line = append(slices.Clip(line), '}')
	}
	if h = (Head{}); json.Unmarshal(line, &h) != nil {
		return Head{}
	}
	return h
}

// plain reads a head as ralph writes nearly all of them, in a tenth of the time: flat, without blanks and escapes.
func (h *Head) plain(head []byte) bool {
	if len(head) < 2 || head[1] != '"' || bytes.IndexByte(head[1:], '{') >= 0 || bytes.IndexByte(head, '\\') >= 0 || !utf8.Valid(head) {
		return false
	}
	at, isTime := member(head, `,"time":"`)
	number, counts := member(head, `,"iteration":`)
	kind, known := member(head, `,"kind":"`)
	run, _ := member(head, `,"run":"`)
	task, _ := member(head, `,"task":"`)
	h.Kind, h.Run, h.Task = Kind(kind), string(run), string(task)
	var err error
	if counts {
		h.Iteration, err = strconv.Atoi(string(number))
	}
	return isTime && known && err == nil && h.Time.UnmarshalText(at) == nil
}

// kindIn is the kind of a line, by which a reader skips most of them. It reads the beginning as ralph writes it.
func kindIn(line []byte) Kind {
	var value []byte
	rest := line
	for _, begin := range [...]string{`{"v":2,"seq":`, `time":"`, `,"kind":"`} {
		after, known := bytes.CutPrefix(rest, []byte(begin))
		if value, rest, _ = bytes.Cut(after, []byte(`"`)); !known {
			return HeadOf(line).Kind
		}
	}
	return Kind(value)
}

// member is what follows the beginning of a member: a text up to its quote, or a number.
func member(line []byte, begin string) (value []byte, found bool) {
	at := bytes.Index(line, []byte(begin))
	if at < 0 {
		return nil, false
	}
	value = line[at+len(begin):]
	end := len(value)
	if begin[len(begin)-1] == '"' {
		if end = bytes.IndexByte(value, '"'); end < 0 {
			return nil, false
		}
	} else if next := bytes.IndexByte(value, ','); next >= 0 {
		end = next
	}
	return value[:end], true
}
