package crew

import (
	"context"
	"time"

	"ralph/runner/carrier"
	"ralph/runner/ledger"
	"ralph/runner/reviewers"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Job is one thing to do for a task: a turn of its developer, or a phase of its review.
type Job struct {
	Task   task.Task
	Record *ledger.Record   // of the task
	Review *reviewers.Phase // nil: its developer works on it
	Origin state.Origin     // of its events
	Since  time.Time

	Tool string // that the agent called last
	Host string // the machine that the turn is on, as its events say
	Skip bool   // a person has skipped the task

	Ctx        context.Context // ends with the job
	Worker     *turn.Worker    // that carries out the job; nil: it ended before it got one
	Assignment turn.Assignment // its Dir is the project's folder in the job's workspace

	slot    *slots.Slot     // nil in the checkout
	way     carrier.Carrier // to the machine of its turn
	away    bool            // it is another machine
	marked  bool            // see slots.Slot.Mark
	queued  bool            // its work waits for the merge queue
	message string
	cancel  context.CancelCauseFunc
	work    slots.Work
	landing chan landing
	// unchecked is true when no turn has checked the work as it is.
	unchecked bool
}
