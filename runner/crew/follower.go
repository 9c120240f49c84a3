package crew

// This file follows the workers of a fleet through ralph-hub.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/carrier"
	"ralph/state/option"
)

const (
	answers = 30 * time.Second // how long the run waits for the fleet when it starts
	pause   = time.Second      // between two tries to follow the fleet
)

// fleetReport is what ralph-hub workers says about the fleet.
type fleetReport struct {
	Workers int            `json:"workers"`
	Busy    int            `json:"busy"`
	Slots   map[string]int `json:"slots"` // of workers, by their labels with commas between
}

// With counts the slots of workers that have all labels of the lists.
func (r fleetReport) With(labels ...string) (n int) {
	need := option.SplitLabels(labels...)
	for has, count := range r.Slots {
		if carrier.Has(has, need) {
			n += count
		}
	}
	return n
}

// fleetOptions say how to follow a fleet.
type fleetOptions struct {
	Way carrier.Way // ralph-hub, and which fleet
	Env []string
	Log hclog.Logger
	// Do runs a function on the goroutine that calls Report, or not at all once the context has ended.
	Do func(context.Context, func())
}

// fleetFollower knows the latest report. nil is that of a run without a fleet.
type fleetFollower struct {
	o      fleetOptions
	report fleetReport
	end    context.CancelFunc
	ended  chan struct{} // closed when nobody follows any more
}

// Report is the latest one; zero: there is none.
func (f *fleetFollower) Report() fleetReport {
	if f == nil {
		return fleetReport{}
	}
	return f.report
}

// joinFleet starts ralph-hub, which reports the workers of the fleet, and is the server if there is no other. It waits for
// the first report.
func joinFleet(ctx context.Context, o fleetOptions) (*fleetFollower, error) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	f := &fleetFollower{o: o, end: end, ended: make(chan struct{})}
	first := make(chan error)
	go func() {
		defer close(f.ended)
		for tell := f.beforeLoop(first); ctx.Err() == nil; tell = f.inLoop {
			tell(ctx, fleetReport{}, f.follow(ctx, tell))
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
	var err error
	select {
	case err = <-first:
	case <-time.After(answers):
		err = errors.New("it does not answer")
	}
	if err != nil {
		f.Leave()
		return nil, err
	}
	return f, nil
}

// teller takes a fleetReport, or why there is none.
type teller func(ctx context.Context, r fleetReport, err error)

// beforeLoop takes the first Report, for which the run waits, and leaves the others to the loop.
func (f *fleetFollower) beforeLoop(first chan<- error) teller {
	var once sync.Once
	return func(ctx context.Context, r fleetReport, err error) {
		tell := f.inLoop
		once.Do(func() {
			tell = func(ctx context.Context, _ fleetReport, err error) {
				f.report = r // nobody else is at work yet
				select {
				case first <- err:
				case <-ctx.Done():
				}
			}
		})
		tell(ctx, r, err)
	}
}

func (f *fleetFollower) inLoop(ctx context.Context, r fleetReport, err error) {
	if err != nil {
		f.o.Log.Warn("the fleet is out of reach", "error", err)
	}
	f.o.Do(ctx, func() { f.report = r })
}

// follow passes on the reports of ralph-hub until ralph-hub ends, and returns why it did.
func (f *fleetFollower) follow(ctx context.Context, tell teller) error {
	in, held := io.Pipe() // ralph-hub ends with it
	defer held.Close()
	var text []byte
	why := "ralph-hub has ended"
	args := append([]string{f.o.Way.Hub, "workers", "--watch", "--serve"}, f.o.Way.Reach()...)
	_, err := ptyexec.Run(ctx, ptyexec.Command{Args: args, Env: f.o.Env, Stdin: in, Pipe: true}, func(p []byte) bool {
		text = append(text, p...)
		for {
			line, rest, whole := bytes.Cut(text, []byte("\n"))
			if !whole {
				return false
			}
			text = rest
			var r fleetReport
			if err := json.Unmarshal(line, &r); err != nil {
				why = strings.TrimPrefix(termtext.Line(string(line)), "ralph-hub: ")
				continue
			}
			tell(ctx, r, nil)
		}
	})
	return cmp.Or(err, errors.New(why))
}

// Leave ends ralph-hub.
func (f *fleetFollower) Leave() {
	if f != nil {
		f.end()
		<-f.ended
	}
}
