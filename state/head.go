package state

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
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
		line = append(slices.Clip(line[:end]), '}')
	}
	if json.Unmarshal(line, &h) != nil {
		return Head{}
	}
	return h
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
