package state

import (
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// EventVersion is the schema version that ralph writes.
const EventVersion = 2

// Event is one line of events.jsonl and of `ralph --output json`:
//
//	{"v":2,"seq":7,"time":"...","kind":"tool","run":"...","iteration":3,"data":{"name":"Bash","arg":"make"}}
//
// Readers skip unknown kinds and fields, so that an older reader can follow a newer
// run.
type Event struct {
	V    int       `json:"v"`
	Seq  int64     `json:"seq"` // 1 for the first event of a run, then without gaps
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"` // of Data
	Origin
	// Data is the payload. It is nil only for a kind that this version does not know.
	Data Payload `json:"data,omitempty"`
}

// Origin says where an event comes from. A zero field means that it does not apply:
// run_start has no iteration, for example.
type Origin struct {
	Run       string `json:"run,omitempty"`
	Host      string `json:"host,omitempty"`      // machine that runs the turn
	Iteration int    `json:"iteration,omitempty"` // from 1
	Task      string `json:"task,omitempty"`      // id in the plan
	Role      string `json:"role,omitempty"`      // of the agent: "developer"
	Attempt   int    `json:"attempt,omitempty"`   // at this task, from 1
}

// NewEvent makes an event of a payload. The caller sets Seq.
func NewEvent(from Origin, at time.Time, p Payload) Event {
	return Event{V: EventVersion, Time: at, Kind: p.kind(), Origin: from, Data: p}
}

// UnmarshalJSON reads an event. The payload of an unknown kind stays nil.
func (e *Event) UnmarshalJSON(line []byte) error {
	type header Event // has no UnmarshalJSON, and its Data is hidden below
	*e = Event{}
	wire := struct {
		*header
		Data json.RawMessage `json:"data"`
	}{header: (*header)(e)}
	err := json.Unmarshal(line, &wire)
	if err == nil {
		e.Data, err = decodePayload(e.Kind, wire.Data)
	}
	return err
}

// EventFilter selects the kinds of events to read. The others, which are most of a
// file, are skipped without decoding. Nil reads every kind.
type EventFilter func(Kind) bool

// Decode reads one line. It returns false for a line that is not an event, and for a
// kind that the filter leaves out.
func (wanted EventFilter) Decode(line []byte) (Event, bool) {
	// gjson stops at the kind, which comes before the payload.
	if wanted != nil && !wanted(Kind(gjson.GetBytes(line, "kind").String())) {
		return Event{}, false
	}
	var e Event
	if json.Unmarshal(line, &e) != nil || e.Kind == "" {
		return Event{}, false
	}
	return e, true
}
