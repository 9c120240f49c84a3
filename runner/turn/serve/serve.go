// Package serve carries out a turn for another process: the protocol behind
// `ralph turn`.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ralph/ptyexec"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// Control is a line that may follow the Assignment while its turn runs.
type Control struct {
	Do   string `json:"do"` // skip, abort or resize
	Rows uint16 `json:"rows,omitempty"`
	Cols uint16 `json:"cols,omitempty"`
}

// answer is the last line of a served turn.
type answer struct {
	Result *turn.Result `json:"result,omitempty"`
	Error  string       `json:"error,omitempty"` // ralph's own failure
}

// BadAssignmentError says in one line why an assignment cannot be carried out.
type BadAssignmentError struct{ Why string }

// Error implements error.
func (e *BadAssignmentError) Error() string { return e.Why }

// Turn carries out one assignment for another process. It reads the Assignment
// as JSON, and then a Control a line; it writes each event as a line of JSON,
// and {"result": ...} last, with "error" if ralph failed. When in ends, so does the agent: whoever asked for
// the turn is gone. An assignment that cannot be carried out is a
// *BadAssignmentError, and nothing is written.
func Turn(ctx context.Context, w *turn.Worker, in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(in)
	var a turn.Assignment
	if err := lines.Decode(&a); err != nil {
		return &BadAssignmentError{fmt.Sprintf("read assignment: %v", err)}
	}
	if err := a.Validate(); err != nil {
		return &BadAssignmentError{err.Error()}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sizes := make(chan ptyexec.Size, 1)
	w.Resize = sizes
	go control(lines, cancel, sizes)
	enc := json.NewEncoder(out)
	var broken error
	res, err := w.Run(ctx, a, func(e state.Event) {
		if broken == nil {
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

// control follows the lines behind the assignment until they end.
func control(lines *json.Decoder, cancel context.CancelCauseFunc, sizes chan ptyexec.Size) {
	for {
		var c Control
		if lines.Decode(&c) != nil {
			cancel(&stop.Stopped{By: state.RequestAbort})
			return
		}
		switch c.Do {
		case "skip":
			cancel(&stop.Stopped{By: state.RequestSkip})
		case "abort":
			cancel(&stop.Stopped{By: state.RequestAbort})
		case "resize":
			ptyexec.Size{Rows: c.Rows, Cols: c.Cols}.Offer(sizes)
		}
	}
}
