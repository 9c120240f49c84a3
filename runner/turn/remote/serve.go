package remote

// This file carries out a turn in a local process of its own: the protocol of `ralph turn`.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ralph/runner/turn"
	"ralph/state"
)

// answer is the last line of a served turn.
type answer struct {
	Result *turn.Result `json:"result,omitempty"`
	Error  string       `json:"error,omitempty"` // ralph's own failure
}

// BadAssignmentError says in one line why an assignment cannot be carried out.
type BadAssignmentError struct{ Why string }

// Error implements error.
func (e *BadAssignmentError) Error() string { return e.Why }

// ServeTurn carries out one assignment for another process. It reads the Assignment
// as JSON, and then a line such as {"do": "skip"}; it writes each event as a line of JSON, numbered from 1,
// and {"result": ...} last, with "error" if ralph failed. When in ends, so does the agent: whoever asked for
// the turn is gone. An assignment that cannot be carried out is a
// *BadAssignmentError, and nothing is written.
func ServeTurn(ctx context.Context, w *turn.Worker, in io.Reader, out io.Writer) error {
	a, rest, err := read(in)
	if err != nil {
		return &BadAssignmentError{err.Error()}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go obey(NewReader(rest, MaxReply), cancel)
	enc := json.NewEncoder(out)
	var broken error
	var seq int64
	res, err := w.Run(ctx, a, func(e state.Event) {
		if seq++; broken == nil {
			e.Seq = seq
			if broken = enc.Encode(e); broken != nil {
				cancel(broken) // nobody listens any more
			}
		}
	})
	last := answer{Result: &res} // also after a failure: it says what is known so far
	if err != nil {
		last.Error = err.Error()
	}
	return errors.Join(err, broken, enc.Encode(last))
}

// read reads the Assignment, and returns what follows it. Another version may give its fields other types,
// so the version comes first.
func read(in io.Reader) (a turn.Assignment, rest io.Reader, err error) {
	dec := json.NewDecoder(in)
	var all json.RawMessage
	if err := dec.Decode(&all); err != nil {
		return a, nil, fmt.Errorf("read assignment: %w", err)
	}
	var of struct {
		V *int `json:"v"`
	}
	if json.Unmarshal(all, &of) != nil || of.V == nil {
		return a, nil, errors.New("read assignment: it has no version (v)")
	}
	if err := (turn.Assignment{V: *of.V}).Validate(); *of.V != turn.Version {
		return a, nil, err
	}
	if err := json.Unmarshal(all, &a); err != nil {
		return a, nil, fmt.Errorf("read assignment: %w", err)
	}
	return a, io.MultiReader(dec.Buffered(), in), a.Validate()
}
