package state

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// EventVersion is the schema version that ralph writes.
const EventVersion = 2

// Event is one line of events.jsonl and of `ralph --output json`:
//
//	{"v":2,"seq":7,"time":"...","kind":"tool","run":"...","iteration":3,"data":{"name":"Bash","arg":"make"}}
//
// Readers skip kinds and fields that they do not know, so that an older reader
// can follow a newer run.
type Event struct {
	V    int       `json:"v"`
	Seq  int64     `json:"seq"` // 1 for the first event of a run, then without gaps
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"` // of Data
	Origin
	// Data is the payload of the kind. It is nil only for a kind that this version
	// does not know.
	Data Payload `json:"data,omitempty"`
}

// Origin says where an event comes from. The empty value of a field means that
// the event does not belong to one: run_start has no iteration, for example.
type Origin struct {
	Run       string `json:"run,omitempty"`
	Host      string `json:"host,omitempty"`      // machine that the turn works on
	Iteration int    `json:"iteration,omitempty"` // from 1
	Task      string `json:"task,omitempty"`      // id in the plan
	Role      string `json:"role,omitempty"`      // who was asked: "developer"
	Reviews   bool   `json:"reviews,omitempty"`   // the role looks at the work of another
	Attempt   int    `json:"attempt,omitempty"`   // at this task, from 1
}

// NewEvent stamps a payload. The caller numbers the event.
func NewEvent(from Origin, at time.Time, p Payload) Event {
	return Event{V: EventVersion, Time: at, Kind: kindOf()[reflect.TypeOf(p)], Origin: from, Data: p}
}

// UnmarshalJSON reads an event of this version or a later one. The payload of an
// unknown kind stays nil.
func (e *Event) UnmarshalJSON(line []byte) error {
	type plain Event // without this method
	var wire struct {
		plain
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(line, &wire); err != nil {
		return err
	}
	if wire.V < EventVersion {
		return fmt.Errorf("event has version %d; this ralph reads %d and later", wire.V, EventVersion)
	}
	*e = Event(wire.plain)
	t, known := kindTypes()[e.Kind]
	if !known {
		return nil
	}
	if len(wire.Data) == 0 {
		wire.Data = []byte("{}")
	}
	p := reflect.New(t)
	if err := json.Unmarshal(wire.Data, p.Interface()); err != nil {
		return fmt.Errorf("decode event %q: %w", e.Kind, err)
	}
	e.Data = p.Elem().Interface()
	return nil
}

// EventFilter reads only the events of some kinds and skips the payloads of all
// others, which are most of a file. Nil reads every kind.
type EventFilter func(Kind) bool

// Decode reads one line. It returns false for a line that is not an event, or
// whose kind the filter leaves out.
func (wanted EventFilter) Decode(line []byte) (Event, bool) {
	if wanted != nil && !wanted(kindIn(line)) {
		return Event{}, false
	}
	var e Event
	if e.UnmarshalJSON(line) != nil || e.Kind == "" {
		return Event{}, false
	}
	return e, true
}
