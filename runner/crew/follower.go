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
)

const (
	answers = 30 * time.Second // how long the run waits for the fleet when it starts
	pause   = time.Second      // between two tries to follow the fleet
)

// fleetReport is what ralph-hub workers says about the fleet.
type fleetReport struct {
	Workers int `json:"workers"`
	Busy    int `json:"busy"`
	Slots   int `json:"slots"` // of all workers
}

// fleetFollower knows the latest report. nil is that of a run without a fleet.
type fleetFollower struct {
	changed func() // called after each report
	end     context.CancelFunc
	ended   chan struct{} // closed when nobody follows any more

	mu     sync.Mutex
	report fleetReport
}

// Report is the latest one; zero: there is none.
func (f *fleetFollower) Report() fleetReport {
	if f == nil {
		return fleetReport{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report
}

// joinFleet starts ralph-hub, which reports the workers of the fleet, and is the server if there is no other. It waits for
// the first report.
func joinFleet(ctx context.Context, way carrier.Way, env []string, log hclog.Logger, changed func()) (*fleetFollower, error) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	f := &fleetFollower{changed: changed, end: end, ended: make(chan struct{})}
	first := make(chan error, 1)
	heard := func(r fleetReport, err error) {
		f.mu.Lock()
		f.report = r
		f.mu.Unlock()
		f.changed()
		select {
		case first <- err:
		default: // nobody waits any more
		}
	}
	go func() {
		defer close(f.ended)
		for ctx.Err() == nil {
			err := follow(ctx, way, env, func(r fleetReport) { heard(r, nil) })
			if ctx.Err() == nil {
				log.Warn("the fleet is out of reach", "error", err)
			}
			heard(fleetReport{}, err)
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

// follow passes on the reports of ralph-hub until ralph-hub ends, and returns why it did.
func follow(ctx context.Context, way carrier.Way, env []string, heard func(fleetReport)) error {
	in, held := io.Pipe() // ralph-hub ends with it
	defer held.Close()
	var text []byte
	why := "ralph-hub has ended"
	args := append([]string{way.Hub, "workers", "--watch", "--serve"}, way.Reach()...)
	_, err := ptyexec.Run(ctx, ptyexec.Command{Args: args, Env: env, Stdin: in, Pipe: true}, func(p []byte) bool {
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
			heard(r)
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
