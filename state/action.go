package state

// Action is what a run does next.
type Action string

// The actions.
const (
	ActionContinue Action = "continue" // next iteration
	ActionRetry    Action = "retry"    // the same task again, with feedback
	ActionWait     Action = "wait"     // then continue
	ActionStop     Action = "stop"     // end the run
)

// What became of a task, for TaskChange. An edit of the plan by a person may also move it to another state of
// its format.
const (
	TaskNew      = "new"
	TaskChanged  = "changed" // its text, or something else than its state
	TaskOpen     = "open"    // again
	TaskActive   = "active"
	TaskInReview = "in review"
	TaskBlocked  = "blocked"
	TaskDone     = "done"
	TaskSkipped  = "skipped"
	TaskPutAside = "put aside"
)
