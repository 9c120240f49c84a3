package state

// RunEnd is how a run ended.
type RunEnd struct {
	Decision
	Exit    int     `json:"exit"` // ralph's exit code, also when it is 0
	Seconds float64 `json:"seconds"`
	Usage   Usage   `json:"usage"`
	Next    string  `json:"next,omitempty"` // what a person types or does next
	// Status is the word for it, as in status.json; empty: none of the figures below are known.
	Status     string `json:"status,omitempty"`
	Done       int    `json:"done"` // tasks of the plan
	Total      int    `json:"total"`
	Iterations int    `json:"iterations"` // that count
	// NotBegun are the open tasks that nobody has worked on; nil: that is not known.
	NotBegun *NotBegun `json:"not_begun,omitempty"`
	// Ticked are the ids of tasks that agents tried and that are done, but not by the work of their own turns.
	Ticked []string `json:"ticked,omitempty"`
	// Proven and Unproven are as in Status.
	Proven   bool   `json:"proven"`
	Unproven string `json:"unproven,omitempty"`
}

// NotBegun are tasks that nobody has worked on.
type NotBegun struct {
	Count int        `json:"count"`
	First []TaskName `json:"first,omitempty"` // in the order of the plan, at most 20
}

// TaskName names a task of the plan.
type TaskName struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}
