package reviewers

import "ralph/runner/turn"

// Phase is one phase of a task's review: what the reviewers are asked, and what they said.
type Phase struct {
	Request Request
	Result  Result
	Known   turn.Result // what the run knew when the phase began
}

// Turn returns the phase as a turn that is over.
func (p *Phase) Turn() turn.Result { return p.Request.Result(p.Result, p.Known) }
