package state

// Hints are what the words of an agent's final message suggest. They are for people:
// nothing is decided by them.
type Hints struct {
	// Confidence is how sure the message sounds that everything is done, in percent.
	Confidence int      `json:"confidence"`
	Completion []string `json:"completion,omitempty"` // words such as "all tasks complete"
	NoWork     []string `json:"no_work,omitempty"`    // phrases such as "nothing to do"
	Stuck      []string `json:"stuck,omitempty"`      // words such as "unable to"
}
