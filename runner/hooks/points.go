package hooks

import (
	"fmt"
	"strings"
)

// Point names a moment of a run.
type Point string

// The points.
const (
	RunStart        Point = "run_start"
	PreIteration    Point = "pre_iteration"
	PostIteration   Point = "post_iteration"
	PreTask         Point = "pre_task"
	PostTask        Point = "post_task"
	OnError         Point = "on_error"
	OnStoryComplete Point = "on_story_complete"
	OnComplete      Point = "on_complete"
	OnHalt          Point = "on_halt"
	OnLimit         Point = "on_limit"
	PreCommit       Point = "pre_commit"
	OnQuestion      Point = "on_question"
)

// What a hook can prevent.
const (
	vetoRun    = "the run"
	vetoTask   = "the iteration: the task is put aside"
	vetoCommit = "the commit"
)

// Row is a row of the table of points.
type Row struct {
	Point Point
	When  string // the moment, in words
	Veto  string // what a hook that blocks prevents; empty: nothing, and the next prompt gets the reason
	// Turn is true if the point follows a turn: the changed files are known, and ralph
	// can tell the agent what failed.
	Turn bool
	// After reports whether a turn that has ended reaches the point. Nil: the run calls the point where its
	// moment is.
	After func(Turn) bool
	Run   bool // it is about the run as a whole: there is no task to skip
}

// Turn is what the points after a turn depend on.
type Turn struct {
	Failed  bool // the call of the agent; not because of a limit, and not by a person
	Limited bool // the agent hit its usage limit
	Asked   bool // the agent asked a question
	Done    bool // the task was done by this turn
	Aside   bool // the task was put aside
}

// After lists the points that a turn reached, in their order.
func After(t Turn) (all []Point) {
	for _, r := range Points() {
		if r.After != nil && r.After(t) {
			all = append(all, r.Point)
		}
	}
	return all
}

// Points lists all points, in the order of a run.
func Points() []Row {
	return []Row{
		{Point: RunStart, When: "a run starts or is resumed", Veto: vetoRun, Run: true},
		{Point: PreTask, When: "before the first attempt at a task", Veto: vetoTask},
		{Point: PreIteration, When: "before each iteration", Veto: vetoTask},
		{Point: PreCommit, When: "before ralph commits what the agent left uncommitted", Veto: vetoCommit, Turn: true},
		{Point: OnError, When: "an agent call failed (a failed check does not count)", Turn: true,
			After: func(t Turn) bool { return t.Failed }},
		{Point: OnLimit, When: "an agent hit its usage limit", Turn: true,
			After: func(t Turn) bool { return t.Limited }},
		{Point: OnQuestion, When: "an agent asked you something, and its task waits", Turn: true,
			After: func(t Turn) bool { return t.Asked }},
		{Point: OnStoryComplete, When: "a task is done, and no check has reopened it", Turn: true,
			After: func(t Turn) bool { return t.Done }},
		{Point: PostTask, When: "a task is done or was put aside", Turn: true,
			After: func(t Turn) bool { return t.Done || t.Aside }},
		{Point: PostIteration, When: "after each iteration", Turn: true,
			After: func(Turn) bool { return true }},
		{Point: OnComplete, When: "the run ends with exit code 0", Run: true},
		{Point: OnHalt, When: "the run ends with any other exit code", Run: true},
	}
}

// Find returns the row of a point. The error is one line for people.
func Find(name string) (Row, error) {
	var names []string
	for _, r := range Points() {
		if string(r.Point) == name {
			return r, nil
		}
		names = append(names, string(r.Point))
	}
	return Row{}, fmt.Errorf("%q is not a hook point; known: %s", name, strings.Join(names, ", "))
}

// row returns the row of a point that exists.
func (p Point) row() Row {
	r, _ := Find(string(p))
	return r
}
